"""Jain's index over time, as a mean over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.drawing.bands import draw_bands
from cwndlab.output.drawing.sheet import legend_below, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from cwndlab.output.drawing.bands import SeedLine
    from cwndlab.output.drawing.style import Width

HEIGHT_IN = 3.0


def draw_fairness(
    lines: Sequence[SeedLine], title: str | None = None, *, width: Width = "double", styled: bool = True
) -> Figure:
    """Draw the mean over the seeds, with its 95 % t interval as a band that ends at 0 and 1."""
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        ax = figure.subplots()
        handles = draw_bands(ax, lines, (0, 1))
        ax.set_xlabel("time (s)")
        ax.set_ylabel("Jain's index")
        ax.set_ylim(0, 1.02)
        ax.margins(x=0)
        legend_below(figure, handles, styled=styled)
        return figure
