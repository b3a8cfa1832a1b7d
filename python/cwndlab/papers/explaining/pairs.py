"""Pairs of answers that act together: the effect of both is not the sum of their own.

With a few dozen combinations, the product of two answers cannot be told from that of two others. So the
pairs are measured directly: each answer that moves a number most, with every other answer (effect heredity:
Hamada and Wu, Analysis of Designed Experiments with Complex Aliasing, 1992). A few seeds rank them, and the
others test the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.papers.explaining.numbers import cells_of
from cwndlab.papers.judging.verdict import SIGNIFICANT
from cwndlab.statistics.estimate import Estimate, estimate, holm
from cwndlab.statistics.measure import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.papers.contents.paper import Answer
    from cwndlab.papers.explaining.design import Combination, Design
    from cwndlab.papers.explaining.effects import Effect
    from cwndlab.papers.explaining.numbers import Number
    from cwndlab.papers.explaining.search import Bench

# The approximate limit of pairs that are ranked, and the number of seeds that rank them. Two are too few
# where a run ends in one of two states: B2 x B12 of han2024 adds 80 % of a path to every other seed.
RANKED = 128
RANKING_SEEDS = 4
# The largest interactions are tested with the other seeds, so that the choice does not bias the test.
TESTED = 16


@dataclass(frozen=True)
class Suspicion:
    """Two answers that may act together on a number.

    `size` is the interaction that the ranking found, in units of the paper's number.
    """

    first: Answer
    second: Answer
    number: Number
    size: float


@dataclass(frozen=True)
class Pair:
    """Two answers that act together on a number.

    `both` is the change of the number from the defaults under both answers, `first_alone` and
    `second_alone` that under one. `interaction` is the first less the others, paired by seed; `p` is that of
    its t test after Holm's correction over everything that was tested.
    """

    number: Number
    first: Answer
    second: Answer
    first_alone: float
    second_alone: float
    both: float
    interaction: Estimate
    p: float


def strongest(design: Design, effects: Iterable[Effect]) -> list[Answer]:
    """Return the answers that move a number most, relative to the paper's value."""
    sizes: dict[tuple[str, str], float] = {}
    for effect in effects:
        for shift in effect.shifts:
            key = (effect.point.id, shift.value)
            sizes[key] = max(sizes.get(key, 0.0), abs(shift.mean / effect.number.paper))
    known = {(answer.point.id, answer.alternative.label): answer for answer in design.answers}
    ranked = sorted(sizes, key=lambda key: -sizes[key])
    return [known[key] for key in ranked[: max(2, RANKED // len(design.answers))]]


def suspicions(
    bench: Bench, numbers: Sequence[Number], effects: Sequence[Effect], near: Combination
) -> list[Suspicion]:
    """Measure pairs with few seeds, and return the largest interactions.

    The pairs are those of the strongest answers with every other, and those within the closest reading.
    """
    wanted = dict.fromkeys([*_with_strongest(bench.design, effects), *combinations(near, 2)])
    corners = [corner for pair in wanted for corner in _corners(*pair)]
    known = _Known(bench, corners, bench.seeds[:RANKING_SEEDS], numbers)
    found = [
        Suspicion(*pair, number, abs(float(values.mean()) / number.paper))
        for pair in wanted
        for number in numbers
        if (values := known.interaction(*pair, number)) is not None
    ]
    ranked = sorted(found, key=lambda each: -each.size)
    # Of the numbers of a pair, the one that it moves most: several may be the same quantity in other units.
    largest: dict[tuple[str, str], Suspicion] = {}
    for each in ranked:
        largest.setdefault((str(each.first), str(each.second)), each)
    return [each for each in largest.values() if each.size > ROUNDING][:TESTED]


def _with_strongest(design: Design, effects: Iterable[Effect]) -> Iterator[tuple[Answer, Answer]]:
    """Yield the strongest answers with every other that does not contradict, each pair once."""
    seen: set[frozenset[str]] = set()
    for one in strongest(design, effects):
        for other in design.answers:
            pair = design.compatible((one, other))
            names = frozenset(map(str, pair))
            if one.point.id != other.point.id and len(pair) == 2 and names not in seen:
                seen.add(names)
                yield pair[0], pair[1]


def pairs(bench: Bench, found: Sequence[Suspicion]) -> list[Pair]:
    """Test suspicions around the defaults, and return the pairs that act together, the largest first."""
    corners = [corner for each in found for corner in _corners(each.first, each.second)]
    known = _Known(bench, corners, bench.seeds[RANKING_SEEDS:], [each.number for each in found])
    tested = [pair for each in found if (pair := _pair(each, known)) is not None]
    corrected = holm([pair.p for pair in tested])
    significant = [replace(pair, p=p) for pair, p in zip(tested, corrected, strict=True) if p <= SIGNIFICANT]
    return sorted(significant, key=lambda pair: -abs(pair.interaction.value / pair.number.paper))


def _pair(each: Suspicion, known: _Known) -> Pair | None:
    values = known.corners(each.first, each.second, each.number)
    interaction = known.interaction(each.first, each.second, each.number)
    if values is None or interaction is None:
        return None
    both, first, second, neither = values
    estimated = estimate(interaction.tolist())
    p = min(1.0, 2 * min(estimated.p_above(0), estimated.p_below(0)))
    first_alone, second_alone, change = (float((corner - neither).mean()) for corner in (first, second, both))
    return Pair(each.number, each.first, each.second, first_alone, second_alone, change, estimated, p)


def _corners(first: Answer, second: Answer) -> list[Combination]:
    """Return both answers, each alone, and neither."""
    return [(first, second), (first,), (second,), ()]


class _Known:
    """The measured combinations, by their answers."""

    def __init__(
        self, bench: Bench, wanted: Sequence[Combination], seeds: Sequence[int], numbers: Sequence[Number]
    ) -> None:
        each_once = list(dict.fromkeys(wanted))
        found = bench.measured(each_once, [seeds] * len(each_once), cells_of(numbers))
        self._measured = {each.answers: each.values for each in found}

    def corners(self, first: Answer, second: Answer, number: Number) -> list[NDArray[float64]] | None:
        """Return the number in each seed at each corner, or None if one is missing."""
        values = [self._measured.get(corner, {}).get(number.key) for corner in _corners(first, second)]
        return None if any(each is None for each in values) else [np.array(each) for each in values]

    def interaction(self, first: Answer, second: Answer, number: Number) -> NDArray[float64] | None:
        """Return in each seed how much the effect of both differs from the sum of their own."""
        values = self.corners(first, second, number)
        return None if values is None else values[0] - values[1] - values[2] + values[3]
