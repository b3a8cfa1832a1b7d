"""The document of a reproduction: the JSON that `cwndlab reproduce --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import in_use
from cwndlab.linux.backend import engine_of
from cwndlab.papers.contents.backends import BOTH, LINUX
from cwndlab.papers.reproducing.beside import beside
from cwndlab.results.manifest import builder

if TYPE_CHECKING:
    from cwndlab.papers.judging.across import ClaimVerdict
    from cwndlab.papers.judging.evaluation import Evaluated, JudgedClaim, Row
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction
    from cwndlab.statistics.estimate import Estimate

SCHEMA = 3


def document(reproduction: Reproduction) -> dict[str, Any]:
    """Return the document that `cwndlab reproduce --json` prints."""
    return {
        "schema": SCHEMA,
        "seeds": list(reproduction.seeds),
        "interrupted": reproduction.interrupted,
        "quick": reproduction.quick,
        "full": reproduction.full,
        "defaults_only": reproduction.defaults_only,
        "asked": list(reproduction.asked),
        "alternative_seeds": reproduction.alternative_seeds,
        "explained": reproduction.explained,
        "backend": reproduction.backend,
        **_manifests(reproduction),
        "papers": [paper_json(paper, quick=reproduction.quick) for paper in reproduction.papers],
    }


def _manifests(reproduction: Reproduction) -> dict[str, Any]:
    """Return the manifest of the backend, or of both."""
    if reproduction.backend != BOTH:
        return {"manifest": builder(reproduction.seeds, engine_of(reproduction.backend, in_use()))}
    return {
        "manifest": builder(reproduction.seeds, in_use()),
        "manifest_in_linux": builder(reproduction.seeds, engine_of(LINUX, in_use())),
    }


def paper_json(paper: PaperReproduction, *, quick: bool = False) -> dict[str, Any]:
    """Return a paper's part of the document."""
    return {
        "id": paper.paper.id,
        "rows": [_row_json(row) for row in paper.rows],
        "readings": [_reading_json(each) for each in paper.readings],
        "untried": paper.untried,
        "claims": [_claim_json(claim, quick=quick) for claim in paper.claims],
        "findings": [_finding_json(finding, quick=quick) for finding in paper.findings],
        **({"explanation": paper.explanation.to_json()} if paper.explanation else {}),
        **({"in_linux": _in_linux_json(paper, paper.in_linux, quick=quick)} if paper.in_linux else {}),
    }


def _in_linux_json(paper: PaperReproduction, there: PaperReproduction, *, quick: bool) -> dict[str, Any]:
    differences = [
        {
            "claim": each.claim.id,
            "text": each.here.part.text,
            "linux_minus_sim": None if each.difference is None else _estimate_json(each.difference),
        }
        for each in beside(paper)
    ]
    return {**paper_json(there, quick=quick), "differences": differences}


def _reading_json(evaluated: Evaluated) -> dict[str, Any]:
    return {
        "option": evaluated.reading.option,
        "value": evaluated.reading.value,
        "answers": [str(answer) for answer in evaluated.reading.answers],
        "fitted": evaluated.reading.fitted,
        "passes_gate": evaluated.gate.passes,
        "baselines": [
            {
                "text": each.baseline.text,
                "unit": each.baseline.unit,
                "paper": each.baseline.paper,
                "tolerance": each.baseline.tolerance,
                "ours": None if each.ours is None else _estimate_json(each.ours),
                "passes": each.passes,
            }
            for each in evaluated.gate.checked
        ],
    }


def _row_json(row: Row) -> dict[str, Any]:
    target = row.target
    row_json = {
        "id": target.id,
        "experiment": target.experiment,
        "algorithm": target.variant,
        "flow": target.flow,
        "metric": target.metric,
        "unit": target.unit,
        "paper": target.number,
        "ours": None if row.ours is None else _estimate_json(row.ours),
    }
    return row_json if row.missing is None else {**row_json, "missing": row.missing}


def _claim_json(claim: ClaimVerdict, *, quick: bool) -> dict[str, Any]:
    judgement = _lean_json(claim) if quick else _verdict_json(claim)
    return {**_judged_json(claim.defaults.judged, quick=quick), **judgement}


def _lean_json(claim: ClaimVerdict | JudgedClaim) -> dict[str, Any]:
    because = {"no_lean_because": claim.no_lean_because} if claim.no_lean_because else {}
    return {"lean": claim.lean.value, **because}


def _verdict_json(claim: ClaimVerdict) -> dict[str, Any]:
    return {
        "verdict": claim.verdict.value,
        "holds_if": claim.holds_if,
        "fails_if": claim.fails_if,
        "readings": [
            {
                "option": each.evaluated.reading.option,
                "value": each.evaluated.reading.value,
                "passes_gate": each.passes,
                "outcome": each.outcome.value,
                "seeds": each.judged.seeds,
            }
            for each in claim.readings
        ],
    }


def _finding_json(finding: JudgedClaim, *, quick: bool) -> dict[str, Any]:
    judgement = _lean_json(finding) if quick else {"outcome": finding.outcome.value}
    return {**_judged_json(finding, quick=quick), **judgement}


def _judged_json(judged: JudgedClaim, *, quick: bool) -> dict[str, Any]:
    return {
        "id": judged.claim.id,
        "text": judged.claim.text,
        "parts": len(judged.parts),
        **({"parts_leaning": judged.leaning} if quick else {"parts_holding": judged.holding}),
        "seeds": judged.seeds,
        "evidence": [_part_json(part, quick=quick) for part in judged.parts],
    }


def _part_json(judged: Judged, *, quick: bool) -> dict[str, Any]:
    part = judged.part
    part_json: dict[str, Any] = {
        "text": part.text,
        "experiment": part.experiment,
        "effect": part.effect.text if part.effect else "",
        "expect": part.expect.value,
        "unit": part.unit,
        "paper": part.paper,
        "ours": None if judged.estimate is None else _estimate_json(judged.estimate),
        "p_holm": judged.p,
        "p_against_holm": judged.p_against,
        **({"lean": judged.lean.value} if quick else {"outcome": judged.outcome.value}),
    }
    return part_json if judged.reason is None else {**part_json, "reason": judged.reason}


def _estimate_json(known: Estimate) -> dict[str, Any]:
    constant = known.low is None or known.low == known.high
    return {
        "mean": known.value,
        "ci95": None if constant else [known.low, known.high],
        "runs": [min(known.values), max(known.values)],
        "n": known.n,
    }
