"""Evaluates the numbers, baselines and claims of a paper in one reading, from the runs of its cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.papers.judging.gate import Checked, Gate
from cwndlab.papers.judging.verdict import CUT, Examined, Judged, Lean, Outcome, claim_outcome, judge
from cwndlab.papers.language.expression import NoValueError
from cwndlab.papers.language.limits import limits
from cwndlab.statistics.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.contents.paper import Baseline, Claim, Part, Target
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.language.expression import Expression
    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the outcomes of its parts in one reading."""

    claim: Claim
    parts: list[Judged]

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole claim."""
        return claim_outcome(self.parts)

    @property
    def holding(self) -> int:
        """The number of parts that hold."""
        return sum(part.outcome in (Outcome.HOLDS, Outcome.AGREES) for part in self.parts)

    @property
    def leaning(self) -> int:
        """The number of parts that lean to the claim."""
        return sum(part.lean is Lean.FOR for part in self.parts)

    @property
    def lean(self) -> Lean:
        """What the claim leans to: all parts must lean to it, and one that leans against it suffices."""
        leans = {part.lean for part in self.parts}
        return next((each for each in (Lean.AGAINST, Lean.NEITHER) if each in leans), Lean.FOR)

    @property
    def no_lean_because(self) -> str | None:
        """Why a claim that was run leans to neither side."""
        if self.lean is not Lean.NEITHER:
            return None
        if any(part.outcome is Outcome.MISSING for part in self.parts):
            return "not everything was run"
        return CUT if any(part.reason == CUT for part in self.parts) else "too few seeds"

    @property
    def seeds(self) -> int:
        """The largest number of seeds of its parts."""
        return max((part.estimate.n for part in self.parts if part.estimate is not None), default=0)


@dataclass(frozen=True)
class Row:
    """A number of the paper and ours, or the reason why ours is missing."""

    target: Target
    ours: Estimate | None
    missing: str | None = None


@dataclass
class Evaluated:
    """A reading with its results, by the keys of their cells.

    `counts` holds the number of seeds that each cell is to have so far. Parts that were decided at an earlier
    look are `settled` (by their identity): they keep what was found then. Claims that are `given_up` (by
    their ids) missed their gate at an earlier look: they got no more seeds, so a gate that their baselines
    reach later does not count.
    """

    reading: Reading
    results: dict[str, Result]
    counts: dict[str, int]
    settled: dict[int, Judged] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)

    @cached_property
    def claims(self) -> list[JudgedClaim]:
        """Every claim of the paper with its outcome. Holm's correction is over all of them."""
        return self.judged(self.reading.paper.claims)

    @cached_property
    def findings(self) -> list[JudgedClaim]:
        """Our statements about the paper with their outcomes. Holm's correction is over all of them."""
        return self.judged(self.reading.paper.findings)

    @cached_property
    def gate(self) -> Gate:
        """Whether the reading gives the numbers of the paper's own baselines."""
        return self.gate_so_far()

    def passes(self, claim: str) -> bool:
        """Whether the reading gives the numbers of the baselines of the claim with this id."""
        return claim not in self.given_up and self.gate.of(claim).passes

    def gate_so_far(self) -> Gate:
        """Return the gate at this look."""
        return Gate([self._check(each) for each in self.reading.baselines], self.reading.missing)

    def condense(self) -> None:
        """Judge, then drop the details of the runs: those of thousands of runs would fill the memory."""
        _ = self.claims, self.rows, self.gate
        for key, result in self.results.items():
            runs = [run.measures_only() for run in result.runs]
            self.results[key] = replace(result, runs=runs)

    def judged(self, claims: Sequence[Claim], last: int | None = None) -> list[JudgedClaim]:
        """Judge claims at this look. Estimates of fewer than `last` seeds are not the last ones."""
        tested = [self._test(claim, part, last) for claim in claims for part in claim.parts]
        found = [
            self.settled.get(id(each.part), now) for each, now in zip(tested, judge(tested), strict=True)
        ]
        judged = iter(found)
        return [JudgedClaim(claim, [next(judged) for _ in claim.parts]) for claim in claims]

    @cached_property
    def rows(self) -> list[Row]:
        """Every measured number of the paper, and ours."""
        return [self._row(target) for target in self.reading.paper.targets if target.kind == "measured"]

    def _row(self, target: Target) -> Row:
        if target.effect is None:
            return Row(target, None, target.notes)
        try:
            return Row(
                target, estimate(self.values(target.effect), limits=limits(target.effect, target.unit))
            )
        except NoValueError as error:
            return Row(target, None, str(error))

    def _check(self, baseline: Baseline) -> Checked:
        try:
            ours = estimate(self.values(baseline.effect), limits=limits(baseline.effect, baseline.unit))
        except NoValueError as error:
            return Checked(baseline, None, str(error))
        return Checked(baseline, ours, CUT if self._is_cut(baseline.effect) else None)

    def _test(self, claim: Claim, part: Part, last: int | None) -> Examined:
        settled = self.settled.get(id(part))
        if settled is not None:
            return Examined(part, settled.estimate, settled.reason)
        missing = part.unavailable or self.reading.missing
        if missing is not None or part.effect is None:
            return Examined(part, None, missing)
        if not self.reading.judges(claim.id):
            return Examined(part, None, "not judged with this answer: --full does", is_left_out=True)
        if self._is_skipped(claim, part.effect):
            return Examined(part, None, "not run: this answer misses the paper's baselines", is_left_out=True)
        try:
            values = self.values(part.effect)
        except NoValueError as error:
            return Examined(part, None, str(error))
        if claim.id in self.given_up:
            last = self.reading.looks[-1]
        is_last = last is None or len(values) >= last
        found = estimate(values, part.statistic, limits(part.effect, part.unit))
        return Examined(part, found, is_last=is_last, is_cut=self._is_cut(part.effect))

    def _is_skipped(self, claim: Claim, effect: Expression) -> bool:
        """Whether runs of an effect were not made because the answers miss the baselines of its claim."""
        if not self.reading.only or claim.id not in self.given_up:
            return False
        skipped = {cell.key for cell in self.reading.runnable} - self.results.keys()
        return not skipped.isdisjoint(effect.cells)

    def _is_cut(self, effect: Expression) -> bool:
        """Whether `--quick` cut a run that an effect reads."""
        return any(self.reading.cells[key].is_cut for key in effect.cells)

    def values(self, effect: Expression) -> list[float]:
        """Return the effect in each seed that all its cells have.

        Raises `NoValueError` if a cell, a value, or a seed that was to be run is missing.
        """
        runs = {key: self.runs(key) for key in effect.cells}
        shared = min((self.counts[key] for key in effect.cells), default=0)
        return [
            effect.evaluate({key: by_seed[seed] for key, by_seed in runs.items()})
            for seed in self.reading.seeds[:shared]
        ]

    def runs(self, key: str) -> dict[int, SeedRun]:
        """Return the runs of a cell by seed. Raises `NoValueError` if one that was to be made is missing."""
        cell = self.reading.cells.get(key)
        if cell is None:
            raise NoValueError("left out, because no claim or number needs it")
        if cell.missing is not None:
            raise NoValueError(cell.missing)
        runs = {run.seed: run for run in self.results[key].runs} if key in self.results else {}
        for seed in self.reading.seeds[: self.counts.get(key, 0)]:
            if seed not in runs:
                raise NoValueError(f"seed {seed} of {key} is missing")
        if not runs:
            raise NoValueError(f"no run of {key}")
        return runs
