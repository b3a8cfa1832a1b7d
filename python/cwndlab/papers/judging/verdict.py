"""Judges the parts of claims from their estimates, by fixed rules, within one reading of a paper.

A part holds, fails, or stays open at each look at the seeds. `judging.readings` then says what
follows for a claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cwndlab.papers.contents.cells import QUICK_S
from cwndlab.papers.contents.paper import Expect, Part
from cwndlab.statistics.estimate import Estimate, holm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The level of the last look at the seeds, and of each look before it (Haybittle 1971, Peto et al. 1976):
# early looks are so strict that they hardly add to the error of the last one.
SIGNIFICANT = 0.05
EARLY = 0.001
# With fewer seeds than the first look has, an effect that is the same in each may be so by chance.
FEWEST_SAME = 5
CUT = f"runs cut to {QUICK_S} s measure something else"


class Outcome(StrEnum):
    """What becomes of a part, or of a claim, in one reading."""

    AGREES = "agrees"
    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"
    MISSING = "not run"


OUTCOMES = {
    Outcome.AGREES: (
        "holds, and the whole interval lies between half and twice the paper's effect, or is narrower than "
        "that effect and contains it"
    ),
    Outcome.HOLDS: (
        "the 95 % interval of the effect, paired by seed, lies entirely on the claimed side, and the test is "
        "significant after Holm's correction over the claims of the paper (for sameness, both one-sided "
        "tests are, and the interval may reach beyond the margin)"
    ),
    Outcome.FAILS: (
        "the 95 % interval lies entirely outside the claim (its direction, bound, margin or range), and the "
        "test against the claim is significant after Holm's correction over the claims of the paper"
    ),
    Outcome.OPEN: "neither",
    Outcome.MISSING: "not run; the evidence gives the reason",
}


class Lean(StrEnum):
    """What a first look at few seeds suggests: the outcome that it has already. It decides nothing."""

    FOR = "leans for"
    AGAINST = "leans against"
    NEITHER = "no lean"


@dataclass(frozen=True)
class Examined:
    """A part of a claim with its estimate, or the reason why there is none.

    `is_last` is set if no more seeds can come; earlier looks decide at a stricter level. `is_cut` is set if
    the estimate comes from runs that `--quick` cut: it is shown, but stays open. `is_left_out` is set if the
    part could be tested but was not to be: the correction counts it all the same.
    """

    part: Part
    estimate: Estimate | None
    missing: str | None = None
    is_last: bool = True
    is_cut: bool = False
    is_left_out: bool = False

    @property
    def level(self) -> float:
        """The level at which this look decides."""
        return SIGNIFICANT if self.is_last else EARLY


@dataclass(frozen=True)
class Judged:
    """A part with its outcome.

    `p` is the p value for the claim and `p_against` the one against it, both after Holm's correction.
    """

    part: Part
    estimate: Estimate | None
    outcome: Outcome
    p: float | None
    p_against: float | None = None
    reason: str | None = None

    @property
    def is_decided(self) -> bool:
        """Whether more seeds are of no use."""
        return self.outcome is not Outcome.OPEN

    @property
    def lean(self) -> Lean:
        """What the part leans to: its outcome, unless the effect is the same in each of very few seeds."""
        known = self.estimate
        if known is None or (known.is_constant and known.n < FEWEST_SAME):
            return Lean.NEITHER
        match self.outcome:
            case Outcome.HOLDS | Outcome.AGREES:
                return Lean.FOR
            case Outcome.FAILS:
                return Lean.AGAINST
            case _:
                return Lean.NEITHER


def judge(tested: Sequence[Examined]) -> list[Judged]:
    """Judge the parts of all claims of a paper together.

    Holm's correction is over all parts that are tested or left out, for supporting and for refuting alike.
    """
    available = [i for i, each in enumerate(tested) if each.estimate is not None or each.is_left_out]
    for_it = _corrected(tested, available, p_value)
    against = _corrected(tested, available, p_value_against)
    return [_judge(each, for_it.get(index), against.get(index)) for index, each in enumerate(tested)]


def _corrected(
    tested: Sequence[Examined], available: Sequence[int], test: Callable[[Part, Estimate | None], float]
) -> dict[int, float]:
    p_values = [test(tested[index].part, tested[index].estimate) for index in available]
    return dict(zip(available, holm(p_values), strict=True))


def claim_outcome(parts: Sequence[Judged]) -> Outcome:
    """Return the outcome of a claim in one reading: all parts must hold, and one that fails breaks it.

    A claim agrees if the paper has a number for some part, and all such parts agree.
    """
    outcomes = {part.outcome for part in parts}
    for weakest in (Outcome.FAILS, Outcome.MISSING, Outcome.OPEN):
        if weakest in outcomes:
            return weakest
    numbered = [part.outcome for part in parts if part.part.paper is not None]
    if numbered and all(outcome is Outcome.AGREES for outcome in numbered):
        return Outcome.AGREES
    return Outcome.HOLDS


def p_value(part: Part, estimate: Estimate | None) -> float:
    """Return the p value of the test for the part's expectation.

    A direction gets a two-sided test, because its interval is two-sided. Sameness gets the larger p value of
    two one-sided tests.
    """
    if estimate is None:
        return 1.0
    low, high = bounds(part)
    if low is not None and high is not None:
        return max(estimate.p_above(low), estimate.p_below(high))
    one_sided = estimate.p_above(low) if low is not None else estimate.p_below(high or 0.0)
    return min(1.0, 2 * one_sided)


def p_value_against(part: Part, estimate: Estimate | None) -> float:
    """Return the two-sided p value of the test that the effect lies outside the part's expectation."""
    if estimate is None:
        return 1.0
    low, high = bounds(part)
    sides = [
        *([_p_not_above(part, estimate, low)] if low is not None else []),
        *([_p_not_below(part, estimate, high)] if high is not None else []),
    ]
    return min(1.0, 2 * min(sides))


def _p_not_above(part: Part, estimate: Estimate, low: float) -> float:
    # An effect of exactly zero in every seed contradicts a direction.
    if estimate.is_constant and _is_strict(part) and estimate.value == low:
        return 0.0
    return estimate.p_below(low)


def _p_not_below(part: Part, estimate: Estimate, high: float) -> float:
    if estimate.is_constant and _is_strict(part) and estimate.value == high:
        return 0.0
    return estimate.p_above(high)


def bounds(part: Part) -> tuple[float | None, float | None]:
    """Return the bounds of the effect, with None for no bound."""
    match part.expect:
        case Expect.POSITIVE:
            return 0.0, None
        case Expect.NEGATIVE:
            return None, 0.0
        case Expect.AT_LEAST:
            return part.value, None
        case Expect.AT_MOST:
            return None, part.value
        case Expect.SAME:
            margin = part.margin or 0.0
            return -margin, margin
        case Expect.BETWEEN:
            return part.low, part.high


def _judge(tested: Examined, p: float | None, p_against: float | None) -> Judged:
    part, estimate = tested.part, tested.estimate
    if estimate is None or p is None or p_against is None:
        return Judged(part, None, Outcome.MISSING, None, None, tested.missing)
    if tested.is_cut:
        return Judged(part, estimate, Outcome.OPEN, p, p_against, CUT)
    outcome = _outcome(part, estimate, p, p_against, tested.level)
    reason = None
    if estimate.n < 2:
        reason = "one seed gives no interval"
    elif outcome is Outcome.OPEN and tested.is_last:
        reason = _why_open(part, estimate)
    return Judged(part, estimate, outcome, p, p_against, reason)


def _why_open(part: Part, estimate: Estimate) -> str | None:
    alone = min(p_value(part, estimate), p_value_against(part, estimate)) <= SIGNIFICANT
    return "significant on its own, but not after Holm's correction" if alone else None


def _outcome(part: Part, estimate: Estimate, p: float, p_against: float, level: float) -> Outcome:
    if _lies_outside(part, estimate) and p_against <= level:
        return Outcome.FAILS
    if p > level or not (_is_sameness(part) or _lies_inside(part, estimate)):
        return Outcome.OPEN
    return Outcome.AGREES if _agrees(part, estimate) else Outcome.HOLDS


def _is_sameness(part: Part) -> bool:
    return part.expect in (Expect.SAME, Expect.BETWEEN)


def _lies_outside(part: Part, estimate: Estimate) -> bool:
    """Whether the whole interval contradicts the claim."""
    if estimate.low is None or estimate.high is None:
        return False
    low, high = bounds(part)
    below = low is not None and (estimate.high < low or (_is_strict(part) and estimate.high <= low))
    above = high is not None and (estimate.low > high or (_is_strict(part) and estimate.low >= high))
    return below or above


def _lies_inside(part: Part, estimate: Estimate) -> bool:
    """Whether the whole interval agrees with the claim."""
    if estimate.low is None or estimate.high is None:
        return False
    low, high = bounds(part)
    return (low is None or estimate.low > low) and (high is None or estimate.high < high)


def _is_strict(part: Part) -> bool:
    """Whether an effect of exactly zero contradicts the claim."""
    return part.expect in (Expect.POSITIVE, Expect.NEGATIVE)


def _agrees(part: Part, estimate: Estimate) -> bool:
    """Whether the interval agrees with the size of the paper's effect."""
    if part.paper is None or estimate.low is None or estimate.high is None:
        return False
    near, far = sorted((0.5 * part.paper, 2 * part.paper))
    if near <= estimate.low and estimate.high <= far:
        return True
    narrow = estimate.high - estimate.low < abs(part.paper)
    return narrow and estimate.low <= part.paper <= estimate.high
