"""A recording over time: the rate of a trace with its outages, or delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.drawing.sheet import Page, sheet
from cwndlab.output.drawing.style import looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

HEIGHT_IN = 2.6


def draw_replay(
    values: Sequence[float],
    window_s: float,
    mean: float,
    label: str,
    title: str,
    outages: Sequence[tuple[float, float]] = (),
) -> Figure:
    """Draw one value for each window, the mean, and the outages (begin and length in s) as grey spans."""
    with sheet(Page(title), HEIGHT_IN) as paper:
        [ax] = paper.axes
        line, average = looks(2)
        edges = np.arange(len(values) + 1) * window_s
        ax.stairs(values, edges, color=line.colour, label=f"in windows of {window_s:g} s")
        ax.axhline(mean, color=average.colour, linestyle=average.dash, label=f"mean {mean:.4g}")
        for index, (begin, length) in enumerate(outages):
            name = "outages" if index == 0 else None
            ax.axvspan(begin, begin + length, color="0.8", linewidth=0, zorder=0, label=name)
        ax.set_xlim(0, edges[-1])
        ax.set_ylim(bottom=0)
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        paper.legend_below(ax.get_legend_handles_labels()[0])
        return paper.figure
