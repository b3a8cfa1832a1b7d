"""Quantities over time in a column of panels. Each line is a mean over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from cwndlab.output.drawing.bands import draw_bands
from cwndlab.output.drawing.names import plain
from cwndlab.output.drawing.sheet import legend_below, sheet
from cwndlab.output.drawing.style import looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from cwndlab.output.drawing.bands import SeedLine
    from cwndlab.output.drawing.style import Width

# The height of a single panel, and of each of several.
LONE_HEIGHT_IN = 3.0
HEIGHT_IN = 2.2


@dataclass(frozen=True, slots=True)
class LinePanel:
    """One panel: the label of its axis, and its lines. Equal labels look the same in all panels."""

    ylabel: str
    lines: Sequence[SeedLine]


def draw_panels(
    panels: Sequence[LinePanel], title: str | None = None, *, width: Width = "double", styled: bool = True
) -> Figure:
    """Draw the panels on one time axis. No quantity is negative, so bands end at 0."""
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    height_in = LONE_HEIGHT_IN if len(panels) == 1 else HEIGHT_IN * len(panels)
    with sheet(title, width=width, height_in=height_in, styled=styled) as figure:
        look = dict(zip(labels, looks(len(labels)), strict=True))
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        entries: dict[str, Artist] = {}
        for ax, panel in zip(axes, panels, strict=True):
            handles = draw_bands(ax, panel.lines, (0, None), [look[line.label] for line in panel.lines])
            entries |= {str(handle.get_label()): handle for handle in handles}
            ax.set_ylabel(plain(panel.ylabel))
            ax.set_ylim(bottom=0)
            ax.margins(x=0)
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        # The lines first, in their order; the entry of the band last.
        handles = sorted(entries.values(), key=lambda handle: isinstance(handle, Patch))
        legend_below(figure, handles, styled=styled)
        return figure
