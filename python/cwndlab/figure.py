"""The figure of one run: window, RTT, goodput and queue over time.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; line styles differ too, for print in
grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

    from cwndlab.recording import Column, Recording, SeriesTable

# Without their yellow, which is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1, 1.5, 1)))

# More lines than this cannot be told apart: a median and a band stand for them.
MAX_LINES = len(COLOURS)

# Points of a goodput line: the recorded intervals are so short that single packets would show.
GOODPUT_POINTS = 200


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: which column of which kind of component, and how its axis is labelled."""

    kind: str
    column: str
    label: str


PANELS = (
    Panel("flow", "cwnd_segments", "window (segments)"),
    Panel("flow", "rtt_ms", "RTT (ms)"),
    Panel("flow", "goodput_mbps", "goodput (Mbit/s)"),
    Panel("link", "queue_packets", "queue (packets)"),
)


def style() -> AbstractContextManager[None]:
    """Settings for print: text stays text in SVG and PDF, and the same data give the same file."""
    return mpl.rc_context(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "grid.linewidth": 0.5,
            "lines.linewidth": 1.1,
            "svg.fonttype": "none",
            "svg.hashsalt": "cwndlab",
            "pdf.fonttype": 42,
            "savefig.dpi": 200,
        }
    )


def draw(recording: Recording, title: str) -> Figure:
    """Draw the four panels on one axis of time."""
    with style():
        figure = Figure(figsize=(7.0, 7.5), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title)
        axes = figure.subplots(len(PANELS), 1, sharex=True)
        for ax, panel in zip(axes, PANELS, strict=True):
            _draw_panel(ax, recording, panel)
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        for ax in (axes[0], axes[-1]):
            _legend(ax)
        return figure


def _draw_panel(ax: Axes, recording: Recording, panel: Panel) -> None:
    tables = [table for table in recording.having(panel.kind, panel.column) if _is_shown(table)]
    time, label = recording.time_s, panel.label
    columns = [table.columns[panel.column] for table in tables]
    if panel.column == "goodput_mbps" and len(time) > GOODPUT_POINTS:
        width = len(time) // GOODPUT_POINTS
        label = f"{label}\nmean of {width * _interval(time):.2g} s"
        time, columns = _blocks(time, width), [_blocks(column, width) for column in columns]
    if len(tables) > MAX_LINES:
        _draw_band(ax, time, columns, f"{len(tables)} {panel.kind}s")
    else:
        _draw_lines(ax, time, columns, [table.name for table in tables])
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)


def _is_shown(table: SeriesTable) -> bool:
    """Access and return links only if they dropped or lost anything."""
    if not table.name.endswith((".access", ".back")):
        return True
    counts = (table.columns[key] for key in ("dropped_packets", "lost_packets") if key in table.columns)
    return any(bool(count[-1:].any()) for count in counts)


def _draw_lines(ax: Axes, time: Column, columns: Sequence[Column], names: Sequence[str]) -> None:
    for index, (column, name) in enumerate(zip(columns, names, strict=True)):
        colour, dash = COLOURS[index], DASHES[index % len(DASHES)]
        ax.plot(time, column, color=colour, linestyle=dash, label=name)


def _draw_band(ax: Axes, time: Column, columns: Sequence[Column], what: str) -> None:
    # A time at which no component has a value has no median; percentiles would warn about it.
    values = np.ma.masked_invalid(np.vstack(columns)).filled(np.nan)
    some = ~np.isnan(values).all(axis=0)
    if not some.any():
        return
    low, median, high = np.nanpercentile(values[:, some], [10, 50, 90], axis=0)
    ax.fill_between(time[some], low, high, color=COLOURS[0], alpha=0.25, linewidth=0, label="10 to 90 %")
    ax.plot(time[some], median, color=COLOURS[0], label=f"median of {what}")


def _interval(time: Column) -> float:
    return float(time[1] - time[0])


def _blocks(values: Column, width: int) -> Column:
    """Means of consecutive blocks of `width` values; a shorter rest is left out."""
    whole = len(values) // width * width
    means: Column = values[:whole].reshape(-1, width).mean(axis=1)
    return means


def _legend(ax: Axes) -> None:
    """Above the panel, where it hides no data."""
    if ax.get_legend_handles_labels()[1]:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
            ncols=4,
            fontsize=8,
            frameon=False,
            handlelength=2.8,
        )
