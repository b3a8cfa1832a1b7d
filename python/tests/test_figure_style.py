"""The style: what it sets, what it leaves to the user, and that figures are written reproducibly."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.rcsetup import cycler

from cwndlab.output.drawing.bands import SeedLine
from cwndlab.output.drawing.box import Sample, draw_box
from cwndlab.output.drawing.cdf import Curve, draw_cdf
from cwndlab.output.drawing.fairness import draw_fairness
from cwndlab.output.drawing.heatmap import draw_heatmap
from cwndlab.output.drawing.names import plain, shortened
from cwndlab.output.drawing.panels import LinePanel, draw_panels
from cwndlab.output.drawing.pareto import draw_pareto
from cwndlab.output.drawing.settings import SettingLine, SettingPoint, draw_settings
from cwndlab.output.drawing.style import COLOURS, DASHES, looks, save, style
from cwndlab.output.drawing.timeseries import draw_timeseries
from cwndlab.statistics.measure import Measure
from cwndlab.statistics.pareto import Point
from tests.samples import recording

VALUES = np.array([1.0, 2.0, 4.0])
TIMES = np.arange(12.0)
MEASURE = Measure(3.0, 0.5, 4)
POINTS = [Point(name, name, "1 bdp", Measure(x, 0.5, 3), MEASURE) for name, x in (("a", 1.0), ("b", 2.0))]

# One of every kind, with two series where it has series.
KINDS: dict[str, Callable[..., Figure]] = {
    "timeseries": lambda **how: draw_timeseries(recording(samples=50), "title", **how),
    "cdf": lambda **how: draw_cdf([Curve("a", VALUES), Curve("b", VALUES + 1)], "RTT (ms)", "title", **how),
    "box": lambda **how: draw_box([Sample("a", VALUES), Sample("b", VALUES)], "Mbit/s", "title", **how),
    "fairness": lambda **how: draw_fairness(
        [SeedLine(name, TIMES, np.vstack([TIMES / 20, TIMES / 30])) for name in "ab"], "title", **how
    ),
    "panels": lambda **how: draw_panels(
        [LinePanel("y", [SeedLine(name, TIMES, np.vstack([TIMES, TIMES + 1])) for name in "ab"])],
        "title",
        **how,
    ),
    "settings": lambda **how: draw_settings(
        ["1", "2"],
        [SettingLine(name, [SettingPoint(1, 0, 2), SettingPoint(2, 1, 3)]) for name in "ab"],
        "x",
        "y",
        "title",
        **how,
    ),
    "pareto": lambda **how: draw_pareto(POINTS, "RTT (ms)", "goodput (Mbit/s)", "title", **how),
    "heatmap": lambda **how: draw_heatmap(
        ["a"], ["b", "c"], [[MEASURE, Measure(None, None, 0)]], "Mbit/s", "row", "column", "title", **how
    ),
}

USERS_OWN: dict[Any, Any] = {
    "axes.prop_cycle": cycler(color=["#123456", "#654321"]),
    "figure.figsize": (5.0, 4.0),
    "font.size": 13.0,
    "axes.grid": False,
    "axes.facecolor": "yellow",
}


def colours(figure: Figure) -> set[str]:
    """Those of everything drawn as a line."""
    return {to_hex(line.get_color()) for line in figure.axes[0].findobj(Line2D) if isinstance(line, Line2D)}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Callable[..., Figure]:
    return KINDS[request.param]


def as_svg(figure: Figure) -> str:
    written = StringIO()
    with style():
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


def test_files_are_the_same_every_time(tmp_path: Path) -> None:
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        paths = save(KINDS["heatmap"](), folder, "figure")
        assert paths == [folder / f"figure.{kind}" for kind in ("png", "svg", "pdf")]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
    assert b"CreationDate" not in written[0][2]
    assert b"<dc:date>" not in written[0][1]


def test_files_are_the_same_without_style(tmp_path: Path) -> None:
    one, two = (save(KINDS["box"](styled=False), tmp_path, stem, styled=False) for stem in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_drawing_is_the_same_whatever_the_user_set(kind: Callable[..., Figure]) -> None:
    svg = as_svg(kind())
    assert ">title</text>" in svg
    with mpl.rc_context(USERS_OWN):
        assert as_svg(kind()) == svg


@pytest.mark.parametrize(("width", "inches"), [("single", 3.5), ("double", 7.16)])
def test_widths_are_those_of_columns(kind: Callable[..., Figure], width: str, inches: float) -> None:
    assert kind(width=width).get_figwidth() == inches


def test_unknown_width_is_named(kind: Callable[..., Figure]) -> None:
    with pytest.raises(ValueError, match="width 'triple': expected 'single' or 'double'"):
        kind(width="triple")


def test_without_style_the_users_own_holds(kind: Callable[..., Figure]) -> None:
    with mpl.rc_context(USERS_OWN):
        figure = kind(styled=False)
    assert tuple(figure.get_size_inches()) == (5.0, 4.0)
    assert figure.axes[0].xaxis.label.get_fontsize() == 13.0
    assert not colours(figure) & {colour.lower() for colour in COLOURS[:6]}
    assert not any(line.get_visible() for line in figure.axes[0].get_xgridlines())


def test_users_colours_are_drawn() -> None:
    for name in ("timeseries", "cdf", "box", "fairness", "pareto"):
        with mpl.rc_context(USERS_OWN):
            assert {"#123456", "#654321"} <= colours(KINDS[name](styled=False)), name


def test_drawing_changes_no_setting(kind: Callable[..., Figure]) -> None:
    with mpl.rc_context(USERS_OWN):
        before = dict(mpl.rcParams)
        kind()
        assert dict(mpl.rcParams) == before


def test_every_line_looks_different() -> None:
    with style():
        many = looks(len(COLOURS) * len(DASHES))
    assert len({(look.colour, str(look.dash)) for look in many}) == len(many)
    # The first eight even in grey.
    assert len({str(look.dash) for look in many[:8]}) == len({look.marker for look in many[:8]}) == 8
    # Points have no dashes, but a filling.
    assert len({(look.colour, look.filling) for look in many[:24]}) == 24


def test_looks_follow_the_cycle_in_force() -> None:
    with mpl.rc_context({"axes.prop_cycle": cycler(marker=["x", "+"]), "lines.color": "teal"}):
        assert [(look.colour, look.dash, look.marker) for look in looks(3)] == [
            ("teal", "-", "x"),
            ("teal", "-", "+"),
            ("teal", "-", "x"),
        ]


def test_names_are_shown_as_they_stand() -> None:
    assert plain("pays $5 of $6") == r"pays \$5 of \$6"
    assert plain("_hidden") == " _hidden"
    assert shortened("a" * 30 + "end", 11) == "aaaaa…aaend"


def test_titles_fit_the_width() -> None:
    figure = draw_cdf([Curve("a", VALUES)], "RTT (ms)", "a long title " * 20, width="single")
    figure.draw_without_rendering()
    assert figure.get_suptitle().startswith("a long title")
    [title] = [text for text in figure.texts if text.get_text() == figure.get_suptitle()]
    assert title.get_window_extent().width < figure.bbox.width
