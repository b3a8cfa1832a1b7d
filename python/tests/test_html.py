"""The report: that it says what it was given, and nothing that it was not."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cwndlab.output.html import (
    Block,
    Cell,
    ChartGroup,
    ChartRow,
    Column,
    Command,
    Event,
    ForestLine,
    ForestPlot,
    HeatCell,
    HeatMap,
    Picture,
    Report,
    Row,
    RowChart,
    ScatterChart,
    ScatterPoint,
    Section,
    Series,
    Table,
    Text,
    TimeChart,
    heat,
    render,
    write,
)
from cwndlab.output.html.document import Mark
from cwndlab.statistics.measure import Measure

MARKS: tuple[Mark, ...] = (
    "good",
    "bad",
    "open",
    "reproduced",
    "supported",
    "undecided",
    "refuted",
    "unavailable",
)

SVG = """\
<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="360" height="120" viewBox="0 0 360 120">
<path d="M10 100 L80 20 L80 60 L150 15 L150 58 L220 12 L220 55 L350 10" fill="none" stroke="#0072B2"/>
<text x="12" y="16" font-size="12">window</text>
</svg>
"""

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of script": "</script><img src=x onerror=alert(1)>",
    "comment": "<!-- --> ]]> <!--<script>",
    "quotes": "\"' onclick='alert(1)' \"",
    "entities": "&amp; & &lt; &#60;script&#62;",
    "template": "{{ 7 * 7 }} {% raw %}",
    "right to left": "خوارزمية \u202e evil \u2066",
    "emoji": "👩🏽‍💻🚀\u0301",
    "long": "a-very-long-name " * 300,
    "no text": "\udcff\x00\x07\u2028",
}


def demo(name: str = "plain") -> Report:
    """Every block, with `name` in every field that a user's file may fill."""
    sections = [
        Section("Text and commands", [Text([name, "A second paragraph."]), Command(name, name)], intro=name),
        Section(f"Tables {name}", [demo_table(name), Table([Column("empty")], [])], anchor="tables"),
        Section("Over time", [demo_charts(name), time_chart(name)]),
        Section("Compared", [demo_scatter(name), demo_heat(name), demo_rows(name)]),
        Section("Pictures", [Picture(SVG, name, [f"{name}.png", "figure.svg"]), demo_forest(name)]),
    ]
    return Report(f"Demo {name}", name, sections, f"cwndlab run '{name}' --seeds 20", [(name, name)])


def demo_table(name: str) -> Table:
    columns = [
        Column(name),
        Column("goodput", "Mbit/s", numeric=True),
        Column("verdict"),
        Column("command", code=True),
    ]
    rows = [
        Row([Cell(f"{name}-{index}", hint=name), number, Cell(mark, mark=mark), Cell(name)], f"row-{index}")
        for index, (number, mark) in enumerate(zip(demo_numbers(name), MARKS, strict=True))
    ]
    return Table(columns, rows, name, name)


def demo_forest(name: str) -> ForestPlot:
    lines = [
        ForestLine(name, 0.9, (0.7, 1.1), (0.2, 1.4), "0.9 [0.7, 1.1] ms", "1 ms", "supported", "#row-1"),
        ForestLine("far away", 9.0, (-5.0, 12.0), (-8.0, 20.0), name, name, "refuted"),
    ]
    return ForestPlot(lines, (-1, 0, 1, 2, 3), ("ours / the paper's", "ours", "paper"), name)


def demo_numbers(name: str) -> list[Cell]:
    shown = [Cell(f"{value:.2f} ± 0.10", value, href="#tables") for value in (48.9, 7.25, 120.0, 0.03, 9.0)]
    return [*shown, Cell("-"), Cell("-", math.nan), Cell(name, 11.0, href=f"{name}.json")]


def time_chart(
    name: str, title: str = "window", unit: str = "segments", marks: tuple[Event, ...] = ()
) -> TimeChart:
    x = [index * 0.05 for index in range(400)]
    saw = [100 + 40 * (time % 5) for time in x]
    missing = [None if 80 < index < 140 else 90 + 30 * math.sin(time) for index, time in enumerate(x)]
    band = (
        [None if time > 15 else value - 12 for time, value in zip(x, saw, strict=True)],
        [value + 12 for value in saw],
    )
    series = [Series(name, saw, band), Series("cubic", missing), Series("nothing", [math.nan] * len(x))]
    return TimeChart(f"{title} {name}", "time", title, x, series, marks, "s", unit)


def demo_charts(name: str) -> ChartGroup:
    events = (Event(5.0, name), Event(12.5, "rate 50 Mbit/s"))
    return ChartGroup([time_chart(name, marks=events), time_chart(name, "RTT", "ms")])


def demo_scatter(name: str) -> ScatterChart:
    points = [
        ScatterPoint(
            label=f"{name} {index}",
            series=(name, "cubic", "bbr3")[index % 3],
            x=20 + 9.5 * index,
            y=middle,
            x_low=18 + 9.5 * index,
            x_high=23 + 9.5 * index,
            y_low=middle - 2,
            y_high=middle + 3,
            href=f"#row-{index}",
            hint=name,
            front=index in (0, 1, 3, 6),
        )
        for index, middle in enumerate((40.0, 61, 55, 70, 48, 66, 88, 85))
    ]
    nowhere = ScatterPoint("without a value", "cubic", None, math.inf)
    return ScatterChart(f"Goodput {name}", "RTT", "goodput", [*points, nowhere], "ms", "Mbit/s")


def demo_heat(name: str) -> HeatMap:
    values: list[list[float | None]] = [[1.0, 2.5, None], [math.nan, 10.0, 7.0]]
    cells = [
        [HeatCell("-" if value is None else str(value), value, "#row-1", name) for value in row]
        for row in values
    ]
    return HeatMap(f"Goodput {name}", name, "queue", ["cubic", name], ["0.5 bdp", "1 bdp", name], cells, name)


def demo_rows(name: str) -> RowChart:
    rows = [
        ChartRow(name, name, [1.0, 2.0, 4.0], (1.0, 1.5, 2.0, 3.0, 4.0)),
        ChartRow("mean", "mean", [2.0, 3.0], mean=Measure(2.5, 0.5, 2)),
    ]
    return RowChart(f"Rows {name}", name, rows, "Mbit/s", (0.0, 5.0), 3.0, name, name)


class Skeleton(HTMLParser):
    """The elements of a page with the names of their attributes, its texts and its comments."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(key for key, _ in attrs)))
        self.attributes += [(tag, key, value or "") for key, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def values(self, *keys: str) -> list[str]:
        return [value for _, key, value in self.attributes if key in keys]


def chart_data(page: str) -> list[dict[str, Any]]:
    """The data as the script in the page reads it."""
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return [json.loads(text) for text in found]


def only(block: Block) -> Report:
    return Report("one block", "", [Section("only", [block])], "true", [])


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_names_add_no_markup(name: str) -> None:
    plain, hostile = Skeleton(render(demo("plain"))), Skeleton(render(demo(name)))
    assert hostile.elements == plain.elements
    assert len(hostile.comments) == len(plain.comments)


@pytest.mark.parametrize("key", ["script", "quotes", "entities", "template", "right to left", "emoji"])
def test_names_are_shown_as_they_are(key: str) -> None:
    name = HOSTILE[key]
    skeleton = Skeleton(render(demo(name)))
    assert f"Tables {name}" in skeleton.texts
    assert name in skeleton.values("title")
    assert f"Demo {name}" in skeleton.texts


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_names_reach_the_charts(name: str) -> None:
    first = chart_data(render(demo(name)))[0]
    shown = name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    assert first["series"][0]["label"] == shown
    assert first["events"][0]["label"] == shown


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", " JavaScript:alert(1)", "//elsewhere.example/x", "data:text/html,x"]
)
def test_links_run_and_load_nothing(href: str) -> None:
    page = render(only(Table([Column("file")], [Row([Cell("file", href=href)])])))
    assert re.search(r'<td[^>]*>.*?<a href="(\./)?[^":]*"', page) or re.search(
        r'<th[^>]*>.*?<a href="\./[^":]*"', page
    )


def test_nothing_is_loaded() -> None:
    page = render(demo())
    skeleton = Skeleton(page)
    assert not [tag for tag, _ in skeleton.elements if tag in ("link", "iframe", "object", "embed", "base")]
    sources = skeleton.values("src", "srcset", "data", "poster", "background", "action")
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert not re.search(r"@import|url\(", "".join([*styles, *skeleton.values("style")]))
    policy = next(value for value in skeleton.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_files_beside_the_report_are_linked() -> None:
    links = Skeleton(render(only(Picture(SVG, "figure", ["100% #1 a:b.png"])))).values("href")
    assert "./100%25%20%231%20a%3Ab.png" in links


def test_licence_of_the_charts_is_there() -> None:
    comments = " ".join(Skeleton(render(demo())).comments)
    assert "The MIT License (MIT)" in comments
    assert "Copyright (c) 2022 Leon Sorokin" in comments


def test_script_does_not_end_early() -> None:
    page = render(demo())
    assert page.count("<script") == page.count("</script>") == 1 + len(chart_data(page))
    assert page.rstrip().endswith("</script>\n</body>\n</html>")


def test_same_report_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write(demo(HOSTILE["no text"]), path)
    assert path.read_bytes() == render(demo(HOSTILE["no text"])).encode()


def test_time_chart_data() -> None:
    series = [
        Series("a", [1.23456789, None, math.nan], ([0.5, 1, 2], [1e-7, math.inf, 3])),
        Series("b", [5, 6, 7]),
        Series("a", [1, 2, 3]),
    ]
    chart = TimeChart(
        "title", "time", "goodput", [0.0, 0.1 + 0.2, 1e6], series, [Event(math.nan, "never")], "s", "Mbit/s"
    )
    assert chart_data(render(only(chart))) == [
        {
            "xLabel": "time",
            "xUnit": "s",
            "yLabel": "goodput",
            "yUnit": "Mbit/s",
            "x": [0, 0.3, 1000000],
            "series": [
                {
                    "label": "a",
                    "look": 0,
                    "values": [1.23457, None, None],
                    "low": [0.5, 1, 2],
                    "high": [1e-7, None, 3],
                },
                {"label": "b", "look": 1, "values": [5, 6, 7]},
                {"label": "a", "look": 0, "values": [1, 2, 3]},
            ],
            "events": [],
        }
    ]


def test_what_events_mean_is_told_only_if_there_are_any() -> None:
    chart = TimeChart("one", "x", "y", [0.0], [Series("a", [1])], event_label="timeout")
    [without] = chart_data(render(only(chart)))
    [with_one] = chart_data(render(only(replace(chart, events=[Event(0.0, "timeout of a")]))))
    assert "eventLabel" not in without
    assert with_one["eventLabel"] == "timeout"


def test_equal_labels_look_the_same_in_a_group() -> None:
    charts = [
        TimeChart("one", "x", "y", [0.0], [Series("a", [1]), Series("b", [2])]),
        TimeChart("two", "x", "y", [0.0], [Series("c", [1]), Series("b", [2])]),
    ]
    data = chart_data(render(only(ChartGroup(charts))))
    assert [[series["look"] for series in chart["series"]] for chart in data] == [[0, 1], [2, 1]]


def test_scatter_chart_data() -> None:
    points = [
        ScatterPoint("p", "cubic", 1.0, 2.0, x_low=0.5, x_high=1.5, href="file #1", hint="h", front=True),
        ScatterPoint("q", "reno", math.nan, 1.0),
        ScatterPoint("r", "reno", 3.0, 4.0, marker_key="1 bdp"),
    ]
    page = render(only(ScatterChart("title", "RTT", "goodput", points)))
    data = chart_data(page)[0]
    assert data["series"] == [{"label": "cubic", "look": 0}, {"label": "reno", "look": 1}]
    assert data["keys"] == [{"label": "1 bdp", "sign": 1}]
    assert data["points"] == [
        {
            "label": "p",
            "look": 0,
            "sign": 0,
            "x": 1,
            "y": 2,
            "xLow": 0.5,
            "xHigh": 1.5,
            "href": "./file%20%231",
            "hint": "h",
            "front": True,
        },
        {"label": "r", "look": 1, "sign": 1, "x": 3, "y": 4},
    ]
    assert "1 of 3 points lack a value" in page


@pytest.mark.parametrize(("second", "is_joined"), [((2.0, 1.0), False), ((3.0, 4.0), True)])
def test_a_line_is_explained_only_where_one_is_drawn(second: tuple[float, float], is_joined: bool) -> None:
    points = [
        ScatterPoint("p", "cubic", 1.0, 2.0, front=True),
        ScatterPoint("q", "reno", *second, front=is_joined),
    ]
    page = render(only(ScatterChart("title", "RTT", "goodput", points)))
    assert ("The stepped line joins" in page) is is_joined


def test_charts_are_told_in_words() -> None:
    spoken = Skeleton(render(demo())).values("aria-label")
    assert (
        "window plain. window over time from 0 to 19.95 s; plain: 100 to 298 segments; "
        "cubic: 60 to 120 segments; nothing: no values." in spoken
    )


def test_a_value_in_a_chart_costs_few_bytes() -> None:
    def size(points: int, lines: int) -> int:
        x = [0.01 * index for index in range(points)]
        series = [Series(f"s{line}", [math.sin(line + time) / 3 for time in x]) for line in range(lines)]
        return len(render(only(TimeChart("big", "x", "y", x, series))))

    # Six digits, sign, point and comma.
    assert size(5000, 8) - size(0, 8) < 11 * 5000 * 9


def test_order_of_cells() -> None:
    cells = [Cell("1 bdp", 1.0), Cell("-", math.nan), Cell("x", "y"), Cell("none")]
    page = render(only(Table([Column("size", numeric=True)], [Row([cell]) for cell in cells])))
    assert re.findall(r'<td class="number"( data-sort="[^"]*")?>', page) == [
        ' data-sort="1.0"',
        "",
        ' data-sort="y"',
        "",
    ]


def test_contents_only_when_there_is_much() -> None:
    def page(sections: int) -> str:
        return render(Report("t", "", [Section(f"s{n}", []) for n in range(sections)], "true", []))

    assert "<nav" not in page(3)
    assert page(4).count("<li>") == 4


def test_headings_are_in_order() -> None:
    levels = [int(tag[1]) for tag, _ in Skeleton(render(demo())).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}


def test_heat_map_is_readable() -> None:
    for step in range(101):
        background = heat.colour(step / 100)
        assert heat.contrast(heat.text_colour(background), background) >= 4.5
    assert heat.css(heat.colour(0)) == "#440154"
    assert heat.css(heat.colour(1)) == "#fde725"


@pytest.mark.parametrize(("more_is_better", "darkest"), [(True, "9"), (False, "1")])
def test_the_best_cell_of_a_heat_map_is_the_darkest(more_is_better: bool, darkest: str) -> None:
    cells = [[HeatCell("1", 1.0), HeatCell("9", 9.0)]]
    page = render(only(HeatMap("t", "r", "c", ["a"], ["b", "c"], cells, "ms", more_is_better)))
    assert re.findall(r'background:#440154;color:#ffffff">(\d)</td>', page) == [darkest]
    assert "darker is better" in page


def test_heat_map_of_equal_or_no_values() -> None:
    same = HeatMap("t", "r", "c", ["a"], ["b", "c"], [[HeatCell("1", 1.0), HeatCell("1", 1.0)]])
    none = HeatMap("t", "r", "c", ["a"], ["b"], [[HeatCell("-", None)]])
    assert render(only(same)).count("background:#21918c") == 2
    assert 'class="missing"' in render(only(none))


@pytest.mark.parametrize(
    ("sections", "complaint"),
    [
        ([Section("a", [], anchor="x"), Section("b", [], anchor="x")], "found it 2 times"),
        ([Section("a", [], anchor="a b")], "expected a letter"),
        ([Section("a", [Table([Column("c")], [Row([Cell("c", href="#gone")])])])], "nothing has this anchor"),
    ],
)
def test_anchors_are_checked(sections: list[Section], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        render(Report("t", "", sections, "true", []))


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="needs 2 cells"):
        Table([Column("a"), Column("b")], [Row([Cell("1")])])
    with pytest.raises(ValueError, match="needs 2 values"):
        TimeChart("t", "x", "y", [0.0, 1.0], [Series("a", [1.0])])
    with pytest.raises(ValueError, match="needs 2 values"):
        TimeChart("t", "x", "y", [0.0, 1.0], [Series("a", [1.0, 2.0], ([1.0], [1.0, 2.0]))])
    with pytest.raises(ValueError, match="ascending"):
        TimeChart("t", "x", "y", [1.0, 0.0], [])
    with pytest.raises(ValueError, match="1 rows of 2"):
        HeatMap("t", "r", "c", ["a"], ["b", "c"], [[HeatCell("1", 1.0)]])


def test_a_forest_plot_shows_each_effect_at_its_place() -> None:
    page = render(demo("an effect"))
    assert '<a href="#row-1">an effect</a>' in page
    near, far = page.split('<div class="effect">')[1:3]
    # The axis goes from -1 to 3: 0.9 stands at 1.9 of its 4 units, what lies beyond at its ends.
    assert 'class="interval" x1="42.50%" x2="52.50%"' in near
    assert '<svg x="47.50%"' in near
    assert 'class="runs" x1="0.00%" x2="100.00%"' in far
    assert "0.9 [0.7, 1.1] ms" in near
    # An interval that goes on beyond the axis has a sign there.
    assert ('class="cut"' in near, far.count('class="cut"')) == (False, 2)
