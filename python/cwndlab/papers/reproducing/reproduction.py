"""Papers that were run again: every reading, with its verdicts and its numbers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.papers.contents.backends import SIM
from cwndlab.papers.contents.paper import Answer
from cwndlab.papers.judging.across import ClaimVerdict, ReadingOutcome, as_the_defaults
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.papers.reproducing.extent import extent_options
from cwndlab.scenarios.seeds import shown_seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cwndlab.papers.contents.paper import Claim, Paper
    from cwndlab.papers.explaining.explanation import Explanation
    from cwndlab.papers.judging.evaluation import Evaluated, JudgedClaim, Row
    from cwndlab.papers.judging.figure_values import Drawn
    from cwndlab.results.result import Result


@dataclass(frozen=True)
class PaperReproduction:
    """One paper under its defaults and its alternatives, and `in_linux` if it was run there besides."""

    defaults: Evaluated
    alternatives: list[Evaluated]
    explanation: Explanation | None = None
    in_linux: PaperReproduction | None = None

    @property
    def paper(self) -> Paper:
        """The paper."""
        return self.defaults.reading.paper

    @property
    def readings(self) -> list[Evaluated]:
        """The defaults, then the alternatives that were tried."""
        return [self.defaults, *self.alternatives]

    @property
    def untried(self) -> int:
        """The number of answers to open points that no reading tried alone."""
        return len(self._answers - self._alone(self.readings))

    @cached_property
    def _answers(self) -> set[Answer]:
        """The answers to open points that can be tried."""
        return {
            Answer(point, each)
            for point in self.paper.open_points
            for each in point.alternatives
            if each.unavailable is None
        }

    def _alone(self, readings: Iterable[Evaluated]) -> set[Answer]:
        """Return the answers that readings tried alone."""
        return {
            each.reading.answers[0] for each in readings if len(each.reading.answers) == 1
        } & self._answers

    @cached_property
    def claims(self) -> list[ClaimVerdict]:
        """The claims with their outcomes in all readings."""
        return [self._verdict(index, claim) for index, claim in enumerate(self.paper.claims)]

    def _verdict(self, index: int, claim: Claim) -> ClaimVerdict:
        judging = [each for each in self.readings if each.reading.judges(claim.id)]
        of_defaults = self.defaults.claims[index]
        outcomes = [
            ReadingOutcome(each, as_the_defaults(of_defaults, each.claims[index])) for each in self.readings
        ]
        # After Ctrl-C, a reading may lack runs; under some answers, what the claim is about does not happen.
        missing = [
            each
            for each in judging
            if each.claims[index].outcome is Outcome.MISSING and claim.id not in each.given_up
        ]
        untried = self._answers - self._alone(judging)
        return ClaimVerdict(claim, outcomes, len(untried), len(self._alone(missing)))

    @property
    def findings(self) -> list[JudgedClaim]:
        """Our statements about the paper, under the defaults."""
        return self.defaults.findings

    @property
    def findings_made(self) -> list[JudgedClaim]:
        """Those of our findings for which everything was run."""
        return [finding for finding in self.findings if finding.outcome is not Outcome.MISSING]

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
    defaults_only: bool = False
    # The answers of `--try`.
    asked: Sequence[str] = ()
    # The most seeds of an alternative, if not all.
    alternative_seeds: int | None = None
    explained: bool = False
    backend: str = SIM

    @property
    def results(self) -> list[Result]:
        """The results of all cells of all readings."""
        in_linux = [paper.in_linux for paper in self.papers if paper.in_linux]
        evaluated = [one for paper in (*self.papers, *in_linux) for one in paper.readings]
        return [result for one in evaluated for result in one.results.values()]

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        names = [paper.paper.id for paper in self.papers]
        extent = extent_options(
            quick=self.quick,
            full=self.full,
            explained=self.explained,
            defaults_only=self.defaults_only,
            asked=self.asked,
            backend=self.backend,
            alternative_seeds=self.alternative_seeds,
        )
        return shlex.join(["cwndlab", "reproduce", *names, "--seeds", shown_seeds(self.seeds), *extent])
