"""Jain's index over time, over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from cwndlab.figures.names import shown
from cwndlab.figures.sheet import legend_below, sheet
from cwndlab.figures.style import Look, Width, looks
from cwndlab.summary import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.recording import Column

HEIGHT_IN = 3.0
MARKERS_PER_LINE = 6

# Of a band; where more lines than these are drawn, their bands share it.
OPACITY = 0.2
LINES_AT_FULL_OPACITY = 4


@dataclass(frozen=True, slots=True, eq=False)
class FairnessLine:
    """Jain's index at each time, one row per seed; NaN where it is undefined."""

    label: str
    time_s: Column
    jain: NDArray[float64]


def draw_fairness(
    lines: Sequence[FairnessLine], title: str | None = None, *, width: Width = "double", styled: bool = True
) -> Figure:
    """Draw the mean over the seeds, with its 95 % t interval as a band.

    A band is cut off at 0 and 1, which no index passes, and missing where fewer than two seeds have a value.
    """
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        ax = figure.subplots()
        opacity = OPACITY * min(1, LINES_AT_FULL_OPACITY / max(1, len(lines)))
        handles: list[Artist] = [
            _draw(ax, line, look, place / len(lines), opacity)
            for place, (line, look) in enumerate(zip(lines, looks(len(lines)), strict=True))
        ]
        if ax.collections:
            handles.append(Patch(color="0.5", alpha=OPACITY, linewidth=0, label="95 % interval"))
        ax.set_xlabel("time (s)")
        ax.set_ylabel("Jain's index")
        ax.set_ylim(0, 1.02)
        ax.margins(x=0)
        legend_below(figure, handles, styled=styled)
        return figure


def _draw(ax: Axes, line: FairnessLine, look: Look, offset: float, opacity: float) -> Artist:
    """`offset` sets the markers of the lines apart, in parts of their distance."""
    mean, half_width = _intervals(line)
    if np.isfinite(half_width).any():
        low, high = np.clip([mean - half_width, mean + half_width], 0, 1)
        ax.fill_between(line.time_s, low, high, color=look.colour, alpha=opacity, linewidth=0)
    distance = max(1, len(mean) // MARKERS_PER_LINE)
    [drawn] = ax.plot(
        line.time_s,
        mean,
        color=look.colour,
        linestyle=look.dash,
        marker=look.marker,
        markevery=(int(offset * distance), distance),
        label=shown(line.label) if np.isfinite(mean).any() else f"{shown(line.label)} (no values)",
    )
    return drawn


def _intervals(line: FairnessLine) -> tuple[Column, Column]:
    """The means, and the half-widths of their intervals: 0 where nothing varies, NaN below two seeds."""
    jain = np.asarray(line.jain, dtype=np.float64)
    if jain.ndim != 2 or jain.shape[1] != len(line.time_s):
        raise ValueError(f"line {line.label!r}: expected one row per seed, as long as the times")
    measures = [measure(seeds) for seeds in jain.T]
    means = [np.nan if each.mean is None else each.mean for each in measures]
    half_widths = [np.nan if each.n < 2 else each.half_width or 0.0 for each in measures]
    return np.array(means), np.array(half_widths)
