"""Lines of means over seeds, with their 95 % intervals as bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.style import looks
from cwndlab.statistics.measure import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.output.drawing.style import Look
    from cwndlab.results.recording import Column

MARKERS_PER_LINE = 6

# The opacity of a band. With more lines than this, the bands are fainter.
OPACITY = 0.2
LINES_AT_FULL_OPACITY = 4

Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, eq=False)
class SeedLine:
    """A quantity at each time, one row per seed; NaN where it is undefined."""

    label: str
    time_s: Column
    values: NDArray[float64]


def draw_bands(
    ax: Axes, lines: Sequence[SeedLine], limits: Limits, line_looks: Sequence[Look] | None = None
) -> list[Artist]:
    """Draw each line's mean over the seeds, with its 95 % t interval as a band. Return handles for a legend.

    A band is cut at the limits of the quantity. It is missing where fewer than two seeds have a value.
    """
    opacity = OPACITY * min(1, LINES_AT_FULL_OPACITY / max(1, len(lines)))
    handles = [
        _draw(ax, line, look, limits, place / len(lines), opacity)
        for place, (line, look) in enumerate(zip(lines, line_looks or looks(len(lines)), strict=True))
    ]
    if ax.collections:
        handles.append(Patch(color="0.5", alpha=OPACITY, linewidth=0, label="95 % interval"))
    return handles


def _draw(ax: Axes, line: SeedLine, look: Look, limits: Limits, offset: float, opacity: float) -> Artist:
    """Draw one line. `offset` shifts its markers, as a share of their distance."""
    mean, half_width = _intervals(line)
    if np.isfinite(half_width).any():
        ends = np.array([mean - half_width, mean + half_width])
        low, high = ends if limits == (None, None) else np.clip(ends, *limits)
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


def _intervals(line: SeedLine) -> tuple[Column, Column]:
    """Return the means and the half-widths of their intervals: 0 if nothing varies, NaN below two seeds."""
    values = np.asarray(line.values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(line.time_s):
        raise ValueError(f"line {line.label!r}: expected one row per seed, as long as the times")
    measures = [measure(seeds) for seeds in values.T]
    means = [np.nan if each.mean is None else each.mean for each in measures]
    half_widths = [np.nan if each.n < 2 else each.half_width or 0.0 for each in measures]
    return np.array(means), np.array(half_widths)
