"""Says what follows for a claim from its outcomes in all readings that were tried."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cwndlab.papers.judging.verdict import CUT, Lean, Outcome
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.contents.paper import Claim
    from cwndlab.papers.judging.evaluation import Evaluated, JudgedClaim
    from cwndlab.papers.judging.gate import Gate


class Verdict(StrEnum):
    """The verdict on a claim of a paper."""

    REPRODUCED = "reproduced"
    SUPPORTED = "supported"
    DEPENDS = "depends"
    REFUTED = "refuted"
    NOT_IDENTIFIED = "set-up not identified"
    UNDECIDED = "undecided"
    UNAVAILABLE = "unavailable"


MEANING = {
    Verdict.REPRODUCED: (
        "the claim agrees in size under the defaults, and fails in no reading that passes the gate"
    ),
    Verdict.SUPPORTED: "the claim holds under the defaults, and fails in no reading that passes the gate",
    Verdict.DEPENDS: "the claim holds in some readings that pass the gate and fails in others",
    Verdict.REFUTED: (
        "the same part of the claim fails in every reading that passes the gate, and every answer was tried "
        "(`--full`)"
    ),
    Verdict.NOT_IDENTIFIED: "no reading that was tried gives the numbers of the paper's own baselines",
    Verdict.UNDECIDED: "none of the others",
    Verdict.UNAVAILABLE: "not run; the evidence gives the reason",
}


def as_the_defaults(defaults: JudgedClaim, judged: JudgedClaim) -> JudgedClaim:
    """Return a claim as the defaults judge it if an answer changes none of its values, else as it was judged.

    Otherwise fewer seeds of the same runs would count as another reading: with ten seeds, Q26 of han2024 held
    under six answers that change nothing in its experiment, and with twenty the defaults leave it open.
    """
    pairs = [
        (of_defaults.estimate, part.estimate)
        for of_defaults, part in zip(defaults.parts, judged.parts, strict=True)
    ]
    unchanged = all(
        known is not None and own is not None and own.values == known.values[: own.n] for known, own in pairs
    )
    return defaults if unchanged else judged


@dataclass(frozen=True)
class ReadingOutcome:
    """A claim in one reading, with whether the reading passes the paper's gate."""

    evaluated: Evaluated
    judged: JudgedClaim

    @property
    def outcome(self) -> Outcome:
        """What becomes of the claim in this reading."""
        return self.judged.outcome

    @property
    def passes(self) -> bool:
        """Whether the reading gives the numbers of the paper's own baselines."""
        return self.evaluated.passes(self.judged.claim.id)

    @property
    def gate(self) -> Gate:
        """The baselines that this claim needs."""
        return self.evaluated.gate.of(self.judged.claim.id)

    @property
    def answer(self) -> str:
        """The answer that makes the reading differ from the defaults."""
        return " and ".join(map(str, self.evaluated.reading.answers)) or "the defaults"


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim with its outcome in each reading; the defaults come first.

    `untried` is the number of answers to the paper's open points that no reading tried alone, `unjudged` that
    of those under which the claim could not be judged: runs are missing, or the events that it is about.
    """

    claim: Claim
    readings: list[ReadingOutcome]
    untried: int = 0
    unjudged: int = 0

    @property
    def defaults(self) -> ReadingOutcome:
        """The claim under the defaults."""
        return self.readings[0]

    @property
    def passing(self) -> list[ReadingOutcome]:
        """The readings that pass the gate and were run."""
        return [each for each in self.readings if each.passes and each.outcome is not Outcome.MISSING]

    @property
    def verdict(self) -> Verdict:
        """The verdict over all readings."""
        if all(each.outcome is Outcome.MISSING for each in self.readings):
            return Verdict.UNAVAILABLE
        if all(each.evaluated.reading.fitted for each in self.passing):
            return Verdict.NOT_IDENTIFIED
        if self.fails_so_far or self.fails_by_turns:
            return Verdict.UNDECIDED
        return _over([each.outcome for each in self.passing], self._default_outcome())

    @property
    def fails_so_far(self) -> bool:
        """Whether the claim fails in every reading that counts, while some answers were not tried or judged.

        One more answer can save it: in cho2024, 4 answers of 20 refuted Q18, and a fifth left it open.
        """
        outcomes = {each.outcome for each in self.passing}
        return self.untried + self.unjudged > 0 and outcomes == {Outcome.FAILS}

    @property
    def fails_by_turns(self) -> bool:
        """Whether the claim fails in every reading that counts, but no part of it does.

        Its parts then depend on the answers, and a combination that was not tried may save all of them: in
        Q22 of seo2022, one part fails in 52 of 54 readings and holds in one, the other holds in 10.
        """
        if {each.outcome for each in self.passing} != {Outcome.FAILS}:
            return False
        parts = zip(*(each.judged.parts for each in self.passing), strict=True)
        return not any(all(part.outcome is Outcome.FAILS for part in each) for each in parts)

    def _default_outcome(self) -> Outcome:
        """Return the outcome under the defaults, or in the first passing reading if they miss the gate.

        A reading that was fitted to the paper comes after all others and does not stand in for the defaults.
        """
        return self.defaults.outcome if self.defaults.passes else self.passing[0].outcome

    @property
    def lean(self) -> Lean:
        """What the defaults suggest. If they miss the paper's baselines, they say nothing about the claim."""
        return self.defaults.judged.lean if self.defaults.passes else Lean.NEITHER

    @property
    def no_lean_because(self) -> str | None:
        """Why a claim that was run leans to neither side."""
        gate = self.defaults.gate
        if self.defaults.passes or self.defaults.outcome is Outcome.MISSING:
            return self.defaults.judged.no_lean_because
        if any(each.missing == CUT for each in gate.missed):
            return CUT
        of = counted(len(gate.checked), "baseline")
        return f"the defaults miss {len(gate.missed)} of {of} of the paper"

    @property
    def holds_if(self) -> list[str]:
        """The answers under which the claim holds, if it does not hold under all that pass the gate."""
        return self._answers(Outcome.HOLDS, Outcome.AGREES)

    @property
    def fails_if(self) -> list[str]:
        """The answers under which the claim fails."""
        return self._answers(Outcome.FAILS)

    def _answers(self, *outcomes: Outcome) -> list[str]:
        found = [each.answer for each in self.passing if each.outcome in outcomes]
        return found if len(found) < len(self.passing) else []


def _over(outcomes: Sequence[Outcome], default: Outcome) -> Verdict:
    fails = Outcome.FAILS in outcomes
    holds = Outcome.HOLDS in outcomes or Outcome.AGREES in outcomes
    if fails and all(outcome is Outcome.FAILS for outcome in outcomes):
        return Verdict.REFUTED
    if fails and holds:
        return Verdict.DEPENDS
    if not fails and default is Outcome.AGREES:
        return Verdict.REPRODUCED
    if not fails and default is Outcome.HOLDS:
        return Verdict.SUPPORTED
    return Verdict.UNDECIDED
