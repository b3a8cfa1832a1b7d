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
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

    from cwndlab.recording import Column, Recording, SeriesTable

# Without their yellow, which is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1)),
    (0, (5, 1, 1.5, 1)),
    (0, (9, 1.5)),
    (0, (9, 1, 1.5, 1)),
    (0, (1.5, 2.5)),
    (0, (5, 1, 1.5, 1, 1.5, 1)),
)

# More lines than this cannot be told apart: a median and a band stand for them.
MAX_LINES = len(COLOURS)

# Points of a goodput line, and the shortest mean: the recorded intervals are so short that single packets
# would show. One of many flows has so few packets that its mean is over longer.
GOODPUT_POINTS = 200
GOODPUT_POINTS_OF_MANY = 40
GOODPUT_MEAN_S = 0.1
GOODPUT_LEAST_POINTS = 20

# A legend is as wide as the figure: so many characters in all, and in one of its names.
LEGEND_WIDTH = 104
LEGEND_NAME = 40


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


def draw(recording: Recording, title: str, algorithms: Mapping[str, str] | None = None) -> Figure:
    """Draw the four panels on one axis of time; `algorithms` are those of the flows, by their names."""
    with style():
        figure = Figure(figsize=(7.0, 7.5), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(_plain(_shortened(title, LEGEND_NAME * 2)))
        axes = figure.subplots(len(PANELS), 1, sharex=True)
        for ax, panel in zip(axes, PANELS, strict=True):
            _draw_panel(ax, recording, panel, algorithms or {})
        if len(recording.time_s) > 1:
            axes[-1].set_xlim(0, recording.time_s[-1] + _interval(recording.time_s))
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        for ax in (axes[0], axes[-1]):
            _legend(ax)
        return figure


def _draw_panel(ax: Axes, recording: Recording, panel: Panel, algorithms: Mapping[str, str]) -> None:
    tables = [table for table in recording.having(panel.kind, panel.column) if _is_shown(table)]
    time, label = recording.time_s, panel.label
    columns = [table.columns[panel.column] for table in tables]
    many = len(tables) > MAX_LINES
    width = _goodput_width(time, many=many) if panel.column == "goodput_mbps" else 1
    if width > 1:
        label = f"{label}\nmean of {width * _interval(time):.2g} s"
        time, columns = _blocks(time, width), [_blocks(column, width) for column in columns]
    if many:
        _draw_band(ax, time, columns, f"{len(tables)} {panel.kind}s")
    else:
        _draw_lines(ax, time, columns, [_label(table.name, algorithms) for table in tables])
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)


def _is_shown(table: SeriesTable) -> bool:
    """Access and return links only if they dropped or lost anything."""
    if not table.name.endswith((".access", ".back")):
        return True
    counts = (table.columns[key] for key in ("dropped_packets", "lost_packets") if key in table.columns)
    return any(bool(count[-1:].any()) for count in counts)


def _goodput_width(time: Column, *, many: bool) -> int:
    """How many recorded intervals one mean covers."""
    points = len(time)
    if points < 2 * GOODPUT_LEAST_POINTS:
        return 1
    width = points // (GOODPUT_POINTS_OF_MANY if many else GOODPUT_POINTS)
    shortest = round(GOODPUT_MEAN_S / _interval(time))
    return max(1, width, min(shortest, points // GOODPUT_LEAST_POINTS))


def _label(name: str, algorithms: Mapping[str, str]) -> str:
    """The name, and the algorithm where the name does not tell it."""
    algorithm = algorithms.get(name, name)
    shown = _shortened(name, LEGEND_NAME)
    return _plain(shown if algorithm in name else f"{shown} ({algorithm})")


def _shortened(text: str, length: int) -> str:
    """Beginning and end: names of one kind mostly differ at their ends."""
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _plain(text: str) -> str:
    """What matplotlib shows as it is: `$` would begin a formula, and a label with `_` is left out."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


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
    labels = ax.get_legend_handles_labels()[1]
    if labels:
        line = 8
        longest = max(map(len, labels)) + line
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
            ncols=max(1, min(4, LEGEND_WIDTH // longest)),
            fontsize=8,
            frameon=False,
            handlelength=2.8,
        )
