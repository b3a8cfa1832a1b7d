"""Evaluates the numbers and claims of a paper from the runs of its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.papers.judging.verdict import Examined, Judged, Verdict, claim_verdict, judge
from cwndlab.papers.language.expression import NoValueError
from cwndlab.statistics.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.contents.paper import Claim, Part, Target
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.language.expression import Expression
    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the verdicts of its parts."""

    claim: Claim
    parts: list[Judged]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the whole claim."""
        return claim_verdict(self.parts)


@dataclass(frozen=True)
class Row:
    """A number of the paper and ours, or the reason why ours is missing."""

    target: Target
    ours: Estimate | None
    missing: str | None = None


@dataclass(frozen=True)
class Evaluated:
    """A reading with its results, by the keys of their cells."""

    reading: Reading
    results: dict[str, Result]

    def condense(self) -> None:
        """Judge, then drop the details of the runs: those of thousands of runs would fill the memory."""
        _ = self.claims, self.rows
        for key, result in self.results.items():
            runs = [run.measures_only() for run in result.runs]
            self.results[key] = replace(result, runs=runs)

    @cached_property
    def claims(self) -> list[JudgedClaim]:
        """Every claim of the paper with its verdict. Holm's correction is over all of them."""
        return self._judged(self.reading.paper.claims)

    @cached_property
    def findings(self) -> list[JudgedClaim]:
        """Our statements about the paper with their verdicts. Holm's correction is over all of them."""
        return self._judged(self.reading.paper.findings)

    def _judged(self, claims: Sequence[Claim]) -> list[JudgedClaim]:
        parts = [part for claim in claims for part in claim.parts]
        judged = iter(judge([self._test(part) for part in parts]))
        return [JudgedClaim(claim, [next(judged) for _ in claim.parts]) for claim in claims]

    @cached_property
    def rows(self) -> list[Row]:
        """Every measured number of the paper, and ours."""
        return [self._row(target) for target in self.reading.paper.targets if target.kind == "measured"]

    def _row(self, target: Target) -> Row:
        if target.effect is None:
            return Row(target, None, target.notes)
        try:
            return Row(target, estimate(self.values(target.effect)))
        except NoValueError as error:
            return Row(target, None, str(error))

    def _test(self, part: Part) -> Examined:
        missing = part.unavailable or self.reading.missing
        if missing is not None or part.effect is None:
            return Examined(part, None, missing)
        try:
            values = self.values(part.effect)
        except NoValueError as error:
            return Examined(part, None, str(error))
        return Examined(part, estimate(values, part.interval, part.statistic))

    def values(self, effect: Expression) -> list[float]:
        """Return the effect in each seed. Raises `NoValueError` if a cell, a seed or a value is missing."""
        runs = {key: self.runs(key) for key in effect.cells}
        return [
            effect.evaluate({key: by_seed[seed] for key, by_seed in runs.items()})
            for seed in self.reading.seeds
        ]

    def runs(self, key: str) -> dict[int, SeedRun]:
        """Return the runs of a cell by seed. Raises `NoValueError` if any is missing."""
        cell = self.reading.cells.get(key)
        if cell is None:
            raise NoValueError(f"no such cell: {key}")
        if cell.missing is not None:
            raise NoValueError(cell.missing)
        runs = {run.seed: run for run in self.results[key].runs} if key in self.results else {}
        for seed in self.reading.seeds:
            if seed not in runs:
                raise NoValueError(f"seed {seed} of {key} is missing")
        return runs
