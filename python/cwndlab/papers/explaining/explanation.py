"""Explains a paper: which answers move which number, which act together, and which come closest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.papers.contents.readings import claimed_cells, reading
from cwndlab.papers.explaining.design import Design
from cwndlab.papers.explaining.effects import Effect, Model, Shift, effects, library
from cwndlab.papers.explaining.numbers import all_numbers, of_baselines
from cwndlab.papers.explaining.pairs import Pair, pairs, suspicions
from cwndlab.papers.explaining.search import NEAR_SEEDS, Bench, Measured, Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.contents.paper import Paper
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.explaining.numbers import Number
    from cwndlab.papers.explaining.search import Measure


# With more answers than this, the search tries only those to points that move some number.
MOST_ANSWERS = 30


@dataclass(frozen=True)
class Found:
    """A combination of answers that a search found, with its distance and that of the defaults."""

    measured: Measured
    distance: float
    of_defaults: float


@dataclass(frozen=True)
class Explanation:
    """The outcome of a designed search over the answers to what a paper leaves open.

    `set_up` is the combination that is closest to the numbers of the paper's own baselines. `charitable` is
    the one that is closest to all of its numbers, so it is fitted to what the paper claims.
    """

    paper: Paper
    combinations: int
    numbers: list[Number]
    effects: list[Effect]
    pairs: list[Pair]
    set_up: Found
    charitable: Found

    def readings(self, seeds: Sequence[int]) -> list[Reading]:
        """Return the readings to judge with all seeds."""
        cells = claimed_cells(self.paper)
        found = [
            reading(self.paper, seeds, each.measured.answers, cells, fitted=each is self.charitable)
            for each in (self.set_up, self.charitable)
            if each.measured.answers
        ]
        return list({each.value: each for each in reversed(found)}.values())[::-1]

    def to_json(self) -> dict[str, Any]:
        """Return its part of the document of a reproduction."""
        return {
            "combinations": self.combinations,
            "numbers": len(self.numbers),
            "effects": [_effect_json(each) for each in self.effects],
            "pairs": [_pair_json(each) for each in self.pairs],
            "set_up": _found_json(self.set_up),
            "charitable": _found_json(self.charitable),
        }


def expected_searches(paper: Paper) -> int:
    """Return about how many times a search runs every cell with one seed."""
    design = Design(paper)
    return design.least + 2 * NEAR_SEEDS * len(design.answers)


def explain(paper: Paper, seeds: Sequence[int], measure: Measure) -> Explanation:
    """Search the combinations of answers. `measure` runs readings with all their seeds.

    Raises `InputError` if statsmodels is not installed.
    """
    library()
    numbers = all_numbers(paper)
    bench = Bench(Design(paper), seeds, measure)
    spread = bench.spread()
    model = Model(spread)
    moved = effects(model, numbers)
    set_up = _found(Search(bench, of_baselines(paper)), spread, moved)
    charitable = _found(Search(bench, numbers), spread, moved)
    acting = pairs(bench, suspicions(bench, numbers, moved, charitable.measured.answers))
    return Explanation(paper, bench.count, numbers, moved, acting, set_up, charitable)


def _found(search: Search, spread: Sequence[Measured], moved: Sequence[Effect]) -> Found:
    known = {answer.point.id for answer in search.answers}
    moving = {effect.point.id for effect in moved}
    best = search.closest(spread, moving if len(search.answers) > MOST_ANSWERS else known)
    defaults = next(each for each in search.near if not each.answers)
    return Found(best, search.distance(best), search.distance(defaults))


def _effect_json(effect: Effect) -> dict[str, Any]:
    return {
        "option": effect.point.id,
        "number": _number_json(effect.number),
        "share_of_variance": effect.share,
        "p_holm": effect.p,
        "answers": [_shift_json(each) for each in effect.shifts],
    }


def _shift_json(shift: Shift) -> dict[str, Any]:
    return {"value": shift.value, "mean": shift.mean, "ci95": [shift.low, shift.high]}


def _pair_json(pair: Pair) -> dict[str, Any]:
    interaction = pair.interaction
    return {
        "number": _number_json(pair.number),
        "answers": [str(pair.first), str(pair.second)],
        "first_alone": pair.first_alone,
        "second_alone": pair.second_alone,
        "both": pair.both,
        "interaction": {
            "mean": interaction.value,
            "ci95": [interaction.low, interaction.high],
            "n": interaction.n,
        },
        "p_holm": pair.p,
    }


def _number_json(number: Number) -> dict[str, Any]:
    return {"id": number.id, "text": number.text, "unit": number.unit, "paper": number.paper}


def _found_json(found: Found) -> dict[str, Any]:
    return {
        "answers": [str(answer) for answer in found.measured.answers],
        "distance": found.distance,
        "distance_of_defaults": found.of_defaults,
    }
