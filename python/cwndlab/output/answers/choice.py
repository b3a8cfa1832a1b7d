"""Which of several variants to take, and which others cannot be told from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from cwndlab.results.totals import total
from cwndlab.statistics.measure import Measure, measure, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.output.answers.goal import Goal, Limit
    from cwndlab.results.result import Result

# A variant that comes as near as this to the best goodput may be worth more for its shorter delay.
NEARLY = 0.95
COST = "queue_delay_ms"
# Means that agree to this many decimals are the same.
SAME_DIGITS = 6


@dataclass(frozen=True)
class Candidate:
    """A variant with its totals in each seed, or its means in each condition."""

    label: str
    rows: Mapping[int, Mapping[str, float | None]]
    # How often its intervals were looked at before seeds were no longer added.
    looks: int = field(default=1, kw_only=True)

    @cached_property
    def totals(self) -> dict[str, Measure]:
        """The mean of each total."""
        keys = next(iter(self.rows.values()), {})
        return {key: measure(row[key] for row in self.rows.values()).widened(self.looks) for key in keys}

    def mean(self, key: str) -> float | None:
        """The mean of a total."""
        return self.totals[key].mean if key in self.totals else None

    def keeps(self, limit: Limit) -> bool:
        """Whether its mean keeps a limit."""
        return limit.admits(self.totals[limit.key])

    def less(self, other: Candidate, key: str) -> Measure:
        """A total of this less that of another, paired."""
        shared = [each for each in self.rows if each in other.rows]
        these, those = ([each.rows[place][key] for place in shared] for each in (self, other))
        return paired_difference(these, those).widened(self.looks)


@dataclass(frozen=True)
class Choice:
    """The best of some variants for a goal."""

    goal: Goal
    candidates: Sequence[Candidate]

    @cached_property
    def eligible(self) -> list[Candidate]:
        """Those that keep all limits and have a value."""
        return [
            each
            for each in self.candidates
            if each.mean(self.goal.best) is not None and all(map(each.keeps, self.goal.limits))
        ]

    @cached_property
    def best(self) -> Candidate | None:
        """The one with the best mean; of several, the one with the shortest queueing delay."""
        return max(self.eligible, key=self._merit, default=None)

    def _merit(self, each: Candidate) -> tuple[float, float]:
        sign = 1 if self.goal.more_is_better else -1
        cost = each.mean(COST)
        return round(sign * (each.mean(self.goal.best) or 0.0), SAME_DIGITS), -inf if cost is None else -cost

    @cached_property
    def as_good(self) -> list[Candidate]:
        """The others whose difference from the best, paired, has an interval that contains zero."""
        best = self.best
        if best is None:
            return []
        others = (each for each in self.eligible if each is not best)
        return [each for each in others if not best.less(each, self.goal.best).excludes_zero]

    @cached_property
    def behind(self) -> list[Candidate]:
        """The others whose difference from the best is shown."""
        return [each for each in self.eligible if each is not self.best and each not in self.as_good]

    @property
    def is_untested(self) -> bool:
        """Whether a difference would need more seeds."""
        return bool(self.as_good) and any(len(each.rows) < 2 for each in self.eligible)

    @cached_property
    def cheaper(self) -> Candidate | None:
        """Of those with nearly the best goodput, the one with the shortest queueing delay, if it differs."""
        best = self.best
        if best is None or self.goal.best != "goodput_mbps" or best.mean(COST) is None:
            return None
        enough = NEARLY * (best.mean("goodput_mbps") or 0.0)
        near = [
            each
            for each in self.eligible
            if (each.mean("goodput_mbps") or 0.0) >= enough and each.mean(COST) is not None
        ]
        found = min(near, key=lambda each: each.mean(COST) or 0.0)
        return found if found is not best and best.less(found, COST).excludes_zero else None


def candidate(label: str, result: Result, link: str | None, looks: int = 1) -> Candidate:
    """Return a result as a candidate, with the queue of this link."""
    return Candidate(label, {run.seed: total(run.outcome, link) for run in result.runs}, looks=looks)
