"""One run over time: window, RTT, goodput and queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.drawing.names import LONGEST, plain, shortened
from cwndlab.output.drawing.sheet import legend_above, sheet
from cwndlab.output.drawing.style import MAX_LINES, Width, looks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.results.recording import Column, Recording, SeriesTable

HEIGHT_IN = 7.5

# The points of a goodput line, and the shortest time of a mean: the recorded intervals are so short that
# single packets would show. With many flows, each flow has few packets, so its means are over longer times.
GOODPUT_POINTS = 200
GOODPUT_POINTS_OF_MANY = 40
GOODPUT_MEAN_S = 0.1
GOODPUT_LEAST_POINTS = 20


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: a kind of component, a column, and the label of its axis."""

    kind: str
    column: str
    label: str


PANELS = (
    Panel("flow", "cwnd_segments", "window (segments)"),
    Panel("flow", "rtt_ms", "RTT (ms)"),
    Panel("flow", "goodput_mbps", "goodput (Mbit/s)"),
    Panel("link", "queue_packets", "queue (packets)"),
)


def draw_timeseries(
    recording: Recording,
    title: str | None = None,
    algorithms: Mapping[str, str] | None = None,
    *,
    width: Width = "double",
    styled: bool = True,
) -> Figure:
    """Draw the four panels on one time axis. `algorithms` maps the names of the flows to algorithms."""
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        axes = figure.subplots(len(PANELS), 1, sharex=True)
        for ax, panel in zip(axes, PANELS, strict=True):
            _draw_panel(ax, recording, panel, algorithms or {})
        if len(recording.time_s) > 1:
            axes[-1].set_xlim(0, recording.time_s[-1] + _interval(recording.time_s))
        axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(axes)
        for ax in (axes[0], axes[-1]):
            legend_above(figure, ax, _handles(ax))
        return figure


def _draw_panel(ax: Axes, recording: Recording, panel: Panel, algorithms: Mapping[str, str]) -> None:
    all_tables = [table for table in recording.of(panel.kind) if _is_shown(table)]
    tables = [table for table in all_tables if panel.column in table.columns]
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
        # A component looks the same in all panels, even if another component has no such column.
        look_of = dict(zip((each.name for each in all_tables), looks(len(all_tables)), strict=True))
        for column, table in zip(columns, tables, strict=True):
            look = look_of[table.name]
            label_of = _label(table.name, algorithms)
            ax.plot(time, column, color=look.colour, linestyle=look.dash, label=label_of)
    ax.set_ylabel(label)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)


def _is_shown(table: SeriesTable) -> bool:
    """Whether to show a table. Access and return links are shown only if they dropped or lost packets."""
    if not table.name.endswith((".access", ".back")):
        return True
    counts = (table.columns[key] for key in ("dropped_packets", "lost_packets") if key in table.columns)
    return any(bool(count[-1:].any()) for count in counts)


def _goodput_width(time: Column, *, many: bool) -> int:
    """Return the number of recorded intervals that one mean covers."""
    points = len(time)
    if points < 2 * GOODPUT_LEAST_POINTS:
        return 1
    width = points // (GOODPUT_POINTS_OF_MANY if many else GOODPUT_POINTS)
    shortest = round(GOODPUT_MEAN_S / _interval(time))
    return max(1, width, min(shortest, points // GOODPUT_LEAST_POINTS))


def _label(name: str, algorithms: Mapping[str, str]) -> str:
    """Return the name, with the algorithm if the name does not contain it."""
    algorithm = algorithms.get(name, name)
    short = shortened(name, LONGEST)
    return plain(short if algorithm in name else f"{short} ({algorithm})")


def _draw_band(ax: Axes, time: Column, columns: Sequence[Column], what: str) -> None:
    # A time at which no component has a value has no median; percentiles would warn about it.
    values = np.ma.masked_invalid(np.vstack(columns)).filled(np.nan)
    some = ~np.isnan(values).all(axis=0)
    if not some.any():
        return
    [look] = looks(1)
    low, median, high = np.nanpercentile(values[:, some], [10, 50, 90], axis=0)
    ax.fill_between(time[some], low, high, color=look.colour, alpha=0.25, linewidth=0, label="10 to 90 %")
    ax.plot(time[some], median, color=look.colour, linestyle=look.dash, label=f"median of {what}")


def _interval(time: Column) -> float:
    return float(time[1] - time[0])


def _blocks(values: Column, width: int) -> Column:
    """Return the means of consecutive blocks of `width` values. A shorter rest is left out."""
    whole = len(values) // width * width
    means: Column = values[:whole].reshape(-1, width).mean(axis=1)
    return means


def _handles(ax: Axes) -> list[Artist]:
    return ax.get_legend_handles_labels()[0]
