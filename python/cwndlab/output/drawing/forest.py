"""Draws a forest plot: one line for each effect, as a multiple of a reference at 1."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from cwndlab.output.drawing.style import WIDTHS_IN, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

ROW_IN = 0.21
FRAME_IN = 0.75
LABEL_SHARE = 0.52
LONGEST_LABEL = 62
# What lies outside is drawn as an arrow at the edge.
LOW, HIGH = -1.0, 3.0


@dataclass(frozen=True, slots=True)
class ForestRow:
    """An effect over its reference: value, 95 % interval, range of single runs; and how it is drawn."""

    label: str
    value: float
    low: float
    high: float
    least: float
    most: float
    colour: str
    marker: str


def draw_forest(rows: Sequence[ForestRow], reference: str) -> Figure:
    """Draw the rows from top to bottom. `reference` says what 1 means."""
    with style():
        height = FRAME_IN + ROW_IN * len(rows)
        figure = Figure(figsize=(WIDTHS_IN["double"], height))
        axes = figure.add_axes((LABEL_SHARE, 0.5 / height, 0.97 - LABEL_SHARE, 1 - FRAME_IN / height))
        axes.axvline(1, color="black", linewidth=1)
        axes.axvline(0, color="black", linewidth=0.5, linestyle=(0, (1.5, 2.5)))
        for line, row in enumerate(rows):
            _draw_row(axes, line, row)
        axes.set_xlim(LOW, HIGH)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        labels = [shorten(row.label, LONGEST_LABEL, placeholder=" ...") for row in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize=7.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(reference)
        return figure


def _draw_row(axes: Axes, line: int, row: ForestRow) -> None:
    for low, high, width in ((row.least, row.most, 0.6), (row.low, row.high, 2.2)):
        axes.plot(
            [_within(low), _within(high)], [line, line], color=row.colour, linestyle="-", linewidth=width
        )
    marker = ">" if row.value > HIGH else "<" if row.value < LOW else row.marker
    axes.plot(
        [_within(row.value)], [line], marker, color=row.colour, markersize=4.5, linestyle="", clip_on=False
    )


def _within(value: float) -> float:
    return min(max(value, LOW), HIGH)
