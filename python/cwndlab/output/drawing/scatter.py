"""Gain against cost of several settings, with their Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from cwndlab.output.drawing.axes import label_axes, scale_by_factors
from cwndlab.output.drawing.labels import label_points
from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.sheet import Page, sheet
from cwndlab.output.drawing.style import Filling, Look, looks
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.output.charts import ScatterChart, ScatterPoint

    Place = tuple[float, float]

HEIGHT_IN = 3.2
LONGEST = 24
GREY = "0.4"


def draw_scatter(chart: ScatterChart, page: Page) -> Figure:
    """Draw gain over cost with 95 % intervals. A stepped line joins the points of the Pareto front.

    Colour and filling show the series, the marker shows the key; an empty key needs no legend. Points of the
    front are named where there is room. The legend counts points without values.
    """
    valued = [(point, place) for point in chart.points if (place := _place(point)) is not None]
    with sheet(page, HEIGHT_IN) as paper:
        [ax] = paper.axes
        if chart.log_x:
            scale_by_factors(ax.xaxis, paper.width_in, chart.x_span)
        if chart.log_y:
            scale_by_factors(ax.yaxis, HEIGHT_IN, chart.y_span)
        series = _looks(point.series for point in chart.points)
        markers = _looks(point.marker_key for point in chart.points)
        for point, place in valued:
            _draw(ax, point, place, series[point.series], markers[point.marker_key].marker)
        efficient = [(point, place) for point, place in valued if point.front]
        remarks = [
            *_draw_front(ax, [place for _, place in efficient]),
            *_missing(len(chart.points) - len(valued)),
        ]
        label_axes(ax, chart, paper.width_in)
        keys = [_entry(key, GREY, look.marker) for key, look in markers.items() if key]
        names = [_entry(name, look.colour, "o", look.filling) for name, look in series.items()]
        paper.legend_below([*names, *keys, *remarks])
        named = [(shown(point.label, LONGEST), place) for point, place in efficient]
        label_points(paper.figure, ax, named, [place for _, place in valued])
        return paper.figure


def _place(point: ScatterPoint) -> Place | None:
    if point.x is None or point.y is None:
        return None
    return point.x, point.y


def _looks(names: Iterable[str]) -> dict[str, Look]:
    """Return one look for each distinct name, in order of appearance."""
    different = list(dict.fromkeys(names))
    return dict(zip(different, looks(len(different)), strict=True))


def _draw(ax: Axes, point: ScatterPoint, place: Place, series: Look, marker: Any) -> None:
    x, y = place
    errors = {"xerr": _error(x, point.x_low, point.x_high), "yerr": _error(y, point.y_low, point.y_high)}
    ax.errorbar(x, y, **errors, **_marked(series.colour, marker, series.filling), elinewidth=0.7)


def _error(middle: float, low: float | None, high: float | None) -> Any:
    """Return the distances to both ends of an interval, if there is one."""
    return None if low is None or high is None else [[middle - low], [high - middle]]


def _draw_front(ax: Axes, places: Sequence[Place]) -> list[Artist]:
    if len(set(places)) < 2:
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
