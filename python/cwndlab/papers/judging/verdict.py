"""From estimates to verdicts, by fixed rules.

`MEANING` says what each is; the strongest that holds is given.
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
    """What becomes of a claim."""

    REFUTED = "refuted"
    REPRODUCED = "reproduced"
    SUPPORTED = "supported"
    UNDECIDED = "undecided"
    UNAVAILABLE = "unavailable"


MEANING = {
    Verdict.REPRODUCED: (
        "supported, and the whole interval lies between half and twice the paper's effect, or is narrower "
        "than that effect and holds it"
    ),
    Verdict.SUPPORTED: (
        "the 95 % interval of the effect, paired by seed, lies wholly on the claimed side, and its test "
        "stays significant after Holm's correction at 0.05 over the claims of the paper (of sameness: both "
        "tests do)"
    ),
    Verdict.REFUTED: (
        "the 95 % interval lies wholly outside of what is claimed; no correction and no tolerance hides that"
    ),
    Verdict.UNDECIDED: "the rest",
    Verdict.UNAVAILABLE: "not run, with the reason",
}


@dataclass(frozen=True)
class Examined:
    """A part of a claim with its estimate; or the reason why there is none."""

    part: Part
    estimate: Estimate | None
    missing: str | None = None


@dataclass(frozen=True)
class Judged:
    """A part with its verdict; `p` is the p value after Holm's correction."""

    part: Part
    estimate: Estimate | None
    verdict: Verdict
    p: float | None
    reason: str | None = None


def judge(tested: Sequence[Examined]) -> list[Judged]:
    """Judge the parts of all claims of a paper together: Holm's correction is over all that were tested."""
    available = [index for index, each in enumerate(tested) if each.estimate is not None]
    p_values = [p_value(tested[index].part, tested[index].estimate) for index in available]
    adjusted = dict(zip(available, holm(p_values), strict=True))
    return [_judge(each, adjusted.get(index)) for index, each in enumerate(tested)]


def claim_verdict(parts: Sequence[Judged]) -> Verdict:
    """What the parts come to: all must hold, and one that is refuted refutes the claim.

    A claim is reproduced if every part for which the paper has a number is, and one has.
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
    """The p value of the test that the part's expectation calls for.

    A direction has a two-sided test, as its interval is two-sided; sameness the larger of two one-sided ones.
    """
    if estimate is None:
        return 1.0
    low, high = bounds(part)
    if low is not None and high is not None:
        return max(estimate.p_above(low), estimate.p_below(high))
    one_sided = estimate.p_above(low) if low is not None else estimate.p_below(high or 0.0)
    return min(1.0, 2 * one_sided)


def bounds(part: Part) -> tuple[float | None, float | None]:
    """Between which values the effect must lie; None where there is no bound."""
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
        reason = "one seed says nothing about chance"
    elif verdict is Verdict.UNDECIDED and _lies_inside(part, estimate) and p > SIGNIFICANT:
        reason = "significant alone, but not after Holm's correction"
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
    """Whether an effect of exactly nothing contradicts the claim."""
    return part.expect in (Expect.POSITIVE, Expect.NEGATIVE)


def _agrees(part: Part, estimate: Estimate) -> bool:
    """Whether the interval agrees with the paper's effect d in size."""
    if part.paper is None or estimate.low is None or estimate.high is None:
        return False
    near, far = sorted((0.5 * part.paper, 2 * part.paper))
    if near <= estimate.low and estimate.high <= far:
        return True
    narrow = estimate.high - estimate.low < abs(part.paper)
    return narrow and estimate.low <= part.paper <= estimate.high
