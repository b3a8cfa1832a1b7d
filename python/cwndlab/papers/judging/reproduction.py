"""Reproduces papers: plans, runs and judges their experiments."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.engine import in_use
from cwndlab.papers.contents.readings import Reading, readings
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
    from cwndlab.statistics.estimate import Estimate

SCHEMA = 1


@dataclass(frozen=True)
class Sensitivity:
    """The claims under one alternative of an open point."""

    reading: Reading
    claims: list[JudgedClaim]


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
    def claims(self) -> list[JudgedClaim]:
        """The claims under the defaults."""
        return self.defaults.claims

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

    @cached_property
    def sensitivity(self) -> list[Sensitivity]:
        """The claims under each alternative that was tried."""
        return [Sensitivity(each.reading, each.claims) for each in self.alternatives]


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
        evaluated = [one for paper in self.papers for one in (paper.defaults, *paper.alternatives)]
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
            "papers": [_paper_json(paper) for paper in self.papers],
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
        self._whole = sum(map(_weight, all_readings))
        self._done = 0.0

    def run(self, reading: Reading) -> Evaluated:
        """Run a reading; after Ctrl-C, return it without runs. Alternatives are judged at once."""
        if self.interrupted or not reading.jobs:
            results = [Result(scenario, [], interrupted=True) for scenario, _ in reading.jobs]
        else:
            results = self._execute(reading)
        keys = [cell.key for cell in reading.runnable]
        evaluated = Evaluated(reading, dict(zip(keys, results, strict=True)))
        if reading.alternative is not None:
            evaluated.condense()
        return evaluated

    def _execute(self, reading: Reading) -> list[Result]:
        share, before = _weight(reading) / self._whole, self._done / self._whole
        results = execute_each(
            reading.jobs,
            record=Record.NONE,
            threads=self._threads,
            fresh=self._fresh,
            watch=lambda done: self._watch(min(1, before + share * done)),
        )
        self._done += _weight(reading)
        self.interrupted = any(result.interrupted for result in results)
        return results


def _weight(reading: Reading) -> float:
    return sum(weight(scenario) * len(seeds) for scenario, seeds in reading.jobs)


def _paper_json(paper: PaperReproduction) -> dict[str, Any]:
    return {
        "id": paper.paper.id,
        "rows": [_row_json(row) for row in paper.rows],
        "claims": [_claim_json(paper, index) for index in range(len(paper.claims))],
        "findings": [_judged_json(finding) for finding in paper.findings],
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


def _claim_json(paper: PaperReproduction, index: int) -> dict[str, Any]:
    return {
        **_judged_json(paper.claims[index]),
        "sensitivity": [
            {
                "option": each.reading.option,
                "value": each.reading.value,
                "verdict": each.claims[index].verdict.value,
            }
            for each in paper.sensitivity
        ],
    }


def _judged_json(judged: JudgedClaim) -> dict[str, Any]:
    return {
        "id": judged.claim.id,
        "text": judged.claim.text,
        "verdict": judged.verdict.value,
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
        "verdict": judged.verdict.value,
    }
    return part_json if judged.reason is None else {**part_json, "reason": judged.reason}


def _estimate_json(known: Estimate) -> dict[str, Any]:
    constant = known.low is None or known.low == known.high
    return {"mean": known.value, "ci95": None if constant else [known.low, known.high], "n": known.n}
