"""The verdict on a claim from its outcomes in all readings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cwndlab.papers.judging.across import (
    MEANING,
    ClaimVerdict,
    ReadingOutcome,
    Verdict,
    as_the_defaults,
)
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.papers.table import conditions

AGREES, HOLDS, FAILS, OPEN, MISSING = Outcome


def claim(
    *readings: tuple[Outcome, bool],
    fitted: bool = False,
    untried: int = 0,
    parts: list[list[Outcome]] | None = None,
) -> ClaimVerdict:
    """A claim with these outcomes, and whether each reading passes the gate; the defaults come first.

    The last reading may be fitted to the paper. Without `parts`, the claim has one part.
    """
    found: list[Any] = [
        SimpleNamespace(
            passes=lambda _, passes=passes: passes,
            gate=SimpleNamespace(of=lambda _, passes=passes: SimpleNamespace(passes=passes)),
            reading=SimpleNamespace(
                answers=[f"A{index}: answer {index}"] if index else [],
                fitted=fitted and index == len(readings) - 1,
            ),
        )
        for index, (_, passes) in enumerate(readings)
    ]
    judged: list[Any] = [
        SimpleNamespace(
            outcome=outcome,
            claim=SimpleNamespace(id="Q1"),
            parts=[SimpleNamespace(outcome=each) for each in own],
        )
        for (outcome, _), own in zip(readings, parts or [[each] for each, _ in readings], strict=True)
    ]
    made: Any = None
    return ClaimVerdict(made, [ReadingOutcome(*each) for each in zip(found, judged, strict=True)], untried)


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([(AGREES, True)], Verdict.REPRODUCED),
        ([(HOLDS, True)], Verdict.SUPPORTED),
        ([(HOLDS, True), (OPEN, True)], Verdict.SUPPORTED),
        ([(FAILS, True)], Verdict.REFUTED),
        ([(FAILS, True), (FAILS, True)], Verdict.REFUTED),
        # One reading in which it does not fail is enough to refute nothing.
        ([(FAILS, True), (OPEN, True)], Verdict.UNDECIDED),
        ([(FAILS, True), (HOLDS, True)], Verdict.DEPENDS),
        ([(HOLDS, True), (FAILS, True)], Verdict.DEPENDS),
        ([(AGREES, True), (FAILS, True), (OPEN, True)], Verdict.DEPENDS),
        # A reading that misses the baselines counts for nothing, whatever it says.
        ([(FAILS, False)], Verdict.NOT_IDENTIFIED),
        ([(HOLDS, False), (FAILS, False)], Verdict.NOT_IDENTIFIED),
        ([(HOLDS, True), (FAILS, False)], Verdict.SUPPORTED),
        ([(FAILS, True), (HOLDS, False)], Verdict.REFUTED),
        ([(FAILS, False), (HOLDS, True)], Verdict.SUPPORTED),
        # A reading that could not be run counts for nothing either.
        ([(FAILS, True), (MISSING, True)], Verdict.REFUTED),
        ([(MISSING, True), (MISSING, False)], Verdict.UNAVAILABLE),
        ([(OPEN, True), (HOLDS, True)], Verdict.UNDECIDED),
    ],
)
def test_verdict(readings: list[tuple[Outcome, bool]], expected: Verdict) -> None:
    assert claim(*readings).verdict is expected


def test_the_answers_that_decide_are_named() -> None:
    depends = claim((FAILS, True), (HOLDS, True), (FAILS, True), (AGREES, False))
    assert depends.holds_if == ["A1: answer 1"]
    assert depends.fails_if == ["the defaults", "A2: answer 2"]
    assert claim((HOLDS, True), (HOLDS, True)).holds_if == []
    assert claim((FAILS, True)).fails_if == []


def test_a_reading_that_was_fitted_to_the_paper_decides_nothing_alone() -> None:
    """But it can keep a claim from being refuted."""
    assert claim((FAILS, False), (HOLDS, True), fitted=True).verdict is Verdict.NOT_IDENTIFIED
    assert claim((FAILS, False), (FAILS, True), fitted=True).verdict is Verdict.NOT_IDENTIFIED
    assert claim((FAILS, True), (HOLDS, True), fitted=True).verdict is Verdict.DEPENDS


def test_only_a_run_of_every_answer_refutes() -> None:
    short = claim((FAILS, True), (FAILS, True), (HOLDS, False), untried=3)
    assert short.verdict is Verdict.UNDECIDED
    assert conditions(short) == [
        "fails in every reading tried that passes the gate (2); --full tries 3 more answers"
    ]
    assert claim((FAILS, True), (FAILS, True), (HOLDS, False)).verdict is Verdict.REFUTED
    # It says nothing of what did not fail, or of a set-up that is not the paper's.
    assert claim((FAILS, True), (HOLDS, True), untried=3).verdict is Verdict.DEPENDS
    assert claim((HOLDS, True), untried=3).verdict is Verdict.SUPPORTED
    assert claim((FAILS, False), untried=3).verdict is Verdict.NOT_IDENTIFIED


def test_most_of_many_readings_are_named_by_the_others() -> None:
    many = claim((HOLDS, True), (OPEN, True), *[(FAILS, True)] * 9)
    assert conditions(many) == [
        "holds if: the defaults",
        "fails if: 9 of 11 readings, not with the defaults; A1: answer 1",
    ]
    few = claim((HOLDS, True), *[(FAILS, True)] * 3)
    assert conditions(few)[1] == "fails if: A1: answer 1; A2: answer 2; A3: answer 3"


def test_every_verdict_has_a_meaning() -> None:
    assert set(MEANING) == set(Verdict)


def test_a_claim_is_refuted_by_a_part_that_fails_everywhere() -> None:
    fails = [(FAILS, True), (FAILS, True)]
    assert claim(*fails, parts=[[FAILS, HOLDS], [FAILS, FAILS]]).verdict is Verdict.REFUTED
    assert claim(*fails, parts=[[FAILS, HOLDS], [HOLDS, FAILS]]).verdict is Verdict.UNDECIDED
    assert claim(*fails, parts=[[FAILS, HOLDS], [OPEN, FAILS]]).verdict is Verdict.UNDECIDED
    # A reading that misses the gate, or was not run, does not matter here either.
    missed = [*fails, (FAILS, False), (MISSING, True)]
    parts = [[FAILS, HOLDS], [FAILS, FAILS], [HOLDS, FAILS], []]
    assert claim(*missed, parts=parts).verdict is Verdict.REFUTED
    # With a reading in which the claim holds it depends, whichever part fails.
    both = claim(
        (FAILS, True), (FAILS, True), (HOLDS, True), parts=[[FAILS, HOLDS], [HOLDS, FAILS], [HOLDS, HOLDS]]
    )
    assert both.verdict is Verdict.DEPENDS


def parts_with(*values: tuple[float, ...] | None) -> Any:
    """A judged claim whose parts have these values by seed."""
    estimates = [None if each is None else SimpleNamespace(values=each, n=len(each)) for each in values]
    return SimpleNamespace(parts=[SimpleNamespace(estimate=each) for each in estimates])


def test_an_answer_that_changes_no_value_is_judged_as_the_defaults() -> None:
    defaults = parts_with((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    fewer = parts_with((1.0, 2.0), (4.0, 5.0))
    assert as_the_defaults(defaults, fewer) is defaults
    for changed in (
        parts_with((1.0, 2.0), (4.0, 5.5)),
        parts_with((1.0, 2.0), None),
        parts_with((1.0, 2.0, 3.0, 4.0), (4.0, 5.0, 6.0, 7.0)),
    ):
        assert as_the_defaults(defaults, changed) is changed
