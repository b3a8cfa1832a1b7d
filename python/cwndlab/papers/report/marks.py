"""The signs and colours of verdicts and outcomes in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.judging.verdict import Lean, Outcome

if TYPE_CHECKING:
    from cwndlab.output.html import Mark

VERDICT_MARKS: dict[Verdict, Mark] = {
    Verdict.REPRODUCED: "reproduced",
    Verdict.SUPPORTED: "supported",
    Verdict.DEPENDS: "undecided",
    Verdict.REFUTED: "refuted",
    Verdict.NOT_IDENTIFIED: "undecided",
    Verdict.UNDECIDED: "undecided",
    Verdict.UNAVAILABLE: "unavailable",
}
OUTCOME_MARKS: dict[Outcome, Mark] = {
    Outcome.AGREES: "reproduced",
    Outcome.HOLDS: "supported",
    Outcome.FAILS: "refuted",
    Outcome.OPEN: "undecided",
    Outcome.MISSING: "unavailable",
}


def verdict_cell(verdict: Verdict) -> Cell:
    """Return a verdict with its mark. Verdicts sort in their own order."""
    return Cell(verdict.value, sort=list(Verdict).index(verdict), mark=VERDICT_MARKS[verdict])


def outcome_cell(outcome: Outcome) -> Cell:
    """Return an outcome with its mark. Outcomes sort in their own order."""
    return Cell(outcome.value, sort=list(Outcome).index(outcome), mark=OUTCOME_MARKS[outcome])


def lean_cell(lean: Lean) -> Cell:
    """Return a lean. It has no mark, because it is no verdict."""
    return Cell(lean.value, sort=list(Lean).index(lean))
