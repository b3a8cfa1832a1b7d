"""The style: what it sets, what it leaves to the user, and that figures are written reproducibly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.pyplot import subplots
from matplotlib.rcsetup import cycler

from cwndlab.errors import InputError
from cwndlab.output.charts import (
    Chart,
    ChartGroup,
    ChartRow,
    HeatCell,
    HeatMap,
    RowChart,
    ScatterChart,
    ScatterPoint,
    Series,
    TimeChart,
)
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.names import plain, shortened
from cwndlab.output.drawing.settings import SettingLine, SettingPoint, draw_settings
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.drawing.style import COLOURS, DASHES, looks, save, style

X = [float(index) for index in range(12)]
LINES = TimeChart("t", "time", "y", X, [Series("a", X, (X, X)), Series("b", X[::-1])])
BOX = (1.0, 1.5, 2.0, 3.0, 4.0)

# One of every kind, with two series where it has series.
CHARTS: dict[str, Chart] = {
    "lines": LINES,
    "panels": ChartGroup([LINES, LINES]),
    "box": RowChart("t", "goodput", [ChartRow(name, name, [1.0, 2.0, 4.0], BOX) for name in "ab"]),
    "pareto": ScatterChart("t", "x", "y", [ScatterPoint(name, name, 1.0, 2.0, 0.5, 1.5) for name in "ab"]),
    "heatmap": HeatMap("t", "row", "column", ["a"], ["b", "c"], [[HeatCell("3", 3.0), HeatCell("-", None)]]),
}


def drawing(chart: Chart) -> Callable[..., Figure]:
    return lambda **how: draw(chart, Page("title", **how))


KINDS: dict[str, Callable[..., Figure]] = {
    **{name: drawing(chart) for name, chart in CHARTS.items()},
    "settings": lambda **how: draw_settings(
        ["1", "2"],
        [SettingLine(name, [SettingPoint(1, 0, 2), SettingPoint(2, 1, 3)]) for name in "ab"],
        "x",
        "y",
        Page("title", **how),
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


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("page", 7.16)])
def test_widths_are_those_of_columns(kind: Callable[..., Figure], width: str, inches: float) -> None:
    assert kind(width=width).get_figwidth() == inches


def test_unknown_width_is_named(kind: Callable[..., Figure]) -> None:
    with pytest.raises(InputError, match="width 'triple': expected 'column' or 'page'"):
        kind(width="triple")


def test_without_style_the_users_own_holds(kind: Callable[..., Figure]) -> None:
    with mpl.rc_context(USERS_OWN):
        figure = kind(styled=False)
    assert tuple(figure.get_size_inches()) == (5.0, 4.0)
    assert figure.axes[0].xaxis.label.get_fontsize() == 13.0
    assert not colours(figure) & {colour.lower() for colour in COLOURS[:6]}
    assert not any(line.get_visible() for line in figure.axes[0].get_xgridlines())


def test_users_colours_are_drawn() -> None:
    for name in ("lines", "panels", "box", "pareto"):
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
    figure = draw(LINES, Page("a long title " * 20, "column"))
    figure.draw_without_rendering()
    assert figure.get_suptitle().startswith("a long title")
    [title] = [text for text in figure.texts if text.get_text() == figure.get_suptitle()]
    assert title.get_window_extent().width < figure.bbox.width


LONG = "a-name-without-spaces-of-a-scenario-" * 3


@pytest.mark.parametrize(
    "chart",
    [
        replace(LINES, x_label=LONG, series=[Series(f"{LONG}{index}", X) for index in range(9)]),
        RowChart("t", LONG, [ChartRow(f"{LONG}{x}", "s", [1.0, 2.0], BOX) for x in range(9)], note=LONG),
        ScatterChart("t", LONG, "y", [ScatterPoint(f"{LONG}{x}", f"{LONG}{x}", x, x) for x in range(9)]),
        HeatMap(
            LONG,
            "row",
            LONG,
            [f"{LONG}{index}" for index in range(4)],
            [f"{LONG}{index}" for index in range(4)],
            [[HeatCell("3.25 ± 0.25", 3.25)] * 4] * 4,
        ),
    ],
    ids=["lines", "rows", "scatter", "heat"],
)
def test_nothing_leaves_a_column(chart: Chart) -> None:
    """With long names everywhere, all that is drawn is within the figure."""
    figure = draw(chart, Page(LONG, "column"))
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()
    assert drawn.x0 >= -0.01
    assert drawn.x1 <= 3.51


def test_axes_of_the_user_are_drawn_into() -> None:
    figure, axes = subplots(2, 1)
    assert draw(ChartGroup([LINES, LINES]), Page(axes=tuple(axes))) is figure
    assert [len(ax.get_lines()) for ax in axes] == [2, 2]
    with pytest.raises(InputError, match="ax: expected 2 axes, one for each panel, found 1"):
        draw(ChartGroup([LINES, LINES]), Page(axes=(axes[0],)))
