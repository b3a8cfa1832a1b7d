"""A total over each key of a sweep whose points are no grid: a scatter, or a row for each choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.output.charts import ChartRow, RowChart, ScatterChart, ScatterPoint
from cwndlab.output.charts.spans import amount_span, is_wide, log_span, readable, span
from cwndlab.output.figures.tradeoff import WIDE, above, look_of
from cwndlab.output.tables.columns import titled
from cwndlab.results.totals import TOTALS
from cwndlab.scenarios.ranges import LOG, numbers
from cwndlab.statistics.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.charts.names import Names
    from cwndlab.output.charts.spans import Span
    from cwndlab.results.result import Settings
    from cwndlab.results.sweep import Sweep
    from cwndlab.scenarios.axis import Axis

    Valued = Sequence[tuple[Settings, Measure]]

NONE = Measure(None, None, 0)
# With more points than this, intervals would hide them.
MOST_INTERVALS = 100


def over_key(sweep: Sweep, axis: Axis, measure: str, names: Names) -> ScatterChart | RowChart:
    """Return a total of each point over the values of one key, on a logarithmic axis if they are drawn so.

    Values that are no numbers have a row each. Every point links to its row in the table of the report.
    """
    if measure not in TOTALS:
        raise InputError(f"expected a total ({', '.join(TOTALS)}), found {measure!r}")
    column = titled(measure)
    found = [
        (settings, total.measures.get(measure, NONE).scaled(column.scale))
        for (settings, _), total in zip(sweep.points, sweep.totals, strict=True)
    ]
    factor, unit = readable(column.unit, [value.mean for _, value in found])
    valued = [(settings, value.scaled(factor)) for settings, value in found]
    title = f"{column.title} over {axis.key}"
    label = f"{column.title} of link {sweep.link}" if "queue" in measure else column.title
    known = numbers(axis)
    if known is None:
        return _rows(axis, valued, title, label, unit, names)
    places = dict(zip(axis.labels, known[0], strict=True))
    shown = [places[settings[axis.key]] for settings, _ in valued]
    is_log = axis.drawn.startswith(LOG) or (not axis.drawn and is_wide(shown, WIDE))
    means = [value.mean for _, value in valued]
    is_log_y = is_log and is_wide(means, WIDE)
    y_span = _y_span([value for _, value in valued], is_log=is_log_y)
    looks = [look_of(sweep, settings) for settings, _ in valued]
    points = [
        _point(names, settings, place, value, series, index, y_span if is_log_y else None)
        for index, ((settings, value), place, series) in enumerate(zip(valued, shown, looks, strict=True))
    ]
    return ScatterChart(
        title,
        axis.key,
        label,
        points if len(points) <= MOST_INTERVALS else [_without_interval(point) for point in points],
        known[1],
        unit,
        log_span(shown) if is_log else span(shown, floor=-np.inf),
        y_span,
        is_log,
        is_log_y,
    )


def _y_span(values: Sequence[Measure], *, is_log: bool) -> Span | None:
    means = [value.mean for value in values]
    ends = [end for value in values for end in (value.mean, *(value.interval or ())) if end is not None]
    return log_span(above(ends, means)) if is_log else amount_span(ends)


def _point(
    names: Names,
    settings: Settings,
    x: float,
    value: Measure,
    look: Sequence[str],
    index: int,
    cut: Span | None,
) -> ScatterPoint:
    low, high = value.interval or (None, None)
    if cut is not None and low is not None:
        low = max(low, cut[0])
    series, *others = look
    return ScatterPoint(
        names.joined(settings.values()),
        names(series),
        x,
        value.mean,
        y_low=low,
        y_high=high,
        href=f"#point-{index + 1}",
        marker_key=names.joined(others),
    )


def _without_interval(point: ScatterPoint) -> ScatterPoint:
    from dataclasses import replace

    return replace(point, y_low=None, y_high=None)


def _rows(axis: Axis, valued: Valued, title: str, label: str, unit: str, names: Names) -> RowChart:
    rows = []
    for choice in axis.labels:
        means = [
            value.mean
            for settings, value in valued
            if settings[axis.key] == choice and value.mean is not None
        ]
        box = tuple(np.percentile(means, [0, 25, 50, 75, 100]).tolist()) if len(means) > 1 else None
        rows.append(ChartRow(f"{names(choice)} (n = {len(means)})", names(choice), means, box))
    every = [value for row in rows for value in row.values]
    note = "quartiles, median, range, one mark for each point of the sweep"
    return RowChart(title, label, rows, unit, span(every), note=note)
