"""Which answers move which number: the analysis of variance of the spread combinations (statsmodels)."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.errors import InputError
from cwndlab.papers.judging.verdict import SIGNIFICANT
from cwndlab.statistics.estimate import holm
from cwndlab.statistics.measure import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.papers.contents.paper import Answer, OpenPoint
    from cwndlab.papers.explaining.numbers import Number
    from cwndlab.papers.explaining.search import Measured

# An answer that occurs less often has no estimate of its own.
LEAST = 2


@dataclass(frozen=True)
class Shift:
    """The change of a number with one answer instead of the default: its mean and 95 % interval."""

    value: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Effect:
    """The effect of the answers to one point on one number.

    `share` is the share of the number's variance that only this point explains. `p` is that of the F test
    of the model with against the one without it, after Holm's correction over all points and numbers.
    """

    number: Number
    point: OpenPoint
    share: float
    p: float
    shifts: list[Shift]


class Model:
    """The combinations as columns: one for the mean, and one for each answer that occurs.

    An answer whose effect cannot be told from those before it has no column.
    """

    def __init__(self, measured: Sequence[Measured]) -> None:
        self.measured = measured
        counted = {str(answer): answer for each in measured for answer in each.answers}
        names = [name for name in counted if self._count(name) >= LEAST]
        self.answers: list[Answer] = []
        self.matrix = np.ones((len(measured), 1))
        for name in sorted(names, key=_place):
            wider = np.column_stack([self.matrix, self.column(name)])
            # Without this answer, the others already tell all combinations apart that it tells apart.
            if np.linalg.matrix_rank(wider) == wider.shape[1]:
                self.answers.append(counted[name])
                self.matrix = wider

    def column(self, name: str) -> NDArray[float64]:
        """Return where an answer was given."""
        return np.array([float(any(str(each) == name for each in one.answers)) for one in self.measured])

    def number(self, number: Number) -> NDArray[float64] | None:
        """Return the number in each combination, or None if it is constant or missing in one."""
        known = [fmean(one.values[number.key]) for one in self.measured if number.key in one.values]
        if len(known) < len(self.measured) or max(known) - min(known) <= ROUNDING * abs(max(known)):
            return None
        return np.array(known)

    @property
    def points(self) -> list[OpenPoint]:
        """The points with answers in the model."""
        return list({answer.point.id: answer.point for answer in self.answers}.values())

    def _count(self, name: str) -> int:
        return sum(any(str(each) == name for each in one.answers) for one in self.measured)


def _place(name: str) -> tuple[int, str]:
    """Sort B2 before B12."""
    return len(name.split(":")[0]), name


def effects(model: Model, numbers: Sequence[Number]) -> list[Effect]:
    """Return the significant effects, the largest share of variance first."""
    found = [effect for number in numbers for effect in _of_number(model, number)]
    corrected = holm([effect.p for effect in found])
    known = [
        Effect(each.number, each.point, each.share, p, each.shifts)
        for each, p in zip(found, corrected, strict=True)
        if p <= SIGNIFICANT
    ]
    return sorted(known, key=lambda effect: -effect.share)


def _of_number(model: Model, number: Number) -> Iterator[Effect]:
    ours = model.number(number)
    if ours is None:
        return
    ols = library().OLS
    fit = ols(ours, model.matrix).fit()
    intervals = fit.conf_int()
    for point in model.points:
        own = [index for index, answer in enumerate(model.answers, 1) if answer.point.id == point.id]
        rest = [index for index in range(model.matrix.shape[1]) if index not in own]
        without = ols(ours, model.matrix[:, rest]).fit()
        _, p, _ = fit.compare_f_test(without)
        shifts = [
            Shift(
                model.answers[index - 1].alternative.label,
                float(fit.params[index]),
                *map(float, intervals[index]),
            )
            for index in own
        ]
        share = (without.ssr - fit.ssr) / fit.centered_tss
        yield Effect(number, point, float(share), 1.0 if np.isnan(p) else float(p), shifts)


def library() -> Any:
    """Return statsmodels. Raises `InputError` if it is not installed."""
    try:
        return importlib.import_module("statsmodels.api")
    except ModuleNotFoundError as error:
        text = "--explain: expected the package statsmodels, found none; pip install 'cwndlab[explain]'"
        raise InputError(text) from error
