"""Computes verdicts from estimates, by fixed rules.

`MEANING` defines each verdict. The strongest one that holds is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cwndlab.papers.contents.paper import Expect, Part
from cwndlab.statistics.estimate import Estimate, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNIFICANT = 0.05


class Verdict(StrEnum):
    """The verdict on a claim."""

    REFUTED = "refuted"
    REPRODUCED = "reproduced"
    SUPPORTED = "supported"
    UNDECIDED = "undecided"
    UNAVAILABLE = "unavailable"


MEANING = {
    Verdict.REPRODUCED: (
        "supported, and the whole interval lies between half and twice the paper's effect, or is narrower "
        "than that effect and contains it"
    ),
    Verdict.SUPPORTED: (
        "the 95 % interval of the effect, paired by seed, lies entirely on the claimed side, and the test is "
        "significant at 0.05 after Holm's correction over the claims of the paper (for sameness, both "
        "one-sided tests are)"
    ),
    Verdict.REFUTED: (
        "the 95 % interval lies entirely outside the claim (its direction, bound, margin or range); this is "
        "not corrected for the number of claims"
    ),
    Verdict.UNDECIDED: "none of the others",
    Verdict.UNAVAILABLE: "not run; the evidence gives the reason",
}


@dataclass(frozen=True)
class Examined:
    """A part of a claim with its estimate, or the reason why there is none."""

    part: Part
    estimate: Estimate | None
    missing: str | None = None


@dataclass(frozen=True)
class Judged:
    """A part with its verdict. `p` is the p value after Holm's correction."""

    part: Part
    estimate: Estimate | None
    verdict: Verdict
    p: float | None
    reason: str | None = None


def judge(tested: Sequence[Examined]) -> list[Judged]:
    """Judge the parts of all claims of a paper together: Holm's correction is over all tested parts."""
    available = [index for index, each in enumerate(tested) if each.estimate is not None]
    p_values = [p_value(tested[index].part, tested[index].estimate) for index in available]
    adjusted = dict(zip(available, holm(p_values), strict=True))
    return [_judge(each, adjusted.get(index)) for index, each in enumerate(tested)]


def claim_verdict(parts: Sequence[Judged]) -> Verdict:
    """Return the verdict of a claim: all parts must hold, and one refuted part refutes it.

    A claim is reproduced if the paper has a number for some part, and all such parts are reproduced.
    """
    verdicts = {part.verdict for part in parts}
    for weakest in (Verdict.REFUTED, Verdict.UNAVAILABLE, Verdict.UNDECIDED):
        if weakest in verdicts:
            return weakest
    numbered = [part.verdict for part in parts if part.part.paper is not None]
    if numbered and all(verdict is Verdict.REPRODUCED for verdict in numbered):
        return Verdict.REPRODUCED
    return Verdict.SUPPORTED


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


def _judge(tested: Examined, p: float | None) -> Judged:
    part, estimate = tested.part, tested.estimate
    if estimate is None or p is None:
        return Judged(part, None, Verdict.UNAVAILABLE, None, tested.missing)
    verdict = _verdict(part, estimate, p)
    reason = None
    if estimate.n < 2:
        reason = "one seed gives no interval"
    elif verdict is Verdict.UNDECIDED and _lies_inside(part, estimate) and p > SIGNIFICANT:
        reason = "significant on its own, but not after Holm's correction"
    return Judged(part, estimate, verdict, p, reason)


def _verdict(part: Part, estimate: Estimate, p: float) -> Verdict:
    if _lies_outside(part, estimate):
        return Verdict.REFUTED
    holds = p <= SIGNIFICANT and (_is_sameness(part) or _lies_inside(part, estimate))
    if not holds:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if _agrees(part, estimate) else Verdict.SUPPORTED


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
