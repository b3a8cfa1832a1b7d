"""The figure of `cwndlab bench --curve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts import ScatterChart, ScatterPoint
from cwndlab.output.charts.spans import log_span
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.drawing.style import looks, style
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cwndlab.benchmark.curves import Curve


def figure_of(curves: Sequence[Curve]) -> Figure:
    """Draw the CPU time of each size, and the power law of each curve as a line."""
    points = [
        ScatterPoint("", _label(curve), point.size, point.cpu_s) for curve in curves for point in curve.points
    ]
    chart = ScatterChart(
        "cost of a run",
        ", ".join(curve.axis.label for curve in curves),
        "CPU time of a run",
        points,
        y_unit="s",
        x_span=log_span([point.x for point in points]),
        y_span=log_span([point.y for point in points]),
        log_x=True,
        log_y=True,
    )
    figure = draw(chart, Page())
    [ax] = figure.axes
    with style():
        for curve, look in zip(curves, looks(len(curves)), strict=True):
            ends = (curve.axis.sizes[0], curve.axis.sizes[-1])
            times = [curve.fit.factor * size ** (curve.fit.exponent.mean or 0.0) for size in ends]
            ax.plot(ends, times, color=look.colour, linestyle="-", linewidth=0.7, zorder=1)
    return figure


def _label(curve: Curve) -> str:
    return f"{curve.axis.name}: exponent {with_interval(curve.fit.exponent)}"
