"""Which of several variants to take, and which others cannot be told from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, ClassVar

from cwndlab.results.totals import total
from cwndlab.statistics.measure import Measure, measure, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.output.answers.goal import Goal, Limit
    from cwndlab.results.result import Result

# A variant that comes as near as this to the best goodput may be worth more for its shorter delay.
NEARLY = 0.95
# A smaller share of the best value is no reason to choose, even if the difference is shown.
NEAR = 0.01
COST = "queue_delay_ms"
DELAYS = (COST, "queue_delay_p95_ms", "rtt_ms")
# Means that agree to this many decimals are the same.
SAME_DIGITS = 6


@dataclass(frozen=True)
class Candidate:
    """A variant with its totals in each seed, or its means in each condition."""

    label: str
    rows: Mapping[int, Mapping[str, float | None]]
    # How often its intervals were looked at before seeds were no longer added.
    looks: int = field(default=1, kw_only=True)

    # What has to be said of `share_less`.
    of_share: ClassVar[str] = ""

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

    def share_less(self, other: Candidate, key: str) -> Measure:
        """What `less` returns as a share of its own mean; without a value if this is 0."""
        scale = abs(self.mean(key) or 0.0)
        return self.less(other, key).scaled(1 / scale) if scale else Measure(None, None, 0)


@dataclass(frozen=True)
class Choice:
    """The best of some variants for a goal."""

    goal: Goal
    candidates: Sequence[Candidate]
    # The share of the best value below which a difference is no reason to choose.
    least: float = NEAR

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
    def _others(self) -> list[Candidate]:
        """Those that are not the best, best first."""
        return sorted(
            (each for each in self.eligible if each is not self.best), key=self._merit, reverse=True
        )

    @cached_property
    def near(self) -> list[Candidate]:
        """The others that are as good but for a very small share, whether or not this difference is shown."""
        return [each for each in self._others if self._is_near(each)]

    def _is_near(self, other: Candidate) -> bool:
        share = self.best.share_less(other, self.goal.best) if self.best is not None else None
        if share is None or share.mean is None or share.n < 2:
            return False
        low, high = share.interval or (share.mean, share.mean)
        # A difference that is not shown may be larger than its mean.
        reach = abs(share.mean) if share.excludes_zero else max(-low, high)
        return reach < self.least

    @cached_property
    def as_good(self) -> list[Candidate]:
        """The others whose difference from the best, paired, has an interval that contains zero."""
        best = self.best
        if best is None:
            return []
        others = (each for each in self._others if each not in self.near)
        return [each for each in others if not best.less(each, self.goal.best).excludes_zero]

    @cached_property
    def behind(self) -> list[Candidate]:
        """The others whose difference from the best is shown and matters."""
        return [each for each in self._others if each not in self.near and each not in self.as_good]

    @cached_property
    def near_delays(self) -> tuple[Candidate, Candidate] | None:
        """Of the best and those near it, the ones with the shortest and the longest queueing delay.

        None if these hardly differ, or if what is wanted is itself a delay.
        """
        group = [each for each in (self.best, *self.near) if each is not None]
        if len(group) < 2 or self.goal.best in DELAYS or any(each.mean(COST) is None for each in group):
            return None
        shortest, *_, longest = sorted(group, key=lambda each: each.mean(COST) or 0.0)
        is_apart = (shortest.mean(COST) or 0.0) < NEARLY * (longest.mean(COST) or 0.0)
        return (shortest, longest) if is_apart and longest.less(shortest, COST).excludes_zero else None

    @property
    def is_untested(self) -> bool:
        """Whether a difference would need more seeds."""
        return bool(self.as_good) and all(len(each.rows) < 2 for each in self.eligible)

    @cached_property
    def cheaper(self) -> Candidate | None:
        """Of those with nearly the best goodput, the one with the shortest queueing delay, if it differs.

        None if the sentence about those near the best already says so.
        """
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
        if found is best or (self.near_delays is not None and found is self.near_delays[0]):
            return None
        return found if best.less(found, COST).excludes_zero else None


def candidate(label: str, result: Result, link: str | None, looks: int = 1) -> Candidate:
    """Return a result as a candidate, with the queue of this link."""
    return Candidate(label, {run.seed: total(run.outcome, link) for run in result.runs}, looks=looks)
