"""Combinations of answers to what a paper leaves open: spread over all of them, or around one of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cwndlab.papers.contents.cells import conflict
from cwndlab.papers.contents.paper import Answer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from cwndlab.papers.contents.paper import OpenPoint, Paper

# The scrambling of the Sobol' sequence.
DESIGN_SEED = 2024
# So many combinations for each answer leave half of them to estimate the noise.
PER_ANSWER = 2

Combination = tuple[Answer, ...]


class Design:
    """The answers of a paper that can be run, and the combinations of them that do not contradict."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.answers = [
            Answer(point, each)
            for point in paper.open_points
            for each in point.alternatives
            if each.unavailable is None
        ]
        self.points = [point for point in paper.open_points if self.of(point)]
        self._contradictions = {
            (str(one), str(other))
            for one in self.answers
            for other in self.answers
            if one.point.id != other.point.id and conflict(paper, one.alternative, other.alternative)
        }

    def of(self, point: OpenPoint) -> Sequence[Answer]:
        """Return the answers to one point."""
        return [answer for answer in self.answers if answer.point.id == point.id]

    @property
    def least(self) -> int:
        """The number of combinations that the effects of all answers need."""
        return PER_ANSWER * (len(self.answers) + 1)

    def spread(self, count: int) -> list[Combination]:
        """Return at least `count` combinations, spread evenly by a scrambled Sobol' sequence (scipy).

        Each point keeps its default in half of them; its alternatives share the other half. Their number is
        a power of two, as the sequence needs for its balance.
        """
        from scipy.stats import qmc

        sampler = qmc.Sobol(len(self.points), scramble=True, rng=DESIGN_SEED)
        drawn = sampler.random_base2(math.ceil(math.log2(count)))
        return [self.compatible(map(self._chosen, self.points, row)) for row in drawn.tolist()]

    def reverted(self, centre: Combination) -> list[Combination]:
        """Return the combinations with one answer less."""
        return [tuple(each for each in centre if each is not answer) for answer in centre]

    def changed(self, centre: Combination, points: Container[str]) -> list[Combination]:
        """Return the combinations that differ in one answer, other than a default, to one of these points."""
        found = []
        for answer in self.answers:
            if answer.point.id not in points:
                continue
            others = [each for each in centre if each.point.id != answer.point.id]
            combination = self.compatible([*others, answer])
            if answer in combination and combination != centre:
                found.append(combination)
        return found

    def compatible(self, answers: Iterable[Answer | None]) -> Combination:
        """Return the answers in the order of the paper, without those that contradict one before them."""
        wanted = {str(answer) for answer in answers if answer is not None}
        kept: list[Answer] = []
        for answer in self.answers:
            contradicts = any((str(answer), str(each)) in self._contradictions for each in kept)
            if str(answer) in wanted and not contradicts:
                kept.append(answer)
        return tuple(kept)

    def _chosen(self, point: OpenPoint, place: float) -> Answer | None:
        """Return the answer at a place from 0 to 1: the default in the lower half."""
        answers = self.of(point)
        return answers[math.floor((2 * place - 1) * len(answers))] if place >= 0.5 else None
