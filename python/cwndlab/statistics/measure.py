"""Means over seeds with their 95 % intervals, and differences paired by seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONFIDENCE = 0.95

# Values with a smaller relative difference count as equal: sums have rounding errors of this size.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over `n` seeds and the half-width of its 95 % t interval.

    `mean` is None when no seed has a value; `half_width` is None when nothing varies or n < 2.
    """

    mean: float | None
    half_width: float | None
    n: int

    def scaled(self, factor: float) -> Measure:
        """Return the measure in another unit."""
        if factor == 1 or self.mean is None:
            return self
        half_width = None if self.half_width is None else abs(factor) * self.half_width
        return Measure(factor * self.mean, half_width, self.n)

    def widened(self, looks: int) -> Measure:
        """Return the measure with the interval that holds beside those of all other looks at its seeds."""
        if looks == 1 or self.half_width is None:
            return self
        factor = t_quantile(self.n - 1, level(looks)) / t_quantile(self.n - 1)
        return Measure(self.mean, factor * self.half_width, self.n)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval."""
        if self.mean is None or self.half_width is None:
            return None
        return self.mean - self.half_width, self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """Whether the 95 % interval excludes zero; a value that does not vary over several seeds is known."""
        ends = self.interval
        if ends is None:
            return self.n > 1 and bool(self.mean)
        return ends[0] > 0 or ends[1] < 0

    def to_json(self) -> dict[str, Any]:
        """Return the measure as in every JSON document of cwndlab."""
        ends = self.interval
        return {"mean": self.mean, "ci95": None if ends is None else list(ends), "n": self.n}


def measure(values: Iterable[float | None]) -> Measure:
    """Summarise the values of one quantity, one per seed. Missing and non-finite values are left out."""
    present = [float(value) for value in values if value is not None and math.isfinite(value)]
    n = len(present)
    if n == 0:
        return Measure(None, None, 0)
    if math.isclose(min(present), max(present), rel_tol=ROUNDING):
        return Measure(present[0], None, n)
    mean = math.fsum(present) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in present) / (n - 1))
    return Measure(mean, t_quantile(n - 1) * deviation / math.sqrt(n), n)


def level(looks: int) -> float:
    """Return the level of each of so many intervals that makes all of them hold together at 95 %."""
    return 1 - (1 - CONFIDENCE) / looks


def paired_difference(these: Sequence[float | None], those: Sequence[float | None]) -> Measure:
    """Summarise the differences `these - those`, seed by seed. Incomplete pairs are left out."""
    pairs = zip(these, those, strict=True)
    return measure(None if this is None or that is None else _difference(this, that) for this, that in pairs)


def unpaired_difference(these: Sequence[float | None], those: Sequence[float | None]) -> Measure:
    """Summarise the difference of the means of `these` and `those`, with Welch's t interval.

    `n` is the smaller number of values. There is no interval if either has a single value.
    """
    samples = [
        [each for each in values if each is not None and math.isfinite(each)] for values in (these, those)
    ]
    this, that = (measure(values) for values in samples)
    if this.mean is None or that.mean is None:
        return Measure(None, None, 0)
    n = min(this.n, that.n)
    mean = _difference(this.mean, that.mean)
    errors = [_squared_error(values) for values in samples]
    if n < 2 or not sum(errors):
        return Measure(mean, None, n)
    parts = ((error**2 / (len(values) - 1)) for error, values in zip(errors, samples, strict=True))
    return Measure(mean, t_quantile(sum(errors) ** 2 / sum(parts)) * math.sqrt(sum(errors)), n)


def _squared_error(values: Sequence[float]) -> float:
    """Return the squared standard error of the mean; 0 if nothing varies but by rounding."""
    if len(values) < 2 or math.isclose(min(values), max(values), rel_tol=ROUNDING):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)


def _difference(this: float, that: float) -> float:
    return 0.0 if math.isclose(this, that, rel_tol=ROUNDING) else this - that


@cache
def t_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Return Student's quantile that a two-sided interval of this confidence takes."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
