"""Figures of results: selects the data of each figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.output.drawing.bands import SeedLine
from cwndlab.output.drawing.box import Sample, draw_box
from cwndlab.output.drawing.cdf import Curve, draw_cdf
from cwndlab.output.drawing.fairness import draw_fairness
from cwndlab.output.drawing.heatmap import draw_heatmap
from cwndlab.output.drawing.pareto import draw_pareto
from cwndlab.output.drawing.timeseries import draw_timeseries
from cwndlab.output.tables.columns import titled
from cwndlab.results.crowd import MANY
from cwndlab.results.summary import components
from cwndlab.statistics.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from cwndlab.results.detail import Distribution
    from cwndlab.results.recording import Column
    from cwndlab.results.result import Result, Study
    from cwndlab.results.sweep import Sweep
    from cwndlab.statistics.pareto import Point

    # Results with their labels. A single result has an empty label.
    Labelled = Sequence[tuple[str, Result]]


def series(result: Result, *, styled: bool = True) -> Figure:
    """Draw window, RTT, goodput and queue over time for the first recorded seed."""
    for run in result.runs:
        if run.recording is not None:
            senders = [*run.outcome["flows"], *components(run.outcome, "subflow")]
            algorithms = {sender["name"]: sender["cc"] for sender in senders}
            return draw_timeseries(
                run.recording, f"{result.name} (seed {run.seed})", algorithms, styled=styled
            )
    raise InputError('no finished run was recorded; run with record="first" or "all"')


def cdf(results: Labelled, measure: str, *, styled: bool = True) -> Figure:
    """Draw the distribution of a measure for each component, over all seeds; many components are joined."""
    curves = [Curve(*each) for label, result in results for each in distributed(label, result, measure)]
    if not curves:
        known = dict.fromkeys(each.measure for _, result in results for each in _distributions(result))
        raise InputError(f"expected a distribution ({', '.join(known) or 'none here'}), found {measure!r}")
    return draw_cdf(curves, titled(measure).heading, _title(results), styled=styled)


def box(results: Labelled, measure: str, *, styled: bool = True) -> Figure:
    """Draw a measure of each flow over the seeds, or of each group or link for a measure of theirs.

    With many flows there is one box per algorithm. It shows each flow's mean over the seeds.
    """
    column = titled(measure)
    samples = [
        Sample(_joined(label, name), column.scale * np.array(values))
        for label, result in results
        for name, values in _boxed(result, measure).items()
    ]
    if not samples:
        raise InputError(f"no flow, group or link has the measure {measure!r}")
    return draw_box(samples, column.heading, _title(results), styled=styled)


def fairness(results: Labelled, *, styled: bool = True) -> Figure:
    """Draw Jain's index over time: the mean over the seeds with its 95 % interval."""
    lines = [
        SeedLine(
            label or result.name,
            result.runs[0].detail.jain_end_s,
            np.vstack([run.detail.jain for run in result.runs]),
        )
        for label, result in results
        if any(run.detail.has_fairness for run in result.runs)
    ]
    if not lines:
        raise InputError("fairness over time needs two flows that run at the same time")
    return draw_fairness(lines, _title(results), styled=styled)


def with_content(study: Study) -> list[str]:
    """Return those of `box`, `cdf` and `fairness` that are not empty."""
    runs = [run for _, result in study.variants for run in result.runs]
    shown = {
        "box": len(study.seeds) > 1,
        "cdf": any(each.measure == "rtt_ms" for run in runs for each in run.detail.distributions),
        "fairness": any(run.detail.has_fairness for run in runs),
    }
    return [name for name, has_content in shown.items() if has_content]


def pareto(points: Sequence[Point], name: str, link: str | None, *, styled: bool = True) -> Figure:
    """Draw the goodput of all flows against the queueing delay of the link."""
    xlabel = f"queueing delay of link {link} (ms)"
    return draw_pareto(points, xlabel, "goodput of all flows (Mbit/s)", name, styled=styled)


def heatmap(sweep: Sweep, measure: str, *, styled: bool = True) -> Figure:
    """Draw a total over the last axis (columns) and the others (rows)."""
    column = titled(measure)
    rows, columns, cells = heat_cells(sweep, measure)
    *others, last = (axis.key for axis in sweep.axes)
    what = f"{column.title} of link {sweep.link}" if "queue" in measure else column.title
    label = f"{what} ({column.unit})" if column.unit else what
    return draw_heatmap(rows, columns, cells, label, ", ".join(others), last, sweep.name, styled=styled)


def heat_cells(sweep: Sweep, measure: str) -> tuple[list[str], list[str], list[list[Measure]]]:
    """Return the names of rows and columns, and the totals. A point that was not run has no value."""
    column = titled(measure)
    known = {
        tuple(settings.values()): total.measures.get(measure, Measure(None, None, 0)).scaled(column.scale)
        for (settings, _), total in zip(sweep.points, sweep.totals, strict=True)
    }
    rows = list(dict.fromkeys(key[:-1] for key in known))
    columns = list(dict.fromkeys(key[-1] for key in known))
    cells = [[known.get((*row, last), Measure(None, None, 0)) for last in columns] for row in rows]
    return [", ".join(row) for row in rows], columns, cells


def _title(results: Labelled) -> str:
    return results[0][1].name


def _joined(label: str, name: str) -> str:
    return f"{name}: {label}" if label else name


def distributed(
    label: str,
    result: Result,
    measure: str,
    *,
    most: int = MANY,
    counts: Callable[[Distribution], bool] = lambda _: True,
) -> Iterator[tuple[str, Column, Column]]:
    """Yield the label, the middles of the buckets and the counts of each component.

    More than `most` components are joined by algorithm. Components for which `counts` is false are left out.
    """
    parts: dict[str, list[Distribution]] = {}
    for each in _distributions(result):
        if each.measure == measure and counts(each):
            parts.setdefault(each.name, []).append(each)
    if len(parts) > most:
        kinds = {name: found[0].kind for name, found in parts.items()}
        parts = {
            together: [each for name in names for each in parts[name]]
            for together, names in _together(result, kinds).items()
        }
    for name, found in parts.items():
        middles = np.concatenate([each.middle for each in found])
        weights = np.concatenate([each.count for each in found])
        yield _joined(label, name), middles, weights


def _together(result: Result, kinds: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the components of each algorithm and kind, under a common label such as `5000 cubic flows`."""
    first = result.runs[0].outcome
    senders = [*first["flows"], *components(first, "subflow"), *(first.get("groups") or [])]
    algorithms = {sender["name"]: sender["cc"] for sender in senders}
    found: dict[tuple[str, str], list[str]] = {}
    for name, kind in kinds.items():
        found.setdefault((algorithms.get(name, ""), kind), []).append(name)
    return {
        f"{len(names)} {f'{algorithm} {kind}'.strip()}s": names for (algorithm, kind), names in found.items()
    }


def _distributions(result: Result) -> Iterator[Distribution]:
    return (each for run in result.runs for each in run.detail.distributions)


def _boxed(result: Result, measure: str) -> dict[str, list[float]]:
    """Return the values of each flow, or of each group or link if no flow has the measure."""
    for kind in ("flow", "group", "link"):
        values: dict[str, list[float]] = {}
        for component in (each for run in result.runs for each in components(run.outcome, kind)):
            if component.get(measure) is not None:
                values.setdefault(component["name"], []).append(component[measure])
        if len(values) > MANY:
            together = _together(result, dict.fromkeys(values, kind))
            return {
                label: [sum(values[name]) / len(values[name]) for name in names]
                for label, names in together.items()
            }
        if values:
            return values
    return {}
