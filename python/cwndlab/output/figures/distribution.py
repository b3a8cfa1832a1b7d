"""Distributions: the share of samples at or below each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.output.charts import Series, Spot, TimeChart
from cwndlab.output.charts.spans import is_wide, log_span, readable, span
from cwndlab.output.figures.content import NoContentError
from cwndlab.output.tables.columns import titled
from cwndlab.results.comparison import ALONE
from cwndlab.results.crowd import MANY
from cwndlab.results.summary import components

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from cwndlab.output.charts.names import Names
    from cwndlab.results.detail import Distribution
    from cwndlab.results.recording import Column
    from cwndlab.results.result import Result

    # Results with their labels. A single result has an empty label.
    Labelled = Sequence[tuple[str, Result]]

# The shares with a mark.
MARKED = (0.5, 0.95)
# Values that span this factor or more are drawn on a logarithmic axis.
WIDE = 100.0
# Such an axis begins at most so far below the largest value: rounding leaves queueing delays of a nanosecond.
FARTHEST = 1e4


def distribution(
    results: Labelled,
    measure: str,
    names: Names,
    *,
    most: int = MANY,
    counts: Callable[[Distribution], bool] = lambda _: True,
) -> TimeChart:
    """Return the distribution of a measure for each component, over all seeds, in steps.

    More than `most` components are joined. The axis of values is logarithmic if they span two decades or
    more. It has no zero, so a curve then enters at the left edge, at the share of what lies below.
    """
    beside = bystanders(results)
    curves = [
        curve
        for label, result in results
        for curve in distributed(label, result, measure, names, beside, most=most, counts=counts)
    ]
    if not curves:
        known = dict.fromkeys(each.measure for _, result in results for each in _distributions(result))
        if not known:
            raise NoContentError("the result has no distributions")
        raise InputError(f"expected a distribution ({', '.join(known)}), found {measure!r}")
    column = titled(measure)
    every = np.unique(np.concatenate([middles for _, middles, _ in curves]))
    factor, unit = readable(column.unit, every.tolist())
    positive = every[(every > 0) & (every >= every[-1] / FARTHEST)]
    is_log = bool(np.all(every >= 0)) and is_wide(positive.tolist(), WIDE)
    ends = log_span((factor * positive).tolist()) if is_log else span((factor * every).tolist())
    values = positive if is_log else every
    # The curves begin at the left edge, or with a rise from 0 at the least value.
    first = ends[0] / factor if is_log and ends is not None else values[0]
    grid = np.concatenate([[first], values])
    lines = [_line(name, grid, middles, weights, factor) for name, middles, weights in curves]
    return TimeChart(
        f"distribution of the {column.title}",
        column.title,
        "share of samples",
        (factor * grid).tolist(),
        lines,
        (),
        unit,
        x_span=ends,
        y_span=(0.0, 1.02),
        log_x=is_log,
        steps=True,
        spot_label="median and 95th percentile",
    )


def _line(name: str, grid: Column, middles: Column, weights: Column, factor: float) -> Series:
    counted = np.isfinite(middles) & (weights > 0)
    order = np.argsort(middles[counted])
    ordered, sums = middles[counted][order], np.cumsum(weights[counted][order])
    if not len(ordered):
        return Series(f"{name} (no samples)", [None] * len(grid))
    shares = np.concatenate([[0.0], sums])[np.searchsorted(ordered, grid, side="right")] / sums[-1]
    if grid[0] == grid[1]:
        shares[0] = 0.0
    places = np.minimum(np.searchsorted(sums / sums[-1], MARKED), len(ordered) - 1)
    remark = "" if np.any(ordered) else " (all 0)"
    marks = zip(ordered[places].tolist(), MARKED, strict=True)
    spots = [Spot(factor * x, share) for x, share in marks if x >= grid[0]]
    return Series(name + remark, shares.tolist(), None, spots)


def distributed(
    label: str,
    result: Result,
    measure: str,
    names: Names,
    beside: Container[str],
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
            together: [each for name in members for each in parts[name]]
            for together, members in together_by_algorithm(result, kinds).items()
        }
    algorithms = senders(result)
    for name, found in parts.items():
        middles = np.concatenate([each.middle for each in found])
        weights = np.concatenate([each.count for each in found])
        yield named(label, name, algorithms.get(name), names, beside), middles, weights


def named(label: str, name: str, algorithm: str | None, names: Names, beside: Container[str]) -> str:
    """Return the name of a component in a chart, with the label of its variant or with its algorithm.

    A flow that does not run the algorithm of its variant is `beside` it.
    """
    if not label:
        return names.flow(name, algorithm)
    if name not in beside:
        return f"{names(name)}: {names(label)}"
    return f"{names(name)} {label}" if label == ALONE else f"{names(name)} beside {names(label)}"


def bystanders(results: Labelled) -> set[str]:
    """Return the flows and groups that run the same algorithm in all results while others change theirs."""
    algorithms = [senders(result) for _, result in results if result.runs]
    known: dict[str, set[str]] = {}
    for found in algorithms:
        for name, algorithm in found.items():
            known.setdefault(name, set()).add(algorithm)
    same = {name for name, found in known.items() if len(found) == 1}
    return same if len(same) < len(known) else set()


def senders(result: Result) -> dict[str, str]:
    """Return the algorithms of all flows, subflows and groups, by name."""
    first = result.runs[0].outcome
    every = [*first["flows"], *components(first, "subflow"), *(first.get("groups") or [])]
    return {sender["name"]: sender["cc"] for sender in every}


def together_by_algorithm(result: Result, kinds: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the components of each algorithm and kind, under a common label such as `5000 cubic flows`."""
    algorithms = senders(result)
    found: dict[tuple[str, str], list[str]] = {}
    for name, kind in kinds.items():
        found.setdefault((algorithms.get(name, ""), kind), []).append(name)
    return {
        f"{len(members)} {f'{algorithm} {kind}'.strip()}s": members
        for (algorithm, kind), members in found.items()
    }


def _distributions(result: Result) -> Iterator[Distribution]:
    return (each for run in result.runs for each in run.detail.distributions)
