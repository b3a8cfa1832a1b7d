"""The tables of the choices of a sweep over its conditions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cwndlab.output.tables.block import Block, Row
from cwndlab.output.tables.columns import Column, titled
from cwndlab.results.conditions import best_on_average
from cwndlab.scenarios.axis import WITH
from cwndlab.statistics.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.conditions import OverConditions
    from cwndlab.results.sweep import Sweep
    from cwndlab.scenarios.axis import Axis

# The totals that the tables show beside the one that is to be best.
SHOWN = ("goodput_mbps", "queue_delay_ms", "queue_delay_p95_ms")
# The keys of their other columns.
RANK, FIRSTS, FROM_BEST, LOWEST, HIGHEST = "rank", "firsts", "from best", "lowest ", "highest "


def choices_blocks(sweep: Sweep, best: str) -> list[Block]:
    """Return the tables of the choices, one row each, in the order of their mean ranks by the total `best`.

    The first table has this total, the second one the others.
    """
    count = len(sweep.conditions)
    first = best_on_average(sweep.choices, best)
    ordered = sorted(enumerate(sweep.choices), key=lambda each: _or_last(each[1].rank(best).mean))
    judged, others = [], []
    for index, choice in ordered:
        labels = tuple(choice.settings.values())
        measures = {
            FROM_BEST: choice.beside(first or choice, best),
            RANK: _plain(choice.rank(best).mean, choice.rank(best).n),
            FIRSTS: _plain(choice.firsts.get(best), count),
            **dict(_mean_and_range(choice, best)),
        }
        judged.append(Row(labels, measures, anchor=anchor(index)))
        rest = (pair for key in SHOWN for pair in _mean_and_range(choice, key))
        others.append(Row(labels, dict(rest)))
    headings = tuple(map(heading, sweep.axes))
    columns = [*_columns(best), *(_comparing(count) if len(ordered) > 1 else ())]
    more = [column for key in SHOWN if key != best for column in _columns(key)]
    return [
        Block(headings, judged, columns, count).measured(),
        Block(headings, others, more, count).measured(),
    ]


def heading(axis: Axis) -> str:
    """Return the keys of an axis, one on each line."""
    return axis.key.replace(WITH, f"{WITH}\n")


def anchor(index: int) -> str:
    """Return the anchor of a choice in the report."""
    return f"choice-{index + 1}"


def _columns(key: str) -> Iterator[Column]:
    known = titled(key)
    yield known
    for end in (LOWEST, HIGHEST):
        yield Column(end + key, end.strip(), known.unit, known.scale)


def _comparing(count: int) -> Iterator[Column]:
    yield Column(
        *(FROM_BEST, "from the best", "%", 100),
        signed=True,
        counted=False,
        meaning="difference from the choice with the best mean, as a share of it in each condition",
    )
    yield Column(RANK, "mean rank", meaning="mean over the conditions of the rank in each; 1 is the best")
    yield Column(
        FIRSTS, "best in", f"of {count}", meaning="conditions in which no other choice has a better mean"
    )


def _mean_and_range(choice: OverConditions, key: str) -> Iterator[tuple[str, Measure]]:
    """Yield the mean over the conditions and the ends of their range. No interval: they are no sample."""
    over = choice.mean(key)
    for name, value in (("", over.mean), (LOWEST, over.low), (HIGHEST, over.high)):
        yield name + key, _plain(value, over.n)


def _plain(value: float | None, n: int) -> Measure:
    """Return a value without an interval."""
    return Measure(value, None, n)


def _or_last(rank: float | None) -> float:
    return math.inf if rank is None else rank
