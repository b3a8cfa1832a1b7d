"""Searches the combinations of answers for the one whose numbers are closest to those of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

from cwndlab.papers.contents.readings import reading
from cwndlab.papers.explaining.numbers import all_numbers, cells_of, distance, values
from cwndlab.papers.language.place import PaperError

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from cwndlab.papers.contents.paper import Answer
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.explaining.design import Combination, Design
    from cwndlab.papers.explaining.numbers import Number
    from cwndlab.papers.judging.evaluation import Evaluated

    Measure = Callable[[Sequence[Reading]], list[Evaluated]]

# The spread combinations have one seed each, in turn; those around the best, which are compared one with
# another, share these many.
SPREAD_SEEDS = 5
NEAR_SEEDS = 2
# An answer that is not the default must bring the numbers nearer by this distance, or it is dropped.
WORTH = 0.002
# At most so many answers are added to the best of the spread combinations.
ROUNDS = 4


@dataclass(frozen=True)
class Measured:
    """A combination of answers with our value of each number in each seed, by its key."""

    answers: Combination
    values: Mapping[str, Sequence[float]]


class Bench:
    """Measures combinations of answers. `measure` runs readings with all their seeds.

    `count` is the number of combinations that were measured.
    """

    def __init__(self, design: Design, seeds: Sequence[int], measure: Measure) -> None:
        self.design, self.seeds = design, seeds
        self.numbers = all_numbers(design.paper)
        self.count = 0
        self._measure = measure

    def spread(self) -> list[Measured]:
        """Measure combinations that are spread over all answers, each with one seed."""
        combinations = self.design.spread(self.design.least)
        own = [[seed] for seed in islice(cycle(self.seeds[:SPREAD_SEEDS]), len(combinations))]
        return self.measured(combinations, own, cells_of(self.numbers))

    def measured(
        self, combinations: Sequence[Combination], seeds: Sequence[Sequence[int]], cells: Container[str]
    ) -> list[Measured]:
        """Run these cells of combinations, each with its own seeds, except those that are invalid."""
        made = (self._reading(each, own, cells) for each, own in zip(combinations, seeds, strict=True))
        readings = [each for each in made if each is not None]
        self.count += len(readings)
        return [
            Measured(each.reading.answers, values(each, self.numbers)) for each in self._measure(readings)
        ]

    def _reading(self, answers: Combination, seeds: Sequence[int], cells: Container[str]) -> Reading | None:
        try:
            return reading(self.design.paper, seeds, answers, cells)
        except PaperError:
            return None


class Search:
    """Looks for the combination that is closest to some numbers of the paper.

    `near` holds the combinations that were measured on the way.
    """

    def __init__(self, bench: Bench, numbers: Sequence[Number]) -> None:
        self.near: list[Measured] = []
        self._bench, self._numbers = bench, numbers
        self._cells = cells_of(numbers)

    @property
    def answers(self) -> Sequence[Answer]:
        """All answers that can be tried."""
        return self._bench.design.answers

    def distance(self, measured: Measured) -> float:
        """Return the distance from the paper's numbers."""
        return distance(self._numbers, measured.values)

    def score(self, measured: Measured) -> float:
        """Return the distance, and a little for each answer that is not the default."""
        return self.distance(measured) + WORTH * len(measured.answers)

    def closest(self, spread: Iterable[Measured], points: Container[str]) -> Measured:
        """Return the best combination that is found from the best of these and the defaults.

        Only the answers to these points are tried.
        """
        start = min(spread, key=self.score)
        best = self._without_idle(min(self._try([(), start.answers]), key=self.score))
        for _ in range(ROUNDS):
            tried = self._try(self._bench.design.changed(best.answers, points))
            found = min(tried, key=self.score, default=best)
            if self.score(found) >= self.score(best):
                break
            best = self._without_idle(found)
        return best

    def _without_idle(self, best: Measured) -> Measured:
        """Drop the answers that bring the numbers no nearer: one of them, or all if that is no worse."""
        reverted = self._try(self._bench.design.reverted(best.answers))
        worse = [set(each.answers) for each in reverted if self.score(each) > self.score(best)]
        kept = tuple(answer for answer in best.answers if any(answer not in each for each in worse))
        return min([*self._try([kept]), *reverted, best], key=self.score)

    def _try(self, combinations: Sequence[Combination]) -> list[Measured]:
        shared = [self._bench.seeds[:NEAR_SEEDS]] * len(combinations)
        found = self._bench.measured(combinations, shared, self._cells)
        self.near += found
        return found
