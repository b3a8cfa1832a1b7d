"""Gain against cost of several settings, with their Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from cwndlab.output.drawing.labels import label_points
from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.sheet import legend_above, legend_below, sheet
from cwndlab.output.drawing.style import Filling, Look, Width, looks
from cwndlab.statistics.numbers import counted
from cwndlab.statistics.pareto import front

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis
    from matplotlib.figure import Figure

    from cwndlab.statistics.pareto import Point

    Place = tuple[float, float]

HEIGHT_IN = 3.8
LONGEST = 24
GREY = "0.4"

# Costs that span a larger factor are drawn on a logarithmic axis.
LINEAR_SPAN = 10**1.5


def draw_pareto(
    points: Sequence[Point],
    xlabel: str,
    ylabel: str,
    title: str | None = None,
    *,
    width: Width = "double",
    styled: bool = True,
) -> Figure:
    """Draw gain over cost with 95 % intervals. A stepped line joins the points of the Pareto front.

    Colour and filling show the series, the marker shows the key; an empty key needs no legend. Points of the
    front are named where there is room. The legend counts points without values.
    """
    valued = [(point, place) for point in points if (place := _place(point)) is not None]
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        ax = figure.subplots()
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        if _is_wide([x for _, (x, _) in valued]):
            _scale_by_factors(ax.xaxis)
        series = _looks(point.series for point in points)
        markers = _looks(point.marker_key for point in points)
        for point, place in valued:
            _draw(ax, point, place, series[point.series], markers[point.marker_key].marker)
        best = front([point for point, _ in valued])
        efficient = [each for each, is_best in zip(valued, best, strict=True) if is_best]
        remarks = [*_draw_front(ax, [place for _, place in efficient]), *_missing(len(points) - len(valued))]
        legend_above(figure, ax, [_entry(key, GREY, look.marker) for key, look in markers.items() if key])
        legend_below(
            figure,
            [*(_entry(name, look.colour, "o", look.filling) for name, look in series.items()), *remarks],
            styled=styled,
        )
        names = [(shown(point.label, LONGEST), place) for point, place in efficient]
        label_points(figure, ax, names, [place for _, place in valued])
        return figure


def _place(point: Point) -> Place | None:
    if point.x.mean is None or point.y.mean is None:
        return None
    return point.x.mean, point.y.mean


def _looks(names: Iterable[str]) -> dict[str, Look]:
    """Return one look for each distinct name, in order of appearance."""
    different = list(dict.fromkeys(names))
    return dict(zip(different, looks(len(different)), strict=True))


def _is_wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > LINEAR_SPAN * min(values)


def _scale_by_factors(axis: XAxis) -> None:
    """Make the axis logarithmic with plain numbers: 20 is easier to read than 10 to the power 1.3."""
    axis.axes.set_xscale("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _draw(ax: Axes, point: Point, place: Place, series: Look, marker: Any) -> None:
    x, y = place
    half_widths: dict[str, Any] = {"xerr": point.x.half_width, "yerr": point.y.half_width}
    look = _marked(series.colour, marker, series.filling)
    ax.errorbar(x, y, **half_widths, **look, elinewidth=0.7)


def _draw_front(ax: Axes, places: Sequence[Place]) -> list[Artist]:
    if not places:
        return []
    xs, ys = zip(*sorted(places), strict=True)
    # Between two points the gain is that of the cheaper one.
    lines = ax.plot(xs, ys, drawstyle="steps-post", color=GREY, linestyle="-", linewidth=0.7, zorder=1)
    lines[0].set_label("Pareto front")
    return [*lines]


def _missing(count: int) -> list[Artist]:
    """Return a legend entry that counts the points that cannot be drawn."""
    text = f"{counted(count, 'point')} without a value"
    return [Line2D([], [], linestyle="none", label=text)] if count else []


def _marked(colour: Any, marker: Any, filling: Filling) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "color": colour,
        "marker": marker,
        "fillstyle": filling,
        "markerfacecoloralt": "white",
    }


def _entry(name: str, colour: Any, marker: Any, filling: Filling = "full") -> Artist:
    return Line2D([], [], label=shown(name), **_marked(colour, marker, filling))
