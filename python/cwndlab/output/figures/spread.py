"""Values of every seed side by side: boxes, and harm with its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.output.charts import ChartRow, RowChart
from cwndlab.output.charts.spans import readable, span
from cwndlab.output.figures.content import NoContentError, capacity
from cwndlab.output.figures.distribution import bystanders, named, senders, together_by_algorithm
from cwndlab.output.tables.columns import HARM, titled
from cwndlab.results.crowd import MANY
from cwndlab.results.summary import components, is_measure
from cwndlab.results.totals import busiest_link, total
from cwndlab.statistics.measure import measure as summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.charts.names import Names
    from cwndlab.results.comparison import Comparison
    from cwndlab.results.result import Result, Study
    from cwndlab.results.sweep import Sweep


# A measure is that of flows, of groups or of links: the first that have it.
KINDS = ("flow", "group", "link")


def box(study: Study, measure: str, names: Names) -> RowChart:
    """Return a measure of each flow over the seeds, or of each group or link for a measure of theirs.

    With many flows there is one row per algorithm. It shows each flow's mean over the seeds.
    """
    rate = _capacity(study, measure)
    counts = [len(run.outcome["flows"]) for _, result in study.variants for run in result.runs[:1]]
    # A flow among many gets a small part of the rate.
    return box_of(study.labelled, measure, names, None if rate is None else rate / max([1, *counts]))


def box_of(
    results: Sequence[tuple[str, Result]], measure: str, names: Names, limit: float | None = None
) -> RowChart:
    """Return the rows of these results. `limit` is the capacity for a flow, if the measure has one."""
    column = titled(measure)
    samples = [
        (names(label) if label else _own_name(result, name, names), name, values, label, result)
        for label, result in results
        for name, values in _values(result, measure).items()
    ]
    is_joined = any(len(values) > len(result.runs) for _, _, values, _, result in samples)
    if not samples:
        known = dict.fromkeys(key for _, result in results for key in _known(result))
        raise InputError(
            f"expected a measure of a flow, a group or a link ({', '.join(known)}), found {measure!r}"
        )
    beside = bystanders(results)
    rows = [
        (
            named(label, name, senders(result).get(name), names, beside),
            series,
            [column.scale * value for value in values],
        )
        for series, name, values, label, result in samples
    ]
    scaled = None if limit is None else column.scale * limit
    point = "flow, a mean over the seeds" if is_joined else "seed"
    return _boxes(rows, column.title, column.unit, scaled, point)


def box_of_sweep(sweep: Sweep, measure: str, names: Names) -> RowChart:
    """Return a total of each point over the seeds."""
    column = titled(measure)
    rows = []
    for settings, result in sweep.points:
        totals = [total(run.outcome, sweep.link) for run in result.runs]
        if totals and measure not in totals[0]:
            raise InputError(f"expected a total ({', '.join(totals[0])}), found {measure!r}")
        values = [column.scale * value for each in totals if (value := each[measure]) is not None]
        first, *_ = settings.values()
        rows.append((names.joined(settings.values()), names(first), values))
    return _boxes(rows, column.title, column.unit, _capacity(sweep, measure))


def harm(comparison: Comparison, measure: str, names: Names) -> RowChart:
    """Return the harm of each algorithm to each other flow: the mean with its interval, and every seed.

    Harm is that of Ware et al. 2019, compared with the run without the rivals. A line shows the harm of the
    first algorithm, if one other flow is harmed.
    """
    known = {column.key: column for column in HARM}
    if measure not in known:
        raise InputError(f"expected a harm ({', '.join(known)}), found {measure!r}")
    if not comparison.harm:
        raise NoContentError("harm needs flows beside those that take the algorithms (--flow)")
    column = known[measure]
    subjects = comparison.harm if len(comparison.harm) <= MANY else comparison.mean_harm
    alone = subjects[0].name if len(subjects) == 1 else None
    rows = []
    for subject in subjects:
        for label, seeds in zip(comparison.labels, subject.rows, strict=True):
            values = [column.scale * value for seed in seeds if (value := seed[measure]) is not None]
            name = names(label) if alone else f"{names(subject.name)}: {names(label)}"
            rows.append(ChartRow(name, names(label), values, mean=summary(values)))
    baseline = rows[0].mean.mean if alone and rows[0].mean is not None else None
    return RowChart(
        "Harm to the other flows",
        f"{column.title} by {names(alone)}" if alone else column.title,
        rows,
        column.unit,
        span([0.0, *_ends(rows)], 100.0, floor=-np.inf),
        baseline,
        f"harm by {names(comparison.labels[0])}, the baseline" if baseline is not None else "",
        "mean and 95 % interval, one point for each seed",
    )


def _boxes(
    rows: Sequence[tuple[str, str, Sequence[float]]],
    title: str,
    unit: str,
    limit: float | None,
    point: str = "seed",
) -> RowChart:
    every = [value for *_, values in rows for value in values]
    factor, shown = readable(unit, every)
    counts = {len(values) for *_, values in rows}
    common = counts.pop() if len(counts) == 1 else None
    drawn = [
        _row(label if common is not None else f"{label} (n = {len(values)})", series, factor, values)
        for label, series, values in rows
    ]
    seeds = f" (n = {common})" if common is not None else ""
    return RowChart(
        f"{title} over the seeds",
        title,
        drawn,
        shown,
        span([value for row in drawn for value in row.values], None if limit is None else factor * limit),
        note=f"quartiles, median, range, one point for each {point}{seeds}",
    )


def _row(label: str, series: str, factor: float, values: Sequence[float]) -> ChartRow:
    scaled = [factor * value for value in values]
    if len(scaled) < 2:
        return ChartRow(label, series, scaled)
    low, lower, middle, upper, high = np.percentile(scaled, [0, 25, 50, 75, 100]).tolist()
    return ChartRow(label, series, scaled, (low, lower, middle, upper, high))


def _ends(rows: Sequence[ChartRow]) -> Iterator[float]:
    for row in rows:
        yield from row.values
        if row.mean is not None and row.mean.interval is not None:
            yield from row.mean.interval


def _own_name(result: Result, name: str, names: Names) -> str:
    return names.flow(name, senders(result).get(name))


def _capacity(study: Study, measure: str) -> float | None:
    """Return the rate of the busiest link, if it limits the measure."""
    if measure != "goodput_mbps":
        return None
    return capacity(study, busiest_link([result for _, result in study.variants]))


def _known(result: Result) -> Iterator[str]:
    """Yield the measures that some flow, group or link has a value of."""
    for run in result.runs[:1]:
        for component in (each for kind in KINDS for each in components(run.outcome, kind)):
            yield from (key for key in component if is_measure(component, key) and component[key] is not None)


def _values(result: Result, measure: str) -> dict[str, list[float]]:
    """Return the values of each flow, or of each group or link if no flow has the measure."""
    for kind in KINDS:
        values: dict[str, list[float]] = {}
        for component in (each for run in result.runs for each in components(run.outcome, kind)):
            if component.get(measure) is not None:
                values.setdefault(component["name"], []).append(component[measure])
        if len(values) > MANY:
            together = together_by_algorithm(result, dict.fromkeys(values, kind))
            return {
                label: [sum(values[name]) / len(values[name]) for name in members]
                for label, members in together.items()
            }
        if values:
            return values
    return {}
