"""Values of several seeds side by side, as boxes with every value shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.sheet import sheet
from cwndlab.output.drawing.style import Look, Width, looks
from cwndlab.output.drawing.ticks import name_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.results.recording import Column

HEIGHT_IN = 3.6
BOX_WIDTH = 0.6

# With more values than this, only the box is drawn.
MOST_POINTS = 400

# With fewer boxes than this, each would be wider than high.
LEAST_PLACES = 4

# The longest name below a box.
LONGEST = 24

# Multiples of the golden ratio, modulo 1, never come close to each other.
GOLDEN = 0.618033988749895


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The values of one quantity, one per seed. Values that are not finite are left out."""

    label: str
    values: Column


def draw_box(
    samples: Sequence[Sample],
    ylabel: str,
    title: str | None = None,
    *,
    width: Width = "double",
    styled: bool = True,
) -> Figure:
    """Draw one box for each sample, with the value of every seed as a point.

    A box reaches from the lower to the upper quartile, its line is the median, and the whiskers reach the
    least and the greatest value. A single value gets a point without a box, and very many values get a box
    without points.
    """
    finite = [_finite(sample) for sample in samples]
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        ax = figure.subplots()
        for place, (values, look) in enumerate(zip(finite, looks(len(samples)), strict=True)):
            _draw(ax, place, values, look)
        names = [
            f"{shown(sample.label, LONGEST)}\nn = {len(values)}"
            for sample, values in zip(samples, finite, strict=True)
        ]
        name_ticks(figure, ax, names)
        middle, places = (len(samples) - 1) / 2, max(len(samples), LEAST_PLACES)
        ax.set_xlim(middle - places / 2, middle + places / 2)
        ax.grid(visible=False, axis="x")
        ax.set_ylabel(ylabel)
        return figure


def _finite(sample: Sample) -> Column:
    values = np.asarray(sample.values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"sample {sample.label!r}: expected one row of values")
    return values[np.isfinite(values)]


def _draw(ax: Axes, place: int, values: Column, look: Look) -> None:
    if len(values) > 1:
        ax.boxplot(
            [values],
            positions=[place],
            widths=BOX_WIDTH,
            whis=(0, 100),
            showfliers=False,
            manage_ticks=False,
            boxprops={"color": look.colour},
            whiskerprops={"color": look.colour},
            capprops={"color": look.colour},
            medianprops={"color": look.colour, "linewidth": 2},
        )
    if len(values) > MOST_POINTS:
        return
    ax.plot(
        place + _spread(len(values)),
        values,
        linestyle="none",
        marker=look.marker,
        markersize=3.5,
        color=look.colour,
        alpha=0.6,
        markeredgewidth=0,
    )


def _spread(count: int) -> Column:
    """Return fixed sideways offsets that keep equal values apart."""
    if count == 1:
        return np.zeros(1)
    return (np.arange(count, dtype=np.float64) * GOLDEN % 1 - 0.5) * BOX_WIDTH * 0.7
