"""Pairs of answers that act together: the effect of both is not the sum of their own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.papers.explaining.numbers import cells_of
from cwndlab.papers.judging.verdict import SIGNIFICANT
from cwndlab.statistics.estimate import Estimate, estimate, holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.papers.contents.paper import Answer
    from cwndlab.papers.explaining.design import Combination, Design
    from cwndlab.papers.explaining.effects import Effect, Model
    from cwndlab.papers.explaining.numbers import Number
    from cwndlab.papers.explaining.search import Bench, Measured

# Two answers are measured alone and together with these many seeds.
PAIR_SEEDS = 10
# At most so many pairs of answers are measured.
MOST_PAIRS = 24


@dataclass(frozen=True)
class Suspicion:
    """Two points whose answers may act together on a number, with the p value of the first look."""

    first: str
    second: str
    number: Number
    p: float


@dataclass(frozen=True)
class Pair:
    """Two answers that act together on a number.

    `both` is the change of the number from the defaults under both answers, `first_alone` and
    `second_alone` that under one. `interaction` is the first less the others, paired by seed; `p` is that of
    its t test after Holm's correction over everything that was measured.
    """

    number: Number
    first: Answer
    second: Answer
    first_alone: float
    second_alone: float
    both: float
    interaction: Estimate
    p: float


def suspicions(
    model: Model, numbers: Sequence[Number], effects: Sequence[Effect], near: Combination
) -> list[Suspicion]:
    """Return the points that may act together, the likeliest first.

    The F test of the product of two points in the model of the spread combinations ranks them. At least one
    of them has an effect of its own on the number, or both answers belong to the closest reading.
    """
    own = {answer.point.id for answer in near}
    moved = {(effect.number.id, effect.point.id) for effect in effects}
    found = [
        suspicion
        for number in numbers
        for suspicion in _of_number(model, number)
        if {suspicion.first, suspicion.second} <= own
        or (
            suspicion.p <= SIGNIFICANT
            and {(number.id, suspicion.first), (number.id, suspicion.second)} & moved
        )
    ]
    return sorted(found, key=lambda each: each.p)


def _of_number(model: Model, number: Number) -> Iterator[Suspicion]:
    """Yield the p value of the product of any two points (the theorem of Frisch, Waugh and Lovell)."""
    from scipy import stats

    ours = model.number(number)
    if ours is None:
        return
    left = _residual(model, ours)
    freedom = len(ours) - int(np.linalg.matrix_rank(model.matrix)) - 1
    for one, other in combinations([point.id for point in model.points], 2):
        column = _residual(model, model.with_point(one) * model.with_point(other))
        size = float(column @ column)
        if size < 1e-9 or freedom < 1:
            continue
        rest = left - (column @ left) / size * column
        error = float(np.sqrt(rest @ rest / freedom / size))
        if error > 0:
            t = abs(float(column @ left)) / size / error
            yield Suspicion(one, other, number, float(2 * stats.t.sf(t, freedom)))


def _residual(model: Model, column: NDArray[float64]) -> NDArray[float64]:
    fitted, *_ = np.linalg.lstsq(model.matrix, column, rcond=None)
    return np.asarray(column - model.matrix @ fitted)


@dataclass(frozen=True)
class _Question:
    """Two answers and the number on which they may act together."""

    first: Answer
    second: Answer
    number: Number

    @property
    def corners(self) -> list[Combination]:
        """Both answers, each alone, and neither."""
        return [(self.first, self.second), (self.first,), (self.second,), ()]


def pairs(bench: Bench, found: Sequence[Suspicion]) -> list[Pair]:
    """Measure the answers to suspected points around the defaults, and return those that act together."""
    questions = _questions(bench.design, found)
    cells = cells_of([each.number for each in questions])
    wanted = {_key(corner): corner for each in questions for corner in each.corners}
    shared = [bench.seeds[:PAIR_SEEDS]] * len(wanted)
    known = {_key(each.answers): each for each in bench.measured(list(wanted.values()), shared, cells)}
    measured = [pair for each in questions if (pair := _pair(each, known)) is not None]
    corrected = holm([pair.p for pair in measured])
    significant = [
        Pair(**{**vars(pair), "p": p})
        for pair, p in zip(measured, corrected, strict=True)
        if p <= SIGNIFICANT
    ]
    return sorted(significant, key=lambda pair: -abs(pair.interaction.value / pair.number.paper))


def _questions(design: Design, found: Sequence[Suspicion]) -> list[_Question]:
    """Return the pairs of answers to suspected points that do not contradict each other."""
    pairs_of: dict[tuple[str, str], list[tuple[Answer, Answer]]] = {}
    questions = []
    for each in found:
        points = (each.first, each.second)
        if points not in pairs_of:
            firsts, seconds = (
                [answer for answer in design.answers if answer.point.id == point] for point in points
            )
            fitting = [pair for pair in product(firsts, seconds) if len(design.compatible(pair)) == 2]
            if sum(map(len, pairs_of.values())) + len(fitting) > MOST_PAIRS:
                continue
            pairs_of[points] = fitting
        questions += [_Question(one, other, each.number) for one, other in pairs_of[points]]
    return questions


def _pair(question: _Question, known: dict[tuple[str, ...], Measured]) -> Pair | None:
    number = question.number
    corners = [known.get(_key(corner)) for corner in question.corners]
    values = [
        corner.values[number.key] for corner in corners if corner is not None and number.key in corner.values
    ]
    if len(values) < len(corners):
        return None
    both, first, second, neither = (np.array(each) for each in values)
    interaction = estimate([float(each) for each in both - first - second + neither])
    p = min(1.0, 2 * min(interaction.p_above(0), interaction.p_below(0)))
    first_alone, second_alone, change = (float((corner - neither).mean()) for corner in (first, second, both))
    return Pair(number, question.first, question.second, first_alone, second_alone, change, interaction, p)


def _key(answers: Combination) -> tuple[str, ...]:
    return tuple(sorted(map(str, answers)))
