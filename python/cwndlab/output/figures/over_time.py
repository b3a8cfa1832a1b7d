"""All seeds over time: means of intervals, fairness, and when flows became steady."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.output.charts import ChartGroup, Series, Spot, TimeChart
from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.figures.bands import blocks, seed_line, total
from cwndlab.output.figures.content import NoContentError, warmup
from cwndlab.output.figures.recorded import on_one_scale
from cwndlab.output.tables.columns import titled
from cwndlab.results.comparison import Comparison
from cwndlab.results.summary import components
from cwndlab.statistics.spread import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.charts.names import Names
    from cwndlab.results.recording import Column
    from cwndlab.results.result import Result, Study
    from cwndlab.results.seed_run import SeedRun

# The points of a line. Longer ones are shown as means.
MOST_POINTS = 250
DEFAULT = ("goodput_mbps", "cwnd_segments")
# The measures of several flows that are added up; of the others, the mean is shown.
SUMS = ("goodput_mbps", "loss_events")
GOODPUT = "goodput_mbps"


@dataclass(frozen=True)
class _Line:
    """A line: its label, and the components whose values it joins."""

    label: str
    result: Result
    names: Sequence[str]


def series(study: Study, measure: str | None, names: Names) -> ChartGroup:
    """Return measures over time: the mean over all seeds with their range.

    A run has a line for each flow or group; with more than 8, one for each algorithm. A comparison has a line
    for each algorithm, which joins all flows that run it; the goodput of the others has a panel of its own.
    """
    known = _measures(study)
    if not known:
        raise NoContentError("the result has no intervals over time")
    if measure is not None and measure not in known:
        raise InputError(f"expected a measure over time ({', '.join(known)}), found {measure!r}")
    wanted = [measure] if measure is not None else [each for each in DEFAULT if each in known]
    if not isinstance(study, Comparison):
        [(_, result)] = study.labelled
        lines = _lines(result, names)
        return ChartGroup([_chart(study, lines, each, "") for each in wanted])
    charts = []
    others = _others(study)
    for each in wanted:
        chosen = [
            _Line(names(label), result, [name for name in _senders(result) if name not in others])
            for label, result in study.labelled
        ]
        charts.append(_chart(study, chosen, each, _who(chosen[0].names, names, is_all=not others)))
        if others and each == GOODPUT:
            rest = [_Line(names(label), result, others) for label, result in study.labelled]
            charts.append(_chart(study, rest, each, _who(others, names)))
    return ChartGroup(charts, titled=bool(others))


def convergence(study: Study, names: Names) -> ChartGroup:
    """Return the goodput of each flow over time, one panel for each variant, with its time of convergence.

    The mark stands at the mean over the seeds with a value, with their range.
    """
    if GOODPUT not in _measures(study):
        raise NoContentError("the result has no intervals over time")
    charts = []
    for label, result in study.labelled:
        # A panel is named after its algorithm, so the flows look the same in all panels.
        lines = _lines(result, names, with_algorithm=not label)
        chart = _chart(study, lines, GOODPUT, "", spots=True)
        remarks = [names(label)] if label else []
        remarks += _not_always_steady(lines)
        charts.append(replace(chart, title="; ".join(remarks) or chart.title))
    return ChartGroup(on_one_scale(charts), titled=len(charts) > 1 or bool(remarks))


def fairness(results: Sequence[tuple[str, Result]], names: Names) -> TimeChart:
    """Return Jain's index over time: the mean over the seeds with their range."""
    found = [
        (label, result) for label, result in results if any(run.detail.has_fairness for run in result.runs)
    ]
    if not found:
        raise NoContentError("fairness over time needs two flows that run at the same time")
    grid = found[0][1].runs[0].detail.jain_end_s
    return TimeChart(
        "Jain's index of the goodputs",
        "time",
        "Jain's index",
        grid.tolist(),
        [
            seed_line(names(label) if label else "all flows", [run.detail.jain for run in result.runs])
            for label, result in found
        ],
        (),
        "s",
        note="windows of 1 s",
        x_span=(0.0, float(grid[-1])),
        y_span=(0.0, 1.02),
        shade=warmup(found[0][1]),
    )


def _measures(study: Study) -> list[str]:
    """Return the measures over time, those of all flows first."""
    tables = [table for _, result in study.variants for run in result.runs[:1] for table in run.detail.tables]
    return list(dict.fromkeys(key for table in tables for key in table.columns))


def _senders(result: Result) -> dict[str, str]:
    """Return the algorithms of all flows and groups, by name."""
    first = result.runs[0].outcome
    return {each["name"]: each["cc"] for each in [*first["flows"], *(first.get("groups") or [])]}


def _others(comparison: Comparison) -> list[str]:
    """Return the flows and groups that do not run the compared algorithms."""
    alone = comparison.alone
    if alone is None or not alone.runs:
        return []
    others = _senders(alone)
    return [] if set(others) >= set(_senders(comparison.results[0])) else list(others)


def _who(flows: Sequence[str], names: Names, *, is_all: bool = False) -> str:
    if is_all:
        return "all flows"
    return f"flow {names(flows[0])}" if len(flows) == 1 else f"{len(flows)} flows, {names(flows[0])} first"


def _lines(result: Result, names: Names, *, with_algorithm: bool = True) -> list[_Line]:
    """Return a line for each flow, or for each algorithm if there are many."""
    senders = _senders(result)
    if len(senders) <= MAX_LINES:
        return [
            _Line(names.flow(name, cc if with_algorithm else None), result, [name])
            for name, cc in senders.items()
        ]
    together: dict[str, list[str]] = {}
    for name, cc in senders.items():
        together.setdefault(cc, []).append(name)
    return [
        _Line(f"{len(found)} {names(cc)} flows together", result, found) for cc, found in together.items()
    ]


def _chart(study: Study, lines: Sequence[_Line], key: str, who: str, *, spots: bool = False) -> TimeChart:
    end = max((run.detail.end_s for line in lines for run in line.result.runs), key=len)
    width = max(1, -(-len(end) // MOST_POINTS))
    interval = float(end[0])
    middle = blocks(end - interval / 2, width)
    shown = [_seeds(line, key, width, len(middle)) for line in lines]
    series = [seed_line(line.label, seeds) for line, seeds in zip(lines, shown, strict=True)]
    if spots:
        series = [_marked(each, line, middle) for each, line in zip(series, lines, strict=True)]
    column = titled(key)
    is_joint = any(len(line.names) > 1 for line in lines)
    what = column.title if not is_joint or key in SUMS else f"mean {column.title}"
    return TimeChart(
        f"{what} of {who}" if who else what,
        "time",
        what,
        middle.tolist(),
        series,
        (),
        "s",
        column.unit,
        f"mean of {width * interval:.2g} s",
        (0.0, float(end[-1])),
        shade=warmup(study.variants[0][1]),
        spot_label="first steady 5 s: mean, range" if spots else "",
    )


def _seeds(line: _Line, key: str, width: int, length: int) -> list[Column]:
    """Return the values of a line for each seed, as means of blocks; NaN where there are none."""
    rows = []
    for run in line.result.runs:
        found = _columns(run, line.names, key)
        row = np.full(length, np.nan)
        if found:
            joined = blocks(total(found, is_sum=key in SUMS), width)
            row[: len(joined)] = joined
        rows.append(row)
    return rows


def _columns(run: SeedRun, names: Sequence[str], key: str) -> list[Column]:
    wanted = set(names)
    return [
        table.columns[key]
        for table in run.detail.tables
        if table.kind in ("flow", "group") and table.name in wanted and key in table.columns
    ]


def _not_always_steady(lines: Sequence[_Line]) -> Iterator[str]:
    """Yield the flows that did not become steady with every seed."""
    for line in lines:
        if len(line.names) == 1:
            times = [_steady_at(run, line.names[0]) for run in line.result.runs]
            steady = sum(time is not None for time in times)
            if steady < len(times):
                yield f"{line.label}: steady in {steady} of {len(times)}"


def _marked(line: Series, source: _Line, middle: Column) -> Series:
    """Return the line with a mark at the mean time at which its flow became steady."""
    if len(source.names) != 1:
        return line
    steady = spread(_steady_at(run, source.names[0]) for run in source.result.runs)
    spots = []
    if steady.mean is not None:
        height = line.values[int(np.abs(middle - steady.mean).argmin())]
        ends = (None, None) if steady.low == steady.high else (steady.low, steady.high)
        if height is not None:
            spots = [Spot(steady.mean, height, *ends)]
    return replace(line, spots=spots)


def _steady_at(run: SeedRun, name: str) -> float | None:
    """Return the time at which the goodput of a flow became steady, from the start of the run."""
    flow = next((each for each in components(run.outcome, "flow") if each["name"] == name), None)
    if flow is None or flow.get("convergence_s") is None:
        return None
    return float(flow["convergence_s"]) + float(flow.get("start_s") or 0.0)
