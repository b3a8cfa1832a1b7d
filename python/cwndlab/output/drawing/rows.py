"""Values of several seeds, one row for each subject. Names stand on the left, so any number of rows fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from cwndlab.output.drawing.axes import below, heading
from cwndlab.output.drawing.names import plain, wrapped
from cwndlab.output.drawing.sheet import Page, letters, sheet
from cwndlab.output.drawing.style import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.output.charts import ChartRow, RowChart
    from cwndlab.output.drawing.style import Look
    from cwndlab.results.recording import Column

ROW_IN = 0.34
REST_IN = 0.9
BOX_HEIGHT = 0.6

# With more values than this, only the box is drawn.
MOST_POINTS = 400

# The share of the width that names may take, and their most lines.
NAMES = 0.35
LINES = 2

# Multiples of the golden ratio, modulo 1, never come close to each other.
GOLDEN = 0.618033988749895


def draw_rows(chart: RowChart, page: Page) -> Figure:
    """Draw one row for each subject, with the value of every seed as a point.

    A box reaches from the lower to the upper quartile, its line is the median, and the whiskers reach the
    least and the greatest value. A row with a mean has a mark with its 95 % interval instead.
    """
    with sheet(page, REST_IN + ROW_IN * max(1, len(chart.rows))) as paper:
        [ax] = paper.axes
        series = list(dict.fromkeys(row.series for row in chart.rows))
        look = dict(zip(series, looks(len(series)), strict=True))
        for place, row in enumerate(chart.rows):
            _draw(ax, place, row, look[row.series])
        if chart.rule is not None:
            ax.axvline(chart.rule, color="0.4", linestyle=(0, (4, 3)), linewidth=0.8, zorder=0)
        room = letters(NAMES * paper.width_in, mpl.rcParams["legend.fontsize"])
        names = [wrapped(row.label, room, LINES) for row in chart.rows]
        ax.set_yticks(range(len(chart.rows)), names, fontsize=mpl.rcParams["legend.fontsize"])
        ax.set_ylim(max(1, len(chart.rows)) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        if chart.span is not None:
            ax.set_xlim(*chart.span)
        note = f"\n{chart.note}" if chart.note else ""
        # The label stands in the middle of the axis, which is on the right of the names.
        label_in = (1 - NAMES) * paper.width_in
        ax.set_xlabel(below(heading(chart.x_label, chart.unit) + note, label_in))
        if chart.rule_label:
            rule = Line2D([], [], color="0.4", linestyle=(0, (4, 3)), label=plain(chart.rule_label))
            paper.legend_below([rule])
        return paper.figure


def _draw(ax: Axes, place: int, row: ChartRow, look: Look) -> None:
    values = np.asarray(row.values, dtype=np.float64)
    if row.mean is None and row.box is not None:
        _draw_box(ax, place, row.box, look)
    if len(values) <= MOST_POINTS:
        ax.plot(
            values,
            place + _spread(len(values)),
            linestyle="none",
            marker=look.marker,
            markersize=3.5,
            color=look.colour,
            alpha=0.6 if row.mean is None else 0.35,
            markeredgewidth=0,
        )
    if row.mean is not None and row.mean.mean is not None:
        ax.errorbar(
            row.mean.mean,
            place,
            xerr=row.mean.half_width,
            color=look.colour,
            marker=look.marker,
            elinewidth=2,
            markersize=6,
        )


def _draw_box(ax: Axes, place: int, box: tuple[float, float, float, float, float], look: Look) -> None:
    low, lower, middle, upper, high = box
    ax.bxp(
        [{"med": middle, "q1": lower, "q3": upper, "whislo": low, "whishi": high}],
        positions=[place],
        widths=BOX_HEIGHT,
        orientation="horizontal",
        showfliers=False,
        manage_ticks=False,
        boxprops={"color": look.colour},
        whiskerprops={"color": look.colour},
        capprops={"color": look.colour},
        medianprops={"color": look.colour, "linewidth": 2},
    )


def _spread(count: int) -> Column:
    """Return fixed offsets that keep equal values apart."""
    if count <= 1:
        return np.zeros(count)
    return (np.arange(count, dtype=np.float64) * GOLDEN % 1 - 0.5) * BOX_HEIGHT * 0.7
