"""The charts of a report that depend on what a result has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.charts.names import Names
from cwndlab.output.figures import over_time
from cwndlab.output.figures.content import NoContentError
from cwndlab.output.figures.distribution import distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.charts import TimeChart
    from cwndlab.results.detail import Distribution
    from cwndlab.results.result import Result

    Labelled = Sequence[tuple[str, Result]]

DISTRIBUTIONS = ("rtt_ms", "queue_delay_ms", "completion_ms")


def fairness(results: Labelled) -> TimeChart | None:
    """Return Jain's index over time; None if no two flows ran at the same time."""
    try:
        return over_time.fairness(results, Names())
    except NoContentError:
        return None


def distributions(results: Labelled) -> Iterator[TimeChart]:
    """Yield the distributions that have a curve, and no more of them than can be told apart."""
    measured = {
        each.measure
        for _, result in results
        for run in result.runs
        for each in run.detail.distributions
        if _is_shown(each)
    }
    for key in DISTRIBUTIONS:
        if key in measured:
            chart = distribution(results, key, Names(), most=MAX_LINES, counts=_is_shown)
            if len(chart.series) <= MAX_LINES:
                yield chart


def _is_shown(component: Distribution) -> bool:
    return not component.name.endswith((".access", ".back"))
