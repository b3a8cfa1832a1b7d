"""Reproduces papers: plans, runs and judges their experiments."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.engine import in_use
from cwndlab.papers.contents.readings import Reading, readings
from cwndlab.papers.judging.across import ClaimVerdict, ReadingOutcome
from cwndlab.papers.judging.evaluation import Evaluated, JudgedClaim, Row
from cwndlab.papers.reading import library
from cwndlab.results.manifest import builder
from cwndlab.results.recording import Record
from cwndlab.results.result import Result
from cwndlab.running.cache import default_folder, prune
from cwndlab.running.execution import execute_each, weight
from cwndlab.scenarios.seeds import shown_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab.papers.contents.paper import Paper
    from cwndlab.papers.judging.figure_values import Drawn
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.estimate import Estimate

SCHEMA = 2


@dataclass(frozen=True)
class PaperReproduction:
    """One paper under its defaults and its alternatives."""

    defaults: Evaluated
    alternatives: list[Evaluated]

    @property
    def paper(self) -> Paper:
        """The paper."""
        return self.defaults.reading.paper

    @property
    def readings(self) -> list[Evaluated]:
        """The defaults, then the alternatives that were tried."""
        return [self.defaults, *self.alternatives]

    @cached_property
    def claims(self) -> list[ClaimVerdict]:
        """The claims with their outcomes in all readings."""
        return [
            ClaimVerdict(claim, [ReadingOutcome(each, each.claims[index]) for each in self.readings])
            for index, claim in enumerate(self.paper.claims)
        ]

    @property
    def findings(self) -> list[JudgedClaim]:
        """Our statements about the paper, under the defaults."""
        return self.defaults.findings

    @property
    def rows(self) -> list[Row]:
        """The paper's numbers and ours, under the defaults."""
        return self.defaults.rows

    @cached_property
    def figures(self) -> list[Drawn]:
        """The values of the paper's figures, under the defaults."""
        from cwndlab.papers.judging.figure_values import drawn_figures

        return drawn_figures(self.defaults)


@dataclass(frozen=True)
class Reproduction:
    """All requested papers."""

    papers: list[PaperReproduction]
    seeds: Sequence[int]
    interrupted: bool
    quick: bool = False
    full: bool = False

    @property
    def results(self) -> list[Result]:
        """The results of all cells of all readings."""
        evaluated = [one for paper in self.papers for one in paper.readings]
        return [result for one in evaluated for result in one.results.values()]

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        names = [paper.paper.id for paper in self.papers]
        options = ["--quick"] * self.quick + ["--full"] * self.full
        return shlex.join(["cwndlab", "reproduce", *names, "--seeds", shown_seeds(self.seeds), *options])

    def to_json(self) -> dict[str, Any]:
        """Return the document that `cwndlab reproduce --json` prints."""
        return {
            "schema": SCHEMA,
            "seeds": list(self.seeds),
            "interrupted": self.interrupted,
            "quick": self.quick,
            "full": self.full,
            "manifest": builder(self.seeds, in_use()),
            "papers": [_paper_json(paper, quick=self.quick) for paper in self.papers],
        }


def plan(names: Sequence[str], seeds: Sequence[int], *, quick: bool, full: bool) -> list[list[Reading]]:
    """Return the readings of each paper. Raises `InputError` if a paper is unknown or has a mistake."""
    papers = [library.read(name) for name in names or library.names()]
    return [readings(paper, seeds, quick=quick, full=full) for paper in papers]


def reproduce(
    planned: Sequence[Sequence[Reading]],
    seeds: Sequence[int],
    *,
    quick: bool = False,
    full: bool = False,
    threads: int | None = None,
    fresh: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> Reproduction:
    """Run every cell of every reading, on all cores, and judge the papers. Finished runs are reused."""
    course = _Course([reading for each in planned for reading in each], threads, fresh, watch)
    papers = []
    for each in planned:
        defaults, *alternatives = (course.run(reading) for reading in each)
        papers.append(PaperReproduction(defaults, alternatives))
    prune(default_folder())
    return Reproduction(papers, seeds, course.interrupted, quick=quick, full=full)


class _Course:
    """Runs one reading after the other. Of alternatives, only the judged values are kept."""

    def __init__(
        self,
        all_readings: Sequence[Reading],
        threads: int | None,
        fresh: bool,
        watch: Callable[[float], None],
    ) -> None:
        self.interrupted = False
        self._threads, self._fresh, self._watch = threads, fresh, watch
        self._whole = sum(map(_weight, all_readings)) or 1.0
        self._done = 0.0

    def run(self, reading: Reading) -> Evaluated:
        """Run a reading, look by look, until everything is decided or all seeds are there.

        After Ctrl-C, it is returned without the missing runs.
        """
        evaluated = Evaluated(reading, {}, {})
        needed = {cell.key for cell in reading.runnable}
        seen = 0
        for look in reading.looks:
            self._add(evaluated, needed, seen, look)
            if self.interrupted:
                break
            seen = look
            needed = _settle(evaluated)
            if not needed:
                break
        self._done += _weight(reading)
        if reading.alternative is not None:
            evaluated.condense()
        return evaluated

    def _add(self, evaluated: Evaluated, keys: set[str], begin: int, end: int) -> None:
        """Make the runs of these cells from one look to the next."""
        reading = evaluated.reading
        jobs = reading.jobs(keys, begin, end)
        shown = [cell.key for cell in reading.runnable if cell.key in keys]
        if self.interrupted or not jobs:
            results = [Result(scenario, [], interrupted=True) for scenario, _ in jobs]
        else:
            results = self._execute(reading, jobs, begin)
        for key, result in zip(shown, results, strict=True):
            known = evaluated.results.get(key)
            runs = [*(known.runs if known else []), *result.runs]
            evaluated.results[key] = replace(result, runs=runs)
            evaluated.counts[key] = end

    def _execute(
        self, reading: Reading, jobs: Sequence[tuple[Scenario, Sequence[int]]], begin: int
    ) -> list[Result]:
        share = _weight(reading) / self._whole
        before = self._done / self._whole + share * begin / len(reading.seeds)
        part = share * len(jobs[0][1]) / len(reading.seeds)
        results = execute_each(
            jobs,
            record=Record.NONE,
            threads=self._threads,
            fresh=self._fresh,
            watch=lambda done: self._watch(min(1, before + part * done)),
        )
        self.interrupted = any(result.interrupted for result in results)
        return results


def _settle(evaluated: Evaluated) -> set[str]:
    """Settle the parts that this look decides, and return the cells that the others need."""
    reading = evaluated.reading
    needed: set[str] = set()
    for claims in (reading.paper.claims, () if reading.alternative else reading.paper.findings):
        for judged in evaluated.judged(claims, reading.looks[-1]):
            for part in judged.parts:
                if part.is_decided:
                    evaluated.settled[id(part.part)] = part
                elif part.part.effect is not None:
                    needed.update(part.part.effect.cells)
    return needed & {cell.key for cell in reading.runnable}


def _weight(reading: Reading) -> float:
    return sum(weight(cell.scenario) * len(reading.seeds) for cell in reading.runnable if cell.scenario)


def _paper_json(paper: PaperReproduction, *, quick: bool) -> dict[str, Any]:
    return {
        "id": paper.paper.id,
        "rows": [_row_json(row) for row in paper.rows],
        "readings": [_reading_json(each) for each in paper.readings],
        "claims": [_claim_json(claim, quick=quick) for claim in paper.claims],
        "findings": [_finding_json(finding, quick=quick) for finding in paper.findings],
    }


def _reading_json(evaluated: Evaluated) -> dict[str, Any]:
    return {
        "option": evaluated.reading.option,
        "value": evaluated.reading.value,
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
    judgement = {"lean": claim.lean.value} if quick else _verdict_json(claim)
    return {**_judged_json(claim.defaults.judged), **judgement}


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
    judgement = {"lean": finding.lean.value} if quick else {"outcome": finding.outcome.value}
    return {**_judged_json(finding), **judgement}


def _judged_json(judged: JudgedClaim) -> dict[str, Any]:
    return {
        "id": judged.claim.id,
        "text": judged.claim.text,
        "parts": len(judged.parts),
        "parts_holding": judged.holding,
        "seeds": judged.seeds,
        "evidence": [_part_json(part) for part in judged.parts],
    }


def _part_json(judged: Judged) -> dict[str, Any]:
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
        "outcome": judged.outcome.value,
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
