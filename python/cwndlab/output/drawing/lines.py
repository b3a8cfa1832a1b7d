"""Lines over a common axis, in one panel or in a column of panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cwndlab.output.drawing.axes import label_axes, scale_by_factors
from cwndlab.output.drawing.names import plain, shown
from cwndlab.output.drawing.sheet import Page, sheet
from cwndlab.output.drawing.style import looks

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.output.charts import ChartGroup, Series, TimeChart
    from cwndlab.output.charts.lines import Values
    from cwndlab.output.drawing.style import Look
    from cwndlab.results.recording import Column

# The height of a single panel, and of each of several.
LONE_HEIGHT_IN = 2.6
HEIGHT_IN = 1.8
# With more panels than this, each is lower, so that they fit a page.
MOST_HIGH = 4
LOW_HEIGHT_IN = 1.2

# The opacity of a band. With more lines than this, the bands are fainter.
OPACITY = 0.2
LINES_AT_FULL_OPACITY = 4
# A shaded span is hatched: a plain grey looks like the band of a line.
SHADE: dict[str, Any] = {"facecolor": "0.97", "edgecolor": "0.8", "hatch": "////", "linewidth": 0}


def draw_lines(group: ChartGroup, page: Page) -> Figure:
    """Draw each chart as a panel. Equal labels look the same in all panels and have one legend entry."""
    charts = group.charts
    labels = list(dict.fromkeys(line.label for chart in charts for line in chart.series))
    height_in = LONE_HEIGHT_IN if len(charts) == 1 else len(charts) * _panel_in(len(charts))
    with sheet(page, height_in, len(charts)) as paper:
        look = dict(zip(labels, looks(len(labels)), strict=True))
        entries: dict[str, Artist] = {}
        for ax, chart in zip(paper.axes, charts, strict=True):
            entries |= {str(handle.get_label()): handle for handle in _draw(ax, chart, look, paper.width_in)}
            if group.titled:
                ax.set_title(shown(chart.title), fontsize="medium", loc="left")
        for ax in paper.axes[:-1]:
            ax.set_xlabel("")
        if paper.is_own and group.titled and len({ax.get_ylabel() for ax in paper.axes}) == 1:
            # One label for all panels, which may be lower than the label is long.
            paper.figure.supylabel(paper.axes[0].get_ylabel(), fontsize=mpl.rcParams["axes.labelsize"])
            for ax in paper.axes:
                ax.set_ylabel("")
        elif paper.is_own:
            paper.figure.align_ylabels(paper.axes)
        # The lines first, in their order; then what areas and spots mean.
        paper.legend_below(sorted(entries.values(), key=_is_extra))
        return paper.figure


def _panel_in(panels: int) -> float:
    return HEIGHT_IN if panels <= MOST_HIGH else LOW_HEIGHT_IN


def _is_extra(handle: Artist) -> bool:
    return isinstance(handle, Patch) or (isinstance(handle, Line2D) and handle.get_linestyle() == "None")


def _draw(ax: Axes, chart: TimeChart, look: dict[str, Look], width_in: float) -> list[Artist]:
    """Draw one panel and return the entries of its legend."""
    if chart.log_x:
        scale_by_factors(ax.xaxis, width_in, chart.x_span)
    x = np.asarray(chart.x, dtype=np.float64)
    handles: list[Artist] = []
    if chart.shade is not None:
        ax.axvspan(chart.shade.low, chart.shade.high, zorder=0, **SHADE)
        handles.append(Patch(label=chart.shade.label, **SHADE))
    opacity = OPACITY * min(1, LINES_AT_FULL_OPACITY / max(1, len(chart.series)))
    for line in chart.series:
        handles.append(_draw_line(ax, x, line, look[line.label], opacity, steps=chart.steps))
    handles += _extras(chart)
    label_axes(ax, chart, width_in)
    return handles


def _draw_line(ax: Axes, x: Column, line: Series, look: Look, opacity: float, *, steps: bool) -> Line2D:
    if line.band is not None:
        low, high = map(_column, line.band)
        ax.fill_between(x, low, high, color=look.colour, alpha=opacity, linewidth=0)
    values = _column(line.values)
    name = shown(line.label) if np.isfinite(values).any() else f"{shown(line.label)} (no values)"
    [drawn] = ax.plot(
        x,
        values,
        color=look.colour,
        linestyle=look.dash,
        label=name,
        drawstyle="steps-post" if steps else "default",
    )
    for spot in line.spots:
        ends = [[spot.x - (spot.x_low or spot.x)], [(spot.x_high or spot.x) - spot.x]]
        ax.errorbar(spot.x, spot.y, xerr=ends, color=look.colour, marker=look.marker, linestyle="none")
    if line.spots:
        # The entry of a line shows its marker; the line itself has it only at the spots.
        drawn.set_marker(look.marker)
        drawn.set_markevery([])
    return drawn


def _extras(chart: TimeChart) -> list[Artist]:
    """Return legend entries for bands and marked points."""
    found: list[Artist] = []
    if any(line.band is not None for line in chart.series):
        found.append(Patch(color="0.5", alpha=OPACITY, linewidth=0, label=chart.band_label))
    if chart.spot_label and any(line.spots for line in chart.series):
        found.append(Line2D([], [], color="0.4", marker="o", linestyle="none", label=plain(chart.spot_label)))
    return found


def _column(values: Values) -> Column:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
