"""The numbers of a paper that an explanation is about, and how far ours are from them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from cwndlab.papers.language.expression import NoValueError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.papers.contents.paper import Paper
    from cwndlab.papers.judging.evaluation import Evaluated
    from cwndlab.papers.language.expression import Expression


@dataclass(frozen=True)
class Number:
    """A number that the paper reports, and the effect that computes ours."""

    id: str
    text: str
    unit: str
    paper: float
    effect: Expression

    @property
    def key(self) -> str:
        """The quantity: that of a baseline may be a reported one."""
        return f"{self.effect.text} of {', '.join(self.effect.cells)}"


def reported(paper: Paper) -> list[Number]:
    """Return the numbers that the paper measured and that have an effect, each quantity once.

    A 0 is left out: there is no distance relative to it.
    """
    found = [
        Number(
            target.id,
            f"{target.experiment}: {target.metric} of {target.variant} {target.flow}".removesuffix(" "),
            target.unit,
            target.number,
            target.effect,
        )
        for target in paper.targets
        if target.kind == "measured" and target.effect is not None and target.number
    ]
    return _unique(found)


def of_baselines(paper: Paper) -> list[Number]:
    """Return the numbers of the paper's baselines."""
    return [
        Number(f"{paper.id}-baseline-{index}", each.text, each.unit, each.paper, each.effect)
        for index, each in enumerate(paper.baselines, 1)
    ]


def all_numbers(paper: Paper) -> list[Number]:
    """Return the reported numbers and the baselines that are not among them."""
    return _unique([*reported(paper), *of_baselines(paper)])


def cells_of(numbers: Sequence[Number]) -> set[str]:
    """Return the cells that these numbers need."""
    return {cell for number in numbers for cell in number.effect.cells}


def values(evaluated: Evaluated, numbers: Sequence[Number]) -> dict[str, list[float]]:
    """Return our value of each number in each seed by its key, without those that were not run."""
    found = {}
    for number in numbers:
        try:
            found[number.key] = evaluated.values(number.effect)
        except NoValueError:
            continue
    return found


def distance(numbers: Sequence[Number], ours: Mapping[str, Sequence[float]]) -> float:
    """Return the mean of |ours - paper| / (|ours| + |paper|): 0 if all are equal, 1/3 if all are doubled.

    This is the Canberra distance (Lance and Williams 1967) over the number of numbers. It needs no scale
    for each number, and no single number can decide it. A number that is missing counts as 1.
    """
    gaps = [_relative(number.paper, ours.get(number.key)) for number in numbers]
    return fmean(gaps) if gaps else 0.0


def _relative(paper: float, ours: Sequence[float] | None) -> float:
    if ours is None:
        return 1.0
    mean = fmean(ours)
    return abs(mean - paper) / (abs(mean) + abs(paper))


def _unique(numbers: Sequence[Number]) -> list[Number]:
    known: dict[str, Number] = {}
    for number in numbers:
        known.setdefault(number.key, number)
    return list(known.values())
