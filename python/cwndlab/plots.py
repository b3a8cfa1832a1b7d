"""Figures of results: which data go into which figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.figures.bands import SeedLine
from cwndlab.figures.box import Sample, draw_box
from cwndlab.figures.cdf import Curve, draw_cdf
from cwndlab.figures.fairness import draw_fairness
from cwndlab.figures.heatmap import draw_heatmap
from cwndlab.figures.pareto import draw_pareto
from cwndlab.figures.timeseries import draw_timeseries
from cwndlab.summary import Measure, components
from cwndlab.tables.columns import titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from cwndlab.detail import Distribution
    from cwndlab.pareto import Point
    from cwndlab.result import Result
    from cwndlab.swept import Sweep

    # Results and what tells them apart; a lone result has an empty label.
    Labelled = Sequence[tuple[str, Result]]


def series(result: Result, *, styled: bool = True) -> Figure:
    """Window, RTT, goodput and queue over time, of the first recorded seed."""
    for run in result.runs:
        if run.recording is not None:
            senders = [*run.outcome["flows"], *components(run.outcome, "subflow")]
            algorithms = {sender["name"]: sender["cc"] for sender in senders}
            return draw_timeseries(
                run.recording, f"{result.name} (seed {run.seed})", algorithms, styled=styled
            )
    raise InputError('no finished run was recorded; run with record="first" or "all"')


def cdf(results: Labelled, measure: str, *, styled: bool = True) -> Figure:
    """The distribution of a measure of each component, over all seeds."""
    curves = [curve for label, result in results for curve in _curves(label, result, measure)]
    if not curves:
        known = dict.fromkeys(each.measure for _, result in results for each in _distributions(result))
        raise InputError(f"no distribution of {measure!r}; there are: {', '.join(known) or 'none'}")
    return draw_cdf(curves, titled(measure).heading, _title(results), styled=styled)


def box(results: Labelled, measure: str, *, styled: bool = True) -> Figure:
    """A measure of each flow over the seeds (of each group or link if it is one of theirs)."""
    column = titled(measure)
    samples = [
        Sample(_joined(label, name), column.scale * np.array(values))
        for label, result in results
        for name, values in _by_component(result, measure).items()
    ]
    if not samples:
        raise InputError(f"no flow, group or link has the measure {measure!r}")
    return draw_box(samples, column.heading, _title(results), styled=styled)


def fairness(results: Labelled, *, styled: bool = True) -> Figure:
    """Jain's index over time; mean over the seeds with its 95 % interval."""
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


def pareto(points: Sequence[Point], name: str, link: str | None, *, styled: bool = True) -> Figure:
    """Goodput of all flows against the queueing delay of the link."""
    xlabel = f"queueing delay of link {link} (ms)"
    return draw_pareto(points, xlabel, "goodput of all flows (Mbit/s)", name, styled=styled)


def heatmap(sweep: Sweep, measure: str, *, styled: bool = True) -> Figure:
    """A total over the last axis (columns) and the others (rows)."""
    column = titled(measure)
    rows, columns, cells = heat_cells(sweep, measure)
    *others, last = (axis.key for axis in sweep.axes)
    what = f"{column.title} of link {sweep.link}" if "queue" in measure else column.title
    label = f"{what} ({column.unit})" if column.unit else what
    return draw_heatmap(rows, columns, cells, label, ", ".join(others), last, sweep.name, styled=styled)


def heat_cells(sweep: Sweep, measure: str) -> tuple[list[str], list[str], list[list[Measure]]]:
    """Names of rows and columns, and the totals; a point that was not run has no value."""
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


def _curves(label: str, result: Result, measure: str) -> Iterator[Curve]:
    parts: dict[str, list[Distribution]] = {}
    for each in _distributions(result):
        if each.measure == measure:
            parts.setdefault(each.name, []).append(each)
    for name, found in parts.items():
        middles = np.concatenate([each.middle for each in found])
        counts = np.concatenate([each.count for each in found])
        yield Curve(_joined(label, name), middles, counts)


def _distributions(result: Result) -> Iterator[Distribution]:
    return (each for run in result.runs for each in run.detail.distributions)


def _by_component(result: Result, measure: str) -> dict[str, list[float]]:
    """The values of each flow, group or link that has the measure: those of the first kind that does."""
    for kind in ("flows", "groups", "links"):
        values: dict[str, list[float]] = {}
        for component in (each for run in result.runs for each in run.outcome.get(kind) or []):
            if component.get(measure) is not None:
                values.setdefault(component["name"], []).append(component[measure])
        if values:
            return values
    return {}
