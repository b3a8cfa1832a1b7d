"""Which readings count, and how many seeds they get: gates, looks, and answers tried for some claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cwndlab.papers.judging import verdict
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.judging.evaluation import Evaluated
from cwndlab.papers.judging.verdict import Lean, Outcome, p_value, p_value_against
from cwndlab.papers.reproducing import course
from tests.test_papers_reproduction import BASELINE, CLAIMS, PAPER, papers, run

__all__ = ["papers"]

# Q2 with an effect that no seeds decide: the difference of two equal flows.
UNCLEAR = CLAIMS.replace(
    'queue_delay("E1/long", "bottleneck") - queue_delay("E1/short", "bottleneck")',
    'goodput("C = 1.2", "a") - goodput("C = 1.2", "b")',
)


def test_a_reading_that_misses_the_baselines_refutes_nothing(papers: Path) -> None:
    (papers / "claims.toml").write_text(BASELINE.format(paper=90) + CLAIMS)
    [paper] = run().papers
    assert not paper.defaults.gate.passes
    verdicts = [claim.verdict for claim in paper.claims]
    assert verdicts == [Verdict.NOT_IDENTIFIED, Verdict.NOT_IDENTIFIED, Verdict.UNAVAILABLE]
    long = paper.rows[0].ours
    assert long is not None
    (papers / "claims.toml").write_text(BASELINE.format(paper=long.value + 0.5) + CLAIMS)
    [paper] = run().papers
    assert [claim.verdict for claim in paper.claims][:2] == [Verdict.SUPPORTED, Verdict.REFUTED]


def test_a_quick_look_that_misses_the_baselines_leans_to_nothing(papers: Path) -> None:
    """Another answer may reach them: in lim2004 the defaults do not, and Q13 is supported."""
    (papers / "claims.toml").write_text(BASELINE.format(paper=90) + CLAIMS)
    [paper] = run(6, quick=True).papers
    assert [claim.lean for claim in paper.claims] == [Lean.NEITHER] * 3
    because = "the defaults miss 1 of 1 baseline of the paper"
    assert [claim.no_lean_because for claim in paper.claims] == [because, because, "not everything was run"]


def test_what_is_clear_after_five_seeds_gets_no_more(papers: Path) -> None:
    (papers / "claims.toml").write_text(UNCLEAR)
    [paper] = run(20).papers
    counts = paper.defaults.counts
    assert (counts["E1/long"], counts["E1/short"], counts["E1/C = 1.2"]) == (5, 5, 20)
    clear, open_ = (claim.defaults.judged for claim in paper.claims[:2])
    assert (clear.outcome, clear.seeds) == (Outcome.HOLDS, 5)
    assert open_.seeds == 20


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("paper_number", "seeds"), [(90, 5), (9.0, 20)])
def test_a_reading_that_clearly_misses_the_gate_gets_no_more_seeds(
    papers: Path, paper_number: float, seeds: int, *, full: bool
) -> None:
    (papers / "claims.toml").write_text(BASELINE.format(paper=paper_number) + UNCLEAR)
    [paper] = run(20, full=full).papers
    # A default run makes the runs of the baselines first, and then no others if they are missed.
    assert paper.alternatives[0].counts.get("E1/C = 1.2") == (seeds if full or seeds == 20 else None)
    # The defaults of a full run go on: their numbers are shown.
    assert paper.defaults.counts["E1/C = 1.2"] == (20 if full else seeds)


@pytest.mark.parametrize(("tolerance", "seeds"), [(1, 5), (0.02, 20)])
def test_a_baseline_near_its_tolerance_gets_more_seeds(papers: Path, tolerance: float, seeds: int) -> None:
    (papers / "claims.toml").write_text(BASELINE.format(paper=1) + CLAIMS)
    five = run(5).papers[0].defaults.gate.checked[0].ours
    assert five is not None
    near = BASELINE.format(paper=five.value).replace("tolerance = 1", f"tolerance = {tolerance}")
    claims = CLAIMS.replace('queue_delay("long", "bottleneck")', 'queue_delay("C = 1.2", "bottleneck")')
    (papers / "claims.toml").write_text(
        near + claims.replace('queue_delay("E1/long"', 'queue_delay("C = 1.2"')
    )
    [paper] = run(20).papers
    [checked] = paper.defaults.gate.checked
    assert checked.passes
    assert paper.defaults.counts["E1/long"] == seeds


def test_an_answer_that_misses_the_baselines_costs_only_their_runs(papers: Path) -> None:
    (papers / "claims.toml").write_text(BASELINE.format(paper=90) + UNCLEAR)
    [paper] = run(20).papers
    alternative = paper.alternatives[0]
    assert alternative.counts == {"E1/long": 5}
    assert [part.outcome for part in alternative.claims[1].parts] == [Outcome.MISSING]
    assert not alternative.passes("Q2")


def test_at_the_last_seed_a_near_miss_is_a_miss(papers: Path) -> None:
    """More seeds could bring our mean within the tolerance, but there are none."""
    (papers / "claims.toml").write_text(BASELINE.format(paper=1) + UNCLEAR)
    ours = run(5).papers[0].alternatives[0].gate.checked[0].ours
    assert ours is not None
    assert ours.high is not None
    beyond = ours.value + 1 + (ours.high - ours.value) / 2
    (papers / "claims.toml").write_text(BASELINE.format(paper=beyond) + UNCLEAR)
    five, more = run(5).papers[0].alternatives[0], run(6).papers[0].alternatives[0]
    assert not five.gate.is_clearly_missed
    assert five.counts == {"E1/long": 5}
    assert more.counts["E1/C = 1.2"] >= 5


def test_claims_that_an_answer_does_not_judge_count_in_holms_correction_at_every_look(papers: Path) -> None:
    (papers / "paper.toml").write_text(PAPER.replace('"Q1", "Q2", "Q3"', '"Q2"'))
    (papers / "claims.toml").write_text(UNCLEAR)
    alternative = run(20).papers[0].alternatives[0]
    testable = [part for claim in alternative.reading.paper.claims for part in claim.parts if part.effect]
    [judged] = alternative.claims[1].parts
    assert judged.estimate is not None
    assert judged.estimate.n == 20
    assert len(testable) > 1
    assert judged.p == min(1.0, len(testable) * p_value(judged.part, judged.estimate))
    assert judged.p_against == min(1.0, len(testable) * p_value_against(judged.part, judged.estimate))


def test_an_answer_that_misses_the_baselines_does_not_save_a_claim(papers: Path) -> None:
    """Nothing but its baselines was run, but it was tried."""
    (papers / "claims.toml").write_text(BASELINE.format(paper=1) + CLAIMS)
    ours = run(5).papers[0].defaults.gate.checked[0].ours
    assert ours is not None
    (papers / "claims.toml").write_text(BASELINE.format(paper=ours.value) + CLAIMS)
    [paper] = run(5).papers
    claim = paper.claims[1]
    assert [each.outcome for each in claim.readings[:2]] == [Outcome.FAILS, Outcome.FAILS]
    missing = Evaluated(paper.alternatives[0].reading, {}, {}, given_up={"Q2"})
    [cut] = [replace(paper, alternatives=[missing, *paper.alternatives[1:]])]
    assert (cut.claims[1].verdict, cut.claims[1].unjudged) == (claim.verdict, claim.unjudged)


def test_what_was_given_up_early_is_judged_as_strictly_as_at_an_early_look(
    papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (papers / "claims.toml").write_text(BASELINE.format(paper=90) + CLAIMS)
    monkeypatch.setattr(verdict, "EARLY", 0.0)
    early, last = run(20).papers[0].defaults.claims[1], run(5).papers[0].defaults.claims[1]
    assert early.parts[0].estimate == last.parts[0].estimate
    assert (early.outcome, last.outcome) == (Outcome.OPEN, Outcome.FAILS)


def test_a_claim_that_was_given_up_stays_given_up(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its baselines may come within the tolerance later, because others need their cells."""
    finding = """
[[finding]]
id = "F3"
text = "Equal flows differ"
quote = "ours"
[[finding.part]]
text = "alone"
experiment = "E1"
effect = 'goodput("long", "a") - goodput("long", "b")'
"""
    (papers / "claims.toml").write_text(UNCLEAR + finding)
    monkeypatch.setattr(course, "_stops", lambda reading, gate, look: look == 5)  # noqa: ARG005
    [paper] = run(20).papers
    assert paper.defaults.counts["E1/long"] > 5
    assert paper.defaults.counts["E1/C = 1.2"] == 5
    assert paper.claims[1].verdict is Verdict.NOT_IDENTIFIED


def test_a_finding_has_no_gate(papers: Path) -> None:
    finding = UNCLEAR.replace('[[claim]]\nid = "Q2"', '[[finding]]\nid = "F1"').replace(
        '"sec. 3"\n[[claim.part]]', '"sec. 3"\n[[finding.part]]'
    )
    (papers / "paper.toml").write_text(PAPER.replace('"Q1", "Q2", "Q3"', '"Q1"'))
    (papers / "claims.toml").write_text(BASELINE.format(paper=90) + finding)
    [paper] = run(20).papers
    assert paper.defaults.counts == {"E1/short": 5, "E1/long": 5, "E1/C = 1.2": 20}


def test_an_answer_is_tried_for_the_claims_that_it_decides(papers: Path) -> None:
    """Elsewhere it counts as untried, so that nothing is refuted without it."""
    (papers / "paper.toml").write_text(PAPER.replace('"Q1", "Q2", "Q3"', '"Q1"'))
    [usual], [full] = run().papers, run(full=True).papers
    assert [[each.outcome for each in claim.readings[:2]] for claim in usual.claims[:2]] == [
        [Outcome.HOLDS, Outcome.HOLDS],
        [Outcome.FAILS, Outcome.MISSING],
    ]
    assert [(claim.verdict, claim.untried) for claim in usual.claims[:2]] == [
        (Verdict.SUPPORTED, 0),
        (Verdict.UNDECIDED, 1),
    ]
    [part] = usual.alternatives[0].claims[1].parts
    assert part.reason == "not judged with this answer: --full does"
    # The correction is as if it had been: a test is no easier for being made alone.
    [alone], [among] = (each.alternatives[0].claims[0].parts for each in (usual, full))
    assert alone.p is not None
    assert among.p is not None
    assert alone.p >= among.p
    assert [claim.verdict for claim in full.claims[:2]] == [Verdict.SUPPORTED, Verdict.REFUTED]
