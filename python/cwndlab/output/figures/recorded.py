"""One recorded run over time: window, RTT, goodput and queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.charts import ChartGroup, Event, Series, TimeChart
from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.bands import blocks, of_many
from cwndlab.output.figures.content import NoContentError, warmup
from cwndlab.results.summary import components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_
    from numpy.typing import NDArray

    from cwndlab.output.charts import Shade
    from cwndlab.results.recording import Column, FlowEvent, Recording, SeriesTable
    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun

# About the number of pixel columns of a screen. Each column shows its least and its greatest value.
MOST_POINTS = 1600
# More marks than this hide the lines.
MOST_EVENTS = 200
# The points of a goodput line, and the shortest time of a mean: the recorded intervals are so short that
# single packets would show. With many flows, each flow has few packets, so its means are over longer times.
GOODPUT_POINTS = 200
GOODPUT_POINTS_OF_MANY = 40
GOODPUT_MEAN_S = 0.1
GOODPUT_LEAST_POINTS = 20
ABOVE_THE_RATE = (
    "Goodput counts data when they are in order: where a loss is repaired, all data that waited behind it "
    "count at once, so the line may rise above the rate of the link."
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: a kind of component, a column, and the name and the unit of its axis."""

    kind: str
    column: str
    name: str
    unit: str


PANELS = (
    Panel("flow", "cwnd_segments", "window", "segments"),
    Panel("flow", "rtt_ms", "RTT", "ms"),
    Panel("flow", "goodput_mbps", "goodput", "Mbit/s"),
    Panel("link", "queue_packets", "queue", "packets"),
)


def first_recorded(result: Result, names: Names) -> ChartGroup:
    """Return the charts of the first recorded seed."""
    for run in result.runs:
        group = recorded(result, run, names)
        if group is not None:
            return group
    raise NoContentError('no finished run was recorded; run with record="first" or "all"')


def recorded(result: Result, run: SeedRun, names: Names | None = None) -> ChartGroup | None:
    """Return the recorded series of one seed as charts on one time axis; None if nothing was recorded."""
    recording = run.recording
    if recording is None or not len(recording.time_s):
        return None
    senders = [*run.outcome["flows"], *components(run.outcome, "subflow")]
    algorithms = {sender["name"]: sender["cc"] for sender in senders}
    drawn = _Drawn(recording, algorithms, names or Names(), warmup(result))
    charts = (drawn.chart(panel) for panel in PANELS)
    return ChartGroup([chart for chart in charts if chart is not None])


def with_common_scales(groups: Sequence[ChartGroup]) -> list[ChartGroup]:
    """Give charts of the same name the same axes, so that they can be compared."""
    titles = dict.fromkeys(chart.title for group in groups for chart in group.charts)
    scaled = {
        title: iter(
            on_one_scale([chart for group in groups for chart in group.charts if chart.title == title])
        )
        for title in titles
    }
    return [replace(group, charts=[next(scaled[chart.title]) for chart in group.charts]) for group in groups]


def on_one_scale(charts: Sequence[TimeChart]) -> list[TimeChart]:
    """Give the charts the same y axis, from zero to the greatest value of any."""
    most = 1.05 * max(map(_greatest, charts), default=0.0) or 1.0
    return [replace(chart, y_span=(0.0, most)) for chart in charts]


def _greatest(chart: TimeChart) -> float:
    columns = [values for line in chart.series for values in (line.values, *(line.band or ()))]
    known = (value for values in columns for value in values if value is not None and value == value)
    return max(known, default=0.0)


@dataclass(frozen=True)
class _Drawn:
    recording: Recording
    algorithms: dict[str, str]
    names: Names
    shade: Shade | None

    def chart(self, panel: Panel) -> TimeChart | None:
        """Return one panel, or None if nothing has its column."""
        time = self.recording.time_s
        # A component looks the same in all panels, so those without this column have a line without values.
        shown = [table for table in self.recording.of(panel.kind) if _is_shown(table)]
        tables = [table for table in shown if panel.column in table.columns]
        if not tables:
            return None
        recorded = [table.columns[panel.column] for table in tables]
        many = len(tables) > MAX_LINES
        width = _goodput_width(time, many=many) if panel.column == "goodput_mbps" else 1
        note = ""
        if width > 1:
            note = f"mean of {width * _interval(time):.2g} s"
            time, recorded = blocks(time, width), [blocks(column, width) for column in recorded]
        points, columns = thinned(time, recorded)
        if many:
            lines = [of_many(f"median of {len(tables)} {panel.kind}s", columns)]
        else:
            labels = [self.names.flow(table.name, self.algorithms.get(table.name)) for table in tables]
            lines = [Series(label, column.tolist()) for label, column in zip(labels, columns, strict=True)]
        full = self.recording.time_s
        return TimeChart(
            panel.name,
            "time",
            panel.name,
            points,
            lines,
            self._events(),
            "s",
            panel.unit,
            note,
            (0.0, float(full[-1])) if full[-1] > 0 else None,
            shade=self.shade if full[-1] > 0 else None,
            event_label=self._event_label,
            band_label=f"10 to 90 % of the {panel.kind}s",
            remark=ABOVE_THE_RATE if panel.column == "goodput_mbps" else "",
        )

    @cached_property
    def _timeouts(self) -> list[FlowEvent]:
        """The timeouts of the flows in their order. They explain why a window falls to one segment."""
        found = [event for event in self.recording.events if event.kind == "timeout"]
        return sorted(found, key=lambda event: event.time_s)

    def _events(self) -> list[Event]:
        return [
            Event(event.time_s, f"timeout of {self.names(event.flow)}") for event in evenly(self._timeouts)
        ]

    @property
    def _event_label(self) -> str:
        count = len(self._timeouts)
        notes = [f"{MOST_EVENTS} of {count} shown"] * (count > MOST_EVENTS)
        notes += ["later ones were not recorded"] * bool(self.recording.events_missed)
        return f"timeout ({'; '.join(notes)})" if notes else "timeout"


def evenly(events: Sequence[FlowEvent], most: int = MOST_EVENTS) -> list[FlowEvent]:
    """Return at most so many events: as many in each stretch of time as its share of all, with both ends."""
    if len(events) <= most:
        return list(events)
    return [events[round(index * (len(events) - 1) / (most - 1))] for index in range(most)]


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


def _interval(time: Column) -> float:
    return float(time[1] - time[0])


def thinned(
    time: Column, columns: Sequence[Column], most: int = MOST_POINTS
) -> tuple[list[float], list[Column]]:
    """Return few enough points for a screen: the least and the greatest value of each stretch, in order."""
    width = -(-2 * len(time) // most)
    if width <= 2:
        return time.tolist(), list(columns)
    whole = len(time) // width * width
    starts = time[:whole].reshape(-1, width)
    grid = np.column_stack([starts[:, 0], starts[:, width // 2]]).ravel()
    return grid.tolist(), [_extremes(column[:whole].reshape(-1, width)) for column in columns]


def _extremes(parts: Column) -> Column:
    empty: NDArray[bool_] = np.asarray(np.isnan(parts).all(axis=1))
    filled = np.where(empty.reshape(-1, 1), 0.0, parts)
    least, greatest = np.nanargmin(filled, axis=1), np.nanargmax(filled, axis=1)
    rows = np.arange(len(parts))
    first, second = np.minimum(least, greatest), np.maximum(least, greatest)
    pairs: Column = np.column_stack([filled[rows, first], filled[rows, second]])
    pairs[empty] = np.nan
    return pairs.ravel()
