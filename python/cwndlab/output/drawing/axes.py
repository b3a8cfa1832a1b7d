"""The axes of a panel: labels, ends and scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.axis import XAxis
from matplotlib.ticker import LogLocator, NullFormatter

from cwndlab.output.drawing.names import plain, shortened, wrapped
from cwndlab.output.drawing.sheet import SIDE_IN, letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from cwndlab.output.charts import ScatterChart, TimeChart
    from cwndlab.output.charts.spans import Span

# The factor that an inch of a logarithmic axis may cover with three numbers for each power of ten.
MOST_FACTOR_PER_INCH = 6.0
# The longest line of a label.
LONGEST = 60


def heading(label: str, unit: str) -> str:
    """Return the label of an axis, with its unit."""
    return shortened(label, LONGEST) + (f" ({unit})" if unit else "")


def below(text: str, width_in: float) -> str:
    """Return a text below an axis of this width, in as many lines as it needs."""
    room = letters(width_in, mpl.rcParams["axes.labelsize"])
    return "\n".join(wrapped(line, room) for line in text.split("\n"))


def label_axes(ax: Axes, chart: TimeChart | ScatterChart, width_in: float) -> None:
    """Set the labels and the ends of the axes. Without a span, x has all data, and y begins at zero."""
    note = getattr(chart, "note", "")
    ax.set_xlabel(below(heading(chart.x_label, chart.x_unit), width_in - 1.2 * SIDE_IN))
    ax.set_ylabel(plain(heading(chart.y_label, chart.y_unit)) + (f"\n{plain(note)}" if note else ""))
    if chart.x_span is None:
        ax.margins(x=0)
    else:
        ax.set_xlim(*chart.x_span)
    if chart.y_span is None:
        least = float(ax.dataLim.ymin)
        ax.set_ylim(bottom=min(0.0, least) if math.isfinite(least) else 0.0)
    else:
        ax.set_ylim(*chart.y_span)


def scale_by_factors(axis: Axis, length_in: float, span: Span | None) -> None:
    """Make an axis logarithmic with plain numbers: 20 is easier to read than 10 to the power 1.3."""
    scales = {"xscale": "log"} if isinstance(axis, XAxis) else {"yscale": "log"}
    axis.axes.set(**scales)
    count_by_factors(axis, length_in, span or (1, 1))


def count_by_factors(axis: Axis, width_in: float, span: Span) -> None:
    """Give a logarithmic axis the ticks 1, 2 and 5; on a narrow axis over many decades, the powers of ten."""
    low, high = span
    dense = high / low <= MOST_FACTOR_PER_INCH**width_in
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if dense else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
