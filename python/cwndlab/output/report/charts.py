"""Charts of results: recorded series, fairness, distributions and trade-offs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.drawing.style import MAX_LINES
from cwndlab.output.drawing.timeseries import PANELS
from cwndlab.output.figures import distributed
from cwndlab.output.html import (
    ChartGroup,
    Event,
    HeatCell,
    HeatMap,
    ScatterChart,
    ScatterPoint,
    Series,
    TimeChart,
)
from cwndlab.output.tables.columns import titled
from cwndlab.statistics.measure import CONFIDENCE, Measure, measure
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy import bool_
    from numpy.typing import NDArray

    from cwndlab.results.detail import Distribution
    from cwndlab.results.recording import Column, SeriesTable
    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.results.sweep import Sweep
    from cwndlab.statistics.pareto import Point

# About the number of pixel columns of a screen. Each column shows its least and its greatest value.
MOST_POINTS = 1600
# Charts of goodput show means over this time.
GOODPUT_MEAN_S = 0.2
# More marks than this hide the lines.
MOST_EVENTS = 200
DISTRIBUTIONS = ("rtt_ms", "queue_delay_ms", "completion_ms")


def over_time(run: SeedRun) -> ChartGroup | None:
    """Return the recorded series of one seed, as charts that share their time axis."""
    recording = run.recording
    if recording is None or not len(recording.time_s):
        return None
    charts = []
    for panel in PANELS:
        tables = [table for table in recording.having(panel.kind, panel.column) if _is_shown(table)]
        recorded = [table.columns[panel.column] for table in tables]
        if panel.column == "goodput_mbps":
            recorded = [_smoothed(column, recording.time_s) for column in recorded]
        time, columns = thinned(recording.time_s, recorded)
        names = [table.name for table in tables]
        lines = _lines(names, columns) if len(tables) <= MAX_LINES else [_band(columns, panel.kind)]
        if lines:
            column = titled(panel.column)
            charts.append(
                TimeChart(
                    panel.label.partition(" (")[0],
                    "time",
                    column.title,
                    time,
                    lines,
                    _events(run),
                    "s",
                    column.unit,
                )
            )
    return ChartGroup(charts)


def fairness(results: Iterable[tuple[str, Result]]) -> TimeChart | None:
    """Return Jain's index over time: the mean over the seeds with its 95 % interval."""
    found = [
        (label, result) for label, result in results if any(run.detail.has_fairness for run in result.runs)
    ]
    if not found:
        return None
    grid = found[0][1].runs[0].detail.jain_end_s
    lines = [
        seed_line(label or "Jain's index", [run.detail.jain for run in result.runs], 0, 1)
        for label, result in found
    ]
    return TimeChart(
        "Jain's index of the goodputs in windows of 1 s",
        "time",
        "Jain's index",
        grid.tolist(),
        lines,
        (),
        "s",
    )


def distribution(results: Iterable[tuple[str, Result]], key: str) -> TimeChart | None:
    """Return the share of samples at or below each value, over all seeds."""
    curves = [
        each
        for label, result in results
        for each in distributed(label, result, key, most=MAX_LINES, counts=_is_shown)
    ]
    if not curves or len(curves) > MAX_LINES:
        return None
    grid = np.unique(np.concatenate([middles for _, middles, _ in curves]))
    lines = [Series(name, _shares(grid, middles, weights)) for name, middles, weights in curves]
    column = titled(key)
    return TimeChart(
        f"distribution of the {column.title}",
        column.title,
        "share of samples",
        grid.tolist(),
        lines,
        (),
        column.unit,
    )


def tradeoff(
    points: Sequence[Point], efficient: Sequence[bool], link: str | None, hrefs: Sequence[str]
) -> ScatterChart:
    """Return goodput against queueing delay. Each point links to its row."""
    shown = [
        _scatter_point(point, f"#{href}", front=best)
        for point, best, href in zip(points, efficient, hrefs, strict=True)
    ]
    return ScatterChart(
        "Goodput against queueing delay",
        f"queueing delay of link {link}",
        "goodput of all flows",
        shown,
        "ms",
        "Mbit/s",
    )


def _scatter_point(point: Point, href: str, *, front: bool) -> ScatterPoint:
    x_low, x_high = point.x.interval or (None, None)
    y_low, y_high = point.y.interval or (None, None)
    return ScatterPoint(
        point.label,
        point.series,
        point.x.mean,
        point.y.mean,
        x_low,
        x_high,
        y_low,
        y_high,
        href,
        front=front,
    )


def heat(
    sweep: Sweep, key: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Measure]]
) -> HeatMap:
    """Return a heat map of a total over the grid. Each cell links to the row of its point."""
    column = titled(key)
    anchors = {", ".join(settings.values()): index for index, (settings, _) in enumerate(sweep.points)}

    def cell(row: str, name: str, value: Measure) -> HeatCell:
        point = f"{row}, {name}" if row else name
        index = anchors.get(point)
        return HeatCell(
            with_interval(value),
            value.mean,
            None if index is None else f"#point-{index + 1}",
            f"{point}: {with_interval(value)} {column.unit}",
        )

    *others, last = (axis.key for axis in sweep.axes)
    shown = [
        [cell(row, name, value) for name, value in zip(columns, values, strict=True)]
        for row, values in zip(rows, cells, strict=True)
    ]
    return HeatMap(column.title, ", ".join(others), last, rows, columns, shown, column.unit)


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


def _extremes(blocks: Column) -> Column:
    empty: NDArray[bool_] = np.asarray(np.isnan(blocks).all(axis=1))
    filled = np.where(empty.reshape(-1, 1), 0.0, blocks)
    least, greatest = np.nanargmin(filled, axis=1), np.nanargmax(filled, axis=1)
    rows = np.arange(len(blocks))
    first, second = np.minimum(least, greatest), np.maximum(least, greatest)
    pairs: Column = np.column_stack([filled[rows, first], filled[rows, second]])
    pairs[empty] = np.nan
    return pairs.ravel()


def _smoothed(column: Column, time: Column) -> Column:
    """Return means over `GOODPUT_MEAN_S`: the recorded intervals are so short that single packets show."""
    width = round(GOODPUT_MEAN_S / (time[1] - time[0])) if len(time) > 1 else 1
    if width < 2:
        return column
    known = ~np.isnan(column)
    window = np.ones(width)
    sums = np.convolve(np.where(known, column, 0.0), window, "same")
    counts = np.convolve(known, window, "same")
    return np.where(known, sums / np.maximum(counts, 1), np.nan)


def _is_shown(component: SeriesTable | Distribution) -> bool:
    return not component.name.endswith((".access", ".back"))


def _lines(names: Sequence[str], columns: Sequence[Column]) -> list[Series]:
    return [Series(name, column.tolist()) for name, column in zip(names, columns, strict=True)]


def _band(columns: Sequence[Column], kind: str) -> Series:
    values = np.vstack(columns)
    low, median, high = (_quantile(values, share) for share in (10, 50, 90))
    return Series(f"median of {len(columns)} {kind}s, 10 to 90 %", median, (low, high))


def _quantile(values: Column, percent: float) -> list[float | None]:
    some = ~np.isnan(values).all(axis=0)
    result = np.full(values.shape[1], np.nan)
    result[some] = np.nanpercentile(values[:, some], percent, axis=0)
    listed: list[float | None] = result.tolist()
    return listed


def _events(run: SeedRun) -> list[Event]:
    """Return the timeouts of the flows. They explain why a window falls to one segment."""
    if run.recording is None:
        return []
    timeouts = [event for event in run.recording.events if event.kind == "timeout"]
    return [Event(event.time_s, f"timeout of {event.flow}") for event in timeouts[:MOST_EVENTS]]


def seed_line(label: str, seeds: Sequence[Column], least: float, most: float = math.inf) -> Series:
    """Return the mean over the seeds with its interval as a band, cut to the range of the quantity."""
    means = [measure(column) for column in np.vstack(seeds).T]
    middle = [each.mean for each in means]
    if not any(each.interval for each in means):
        return Series(label, middle)
    ends = [each.interval or (each.mean, each.mean) for each in means]
    low = [None if end is None else max(least, end) for end, _ in ends]
    high = [None if end is None else min(most, end) for _, end in ends]
    return Series(f"{label} ({100 * CONFIDENCE:.0f} % interval)", middle, (low, high))


def _shares(grid: Column, middles: Column, counts: Column) -> list[float | None]:
    order = np.argsort(middles)
    sums = np.concatenate([[0.0], np.cumsum(counts[order])])
    shares: list[float | None] = (
        sums[np.searchsorted(middles[order], grid, side="right")] / sums[-1]
    ).tolist()
    return shares
