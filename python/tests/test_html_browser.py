"""The report in a browser: charts are drawn and answer the mouse and the keys, tables sort, it prints."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cwndlab.output.html import (
    Cell,
    Column,
    HeatCell,
    HeatMap,
    Report,
    Row,
    ScatterChart,
    ScatterPoint,
    Section,
    Table,
    Text,
    write,
)
from cwndlab.output.kinds import kind_of
from tests.samples import flow, link, outcome, result
from tests.test_html import HOSTILE, demo

DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(not (DRIVER and BROWSER), reason="needs chromium and its chromedriver")

STARTUP_S = 30
WAIT_S = 10

ENTER, ESCAPE, LEFT, RIGHT = "\ue007", "\ue00c", "\ue012", "\ue014"

# What W3C WebDriver calls an element in its answers.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


@dataclass(frozen=True)
class Page:
    """A page in a browser that chromedriver steers, by W3C WebDriver's commands."""

    session: str

    def script(self, body: str, *arguments: Any) -> Any:
        return call("POST", f"{self.session}/execute/sync", {"script": body, "args": arguments})

    def find(self, selector: str, number: int = 0) -> dict[str, str]:
        found = call("POST", f"{self.session}/elements", {"using": "css selector", "value": selector})
        element: dict[str, str] = found[number]
        return element

    def click(self, selector: str, number: int = 0) -> None:
        call("POST", f"{self.session}/element/{self.find(selector, number)[ELEMENT]}/click", {})

    def press(self, selector: str, keys: str, number: int = 0) -> None:
        element = self.find(selector, number)[ELEMENT]
        call("POST", f"{self.session}/element/{element}/value", {"text": keys})

    def mouse(self, selector: str, number: int, *steps: tuple[float, float] | str) -> None:
        """Move to places (shares of width and height, 0 to 1), `down` and `up`."""
        element = self.find(selector, number)
        box = self.script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'});"
            "const { left, top, width, height } = arguments[0].getBoundingClientRect();"
            "return [left, top, width, height]",
            element,
        )
        left, top, width, height = box
        actions = [
            {"type": f"pointer{step.capitalize()}", "button": 0}
            if isinstance(step, str)
            else {
                "type": "pointerMove",
                "duration": 20,
                "x": round(left + step[0] * width),
                "y": round(top + step[1] * height),
            }
            for step in steps
        ]
        pointer = {"type": "pointer", "id": "mouse", "actions": actions}
        call("POST", f"{self.session}/actions", {"actions": [pointer]})

    def complaints(self) -> list[dict[str, Any]]:
        logged: list[dict[str, Any]] = call("POST", f"{self.session}/se/log", {"type": "browser"})
        return logged

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.script(
            "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)",
            selector,
        )
        return found


def call(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        pytest.fail(f"{url}: {json.load(error)['value']['message']}")


def until(condition: Callable[[], Any], seconds: float = WAIT_S) -> Any:
    """The first true answer."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a chromedriver; it chooses its port itself."""
    log = tmp_path_factory.mktemp("driver") / "log"
    with log.open("w") as output:
        process = subprocess.Popen([str(DRIVER), "--port=0"], stdout=output, stderr=output)
    try:
        started = until(lambda: re.search(r"on port (\d+)\.\s", log.read_text()), STARTUP_S)
        yield f"http://127.0.0.1:{started[1]}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def browser(driver: str) -> Iterator[str]:
    """A session of a headless browser."""
    # Scrolling that takes its time would move what is to be clicked.
    arguments = [
        "--headless=new",
        "--disable-gpu",
        "--window-size=1280,900",
        "--force-prefers-reduced-motion",
    ]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    wanted = {
        "browserName": "chrome",
        "goog:chromeOptions": {"binary": BROWSER, "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
    }
    session = call("POST", f"{driver}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
    yield f"{driver}/session/{session}"
    call("DELETE", f"{driver}/session/{session}")


@pytest.fixture
def page(browser: str, tmp_path: Path) -> Page:
    """The demo, freshly loaded."""
    return opened(browser, tmp_path, "plain")


def opened(browser: str, folder: Path, name: str) -> Page:
    return shown(browser, folder, demo(name))


def shown(browser: str, folder: Path, report: Report) -> Page:
    path = folder / "report.html"
    write(report, path)
    call("POST", f"{browser}/url", {"url": path.as_uri()})
    return Page(browser)


def column(page: Page, number: int) -> list[str]:
    return page.texts(f"table.sortable tbody tr > :nth-child({number})")


@pytest.mark.parametrize("name", ["plain", *HOSTILE.values()], ids=["plain", *HOSTILE])
def test_every_chart_is_drawn_without_complaint(browser: str, tmp_path: Path, name: str) -> None:
    page = opened(browser, tmp_path, name)
    assert page.script("return document.querySelectorAll('.plot canvas').length") == 4
    assert page.complaints() == []


def test_nothing_is_asked_of_the_network(page: Page) -> None:
    loaded = page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in loaded if not name.startswith("data:")] == []


def test_a_script_that_is_not_ours_does_not_run(page: Page) -> None:
    page.script(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true';"
        "document.body.append(script)"
    )
    assert page.script("return window.ran === undefined")


def test_a_click_on_a_heading_sorts(page: Page) -> None:
    original = column(page, 2)
    page.click("table.sortable thead button", 1)
    assert column(page, 2) == [
        "0.03 ± 0.10",
        "7.25 ± 0.10",
        "9.00 ± 0.10",
        "plain",
        "48.90 ± 0.10",
        "120.00 ± 0.10",
        "-",
        "-",
    ]
    assert page.script("return document.querySelectorAll('th')[1].ariaSort") == "ascending"
    page.press("table.sortable thead button", ENTER, 1)
    assert column(page, 2)[0] == "120.00 ± 0.10"
    assert column(page, 2)[-2:] == ["-", "-"]
    page.click("table.sortable thead button", 1)
    assert column(page, 2) == original


def test_hover_tells_all_values_in_all_charts_of_the_group(page: Page) -> None:
    page.mouse(".u-over", 0, (0.2506, 0.5))
    values = page.texts(".value")
    assert re.fullmatch(r"[\d.]+ segments \([\d.]+ to [\d.]+\)", values[0])
    assert values[1] == "–"
    assert re.fullmatch(r"[\d.]+ ms \([\d.]+ to [\d.]+\)", values[3])
    positions = page.texts(".position")
    assert positions == ["5 s · plain", "5 s", ""]


def drawn(page: Page) -> list[str]:
    """What the charts show, as pictures."""
    pictures: list[str] = page.script(
        "return [...document.querySelectorAll('.plot canvas')].map((canvas) => canvas.toDataURL())"
    )
    return pictures


def test_drag_zooms_the_group_and_double_click_resets(page: Page) -> None:
    before = drawn(page)
    page.mouse(".u-over", 0, (0.2, 0.5), "down", (0.4, 0.5), "up", (0.5, 0.5))
    zoomed = drawn(page)
    assert zoomed[0] != before[0]
    assert zoomed[1] != before[1]
    assert zoomed[2:] == before[2:]
    page.mouse(".u-over", 1, (0.5, 0.5), "down", "up", "down", "up")
    assert drawn(page) == before


def test_keys_zoom_and_move(page: Page) -> None:
    before = drawn(page)
    page.press(".plot", f"{RIGHT}{RIGHT}{LEFT}")
    assert page.texts(".position")[0].startswith("0.1 s")
    page.press(".plot", "+")
    assert drawn(page)[1] != before[1]
    page.press(".plot", ESCAPE)
    assert drawn(page) == before


def test_a_name_in_the_legend_hides_its_line(page: Page) -> None:
    before = drawn(page)
    page.click(".entry", 1)
    hidden = drawn(page)
    assert hidden[0] != before[0]
    assert hidden[1] != before[1]
    page.click(".entry", 4)
    assert drawn(page) == before


def test_a_point_leads_to_its_row(page: Page) -> None:
    page.press(".plot", f"{RIGHT}{RIGHT}", 3)
    assert page.texts(".tip strong") == ["plain 1"]
    assert "goodput: 61 Mbit/s (59 to 64)" in page.texts(".tip span")
    page.press(".plot", ENTER, 3)
    assert page.script("return location.hash") == "#row-1"


def test_points_answer_the_mouse(page: Page) -> None:
    page.press(".plot", RIGHT, 3)
    left, top = page.script(
        "const box = document.querySelectorAll('.u-over')[3].getBoundingClientRect();"
        "const tip = document.querySelector('.tip').style;"
        "return [(parseFloat(tip.left) - 12) / box.width, 1 - (parseFloat(tip.bottom) - 8) / box.height]"
    )
    page.mouse(".u-over", 3, (0.99, 0.01))
    assert page.script("return document.querySelector('.tip').hidden")
    page.mouse(".u-over", 3, (left, top), "down", "up")
    assert page.texts(".tip strong") == ["plain 0"]
    assert page.script("return location.hash") == "#row-0"


@pytest.mark.parametrize("name", ["plain", HOSTILE["long"]], ids=["plain", "long"])
def test_charts_and_tables_follow_the_window(browser: str, tmp_path: Path, name: str) -> None:
    page = opened(browser, tmp_path, name)
    call("POST", f"{page.session}/window/rect", {"width": 520, "height": 900})
    try:
        until(lambda: page.script("return document.querySelector('.plot canvas').clientWidth < 520"))
        assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    finally:
        call("POST", f"{page.session}/window/rect", {"width": 1280, "height": 900})


def test_it_prints(page: Page) -> None:
    printed = base64.b64decode(call("POST", f"{page.session}/print", {}))
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_what_is_folded_stays_folded_on_paper(browser: str, tmp_path: Path) -> None:
    """The evidence of a paper fills forty pages."""
    evidence = Section("evidence", [Text([f"Line {number}."]) for number in range(400)], folded=True)
    page = shown(browser, tmp_path, Report("papers", "", [Section("answer", []), evidence], "true", []))

    def sheets() -> int:
        printed = base64.b64decode(call("POST", f"{page.session}/print", {}))
        return len(re.findall(rb"/Type\s*/Page\b", printed))

    assert sheets() == 1
    page.script("document.querySelector('details').open = true")
    assert sheets() > 5


def test_a_wide_table_fits_on_paper(browser: str, tmp_path: Path) -> None:
    columns = [Column(f"measure {number}", "ms", numeric=True) for number in range(30)]
    table = Table(columns, [Row([Cell("123.45 ± 0.12", 123.45) for _ in columns])])
    page = shown(browser, tmp_path, Report("wide", "", [Section("wide", [table])], "true", []))
    width = "return document.querySelector('table').getBoundingClientRect().width"
    page.script("document.querySelector('.scroll').style.width = '680px'")
    before = page.script(width)
    page.script("dispatchEvent(new Event('beforeprint'))")
    assert page.script(width) <= 681
    page.script("dispatchEvent(new Event('afterprint'))")
    assert page.script(width) == before > 1000


def test_charts_are_white_on_paper_and_dark_at_night(page: Page) -> None:
    pixel = "return document.querySelector('.plot canvas').getContext('2d').getImageData(1, 1, 1, 1).data[0]"
    assert page.script(pixel) == 255
    try:
        prefer(page, "dark")
        until(lambda: page.script(pixel) < 50)
        page.script("dispatchEvent(new Event('beforeprint'))")
        assert page.script(pixel) == 255
    finally:
        prefer(page, "")


def prefer(page: Page, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    command = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
    call("POST", f"{page.session}/goog/cdp/execute", command)


def test_pictures_are_dark_at_night_and_white_on_paper(page: Page) -> None:
    look = "return getComputedStyle(document.querySelector('.picture img')).filter"
    assert page.script(look) == "none"
    try:
        prefer(page, "dark")
        until(lambda: "invert" in page.script(look))
        page.script("dispatchEvent(new Event('beforeprint'))")
        assert page.script(look) == "none"
    finally:
        prefer(page, "")


@contextmanager
def on_a_phone(page: Page) -> Iterator[None]:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics}
    call("POST", f"{page.session}/goog/cdp/execute", command)
    try:
        yield
    finally:
        call(
            "POST",
            f"{page.session}/goog/cdp/execute",
            {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}},
        )


def test_the_search_field_hides_the_rows_without_its_words(browser: str, tmp_path: Path) -> None:
    rows = [Row([Cell("one"), Cell("a run of CUBIC")]), Row([Cell("two"), Cell("a sweep of cubic")])]
    table = Table([Column("name"), Column("kind")], rows, searchable=True)
    page = shown(browser, tmp_path, Report("list", "", [Section("all", [table])], "", []))
    assert page.script("return document.querySelector('.command') === null")

    def visible() -> list[str]:
        return page.texts("tbody tr:not([hidden]) th")

    page.press("input.search", "cubic swEEp")
    assert visible() == ["two"]
    assert page.script("return document.querySelector('.no-match').hidden")
    page.press("input.search", "s")
    assert visible() == []
    assert not page.script("return document.querySelector('.no-match').hidden")
    page.script(
        "const field = document.querySelector('input.search'); field.value = '';"
        "field.dispatchEvent(new Event('input'))"
    )
    assert visible() == ["one", "two"]


def test_a_forest_plot_is_text_that_can_be_read_on_a_phone(page: Page) -> None:
    with on_a_phone(page):
        sizes = page.script(
            "return [...document.querySelectorAll('.effect:not(.head) :is(.label, .ours, .theirs)')].map("
            "(text) => [parseFloat(getComputedStyle(text).fontSize), text.getBoundingClientRect().right])"
        )
        assert sizes
        assert all(size >= 12 and right <= 390 for size, right in sizes)


def test_every_measure_of_a_table_is_on_the_screen_of_a_phone(browser: str, tmp_path: Path) -> None:
    made = result([outcome([flow("a", 1), flow("b", 2)], [link("a link with a long name")])] * 3)
    page = shown(browser, tmp_path, kind_of(made).report(made))
    with on_a_phone(page):
        edges = page.script(
            "return [...document.querySelectorAll('.stacked td.number')].map("
            "(cell) => [cell.getBoundingClientRect().right, cell.dataset.title])"
        )
    assert "queue delay (ms)" in [title for _, title in edges]
    assert all(right <= 390 for right, _ in edges)


def test_every_column_of_a_heat_map_is_on_the_screen_of_a_phone(browser: str, tmp_path: Path) -> None:
    names = [f"{size} kB" for size in range(10, 22)]
    cells = [[HeatCell("123.45 ± 0.12", 1.0 + place) for place in range(12)]] * 2
    heat = HeatMap("goodput", "cc", "queue", ["cubic", "reno"], names, cells, "Mbit/s", True)
    page = shown(browser, tmp_path, Report("heat", "", [Section("heat", [heat])], "true", []))
    with on_a_phone(page):
        edges = page.script(
            "return [...document.querySelectorAll('.heat td')].map("
            "(cell) => [cell.getBoundingClientRect().right, cell.dataset.title])"
        )
    assert len(edges) == 24
    assert all(right <= 390 for right, _ in edges)
    assert [title for _, title in edges] == names * 2


def test_a_logarithmic_axis_is_drawn_with_its_ticks(browser: str, tmp_path: Path) -> None:
    points = [ScatterPoint(f"p{x}", "cubic", x, 90.0, front=True, marker_key="1 bdp") for x in (1.0, 1000.0)]
    chart = ScatterChart("t", "delay", "goodput", points, "ms", "Mbit/s", (0.5, 2000.0), (85.0, 95.0), True)
    page = shown(browser, tmp_path, Report("log", "", [Section("log", [chart])], "true", []))
    ticks, low, high, bottom, top = page.script(
        "const { axes, scales } = charts[0].plot;"
        "return [axes[0]._values, scales.x.min, scales.x.max, scales.y.min, scales.y.max]"
    )
    assert ticks[:4] == ["0.5", "1", "2", "5"]
    assert ticks[-1] == "2,000"
    assert (low, high, bottom, top) == (0.5, 2000, 85, 95)
    assert page.texts(".legend .label") == ["cubic", "1 bdp"]
