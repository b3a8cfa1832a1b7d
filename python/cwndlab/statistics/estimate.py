"""An effect over the seeds: its mean or median, its 95 % interval, and its p values.

Means get Student's t intervals and t tests. Ratios, indices and medians get bootstrap intervals (BCa: Efron
1987), and their tests count the resamples on the wrong side. All of them come from scipy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cwndlab.statistics.measure import CONFIDENCE, ROUNDING, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES = 9999
# The bootstrap draws the same resamples each time, so that a verdict does not depend on luck.
BOOTSTRAP_SEED = 2024

Method = Literal["t", "bootstrap"]
Statistic = Literal["mean", "median"]


@dataclass(frozen=True)
class Estimate:
    """The effect in each seed, and its estimate over all seeds.

    `low` and `high` are the ends of the 95 % interval. Both equal the value if it is the same in every seed.
    With a single seed both are None.
    """

    values: tuple[float, ...]
    value: float
    low: float | None
    high: float | None
    _resamples: NDArray[float64] | None = None

    @property
    def n(self) -> int:
        """The number of seeds."""
        return len(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether every seed has the same value. It is then known, not estimated."""
        return self.n > 1 and _is_constant(self.values)

    def p_above(self, bound: float) -> float:
        """Return the probability of a value this large if the truth is at most `bound` (one-sided)."""
        return self._one_sided(bound, "greater")

    def p_below(self, bound: float) -> float:
        """Return the probability of a value this small if the truth is at least `bound` (one-sided)."""
        return self._one_sided(bound, "less")

    def _one_sided(self, bound: float, side: Literal["greater", "less"]) -> float:
        if self.n < 2:
            return 1.0
        if self.is_constant:
            holds = self.value > bound if side == "greater" else self.value < bound
            return 0.0 if holds else 1.0
        if self._resamples is not None:
            against = self._resamples <= bound if side == "greater" else self._resamples >= bound
            share = float((np.count_nonzero(against) + 1) / (len(self._resamples) + 1))
            # Few values have few distinct resamples, and possibly none on the wrong side. By chance alone all
            # n values are on one side once in 2^n, so no distribution-free test can have a smaller p value.
            return max(share, 0.5**self.n)

        return _t_test(self.values, bound, side)


def estimate(
    values: Sequence[float],
    method: Method = "t",
    statistic: Statistic = "mean",
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Estimate an effect from its value in each seed. Its interval does not leave the `limits`."""
    found = _estimate(values, method, statistic)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, limits[0]), high=min(found.high, limits[1]))


def _estimate(values: Sequence[float], method: Method, statistic: Statistic) -> Estimate:
    sample = np.asarray(values, dtype=np.float64)
    value = float(np.median(sample) if statistic == "median" else sample.mean())
    known = tuple(float(each) for each in values)
    if len(known) < 2:
        return Estimate(known, value, None, None)
    if _is_constant(known):
        return Estimate(known, known[0], known[0], known[0])
    if method == "t":
        return Estimate(known, value, *(measure(known).interval or (value, value)))
    return _bootstrapped(sample, value, statistic)


def _is_constant(values: Sequence[float]) -> bool:
    return math.isclose(min(values), max(values), rel_tol=ROUNDING)


def _t_test(values: Sequence[float], bound: float, side: Literal["greater", "less"]) -> float:
    """Return the p value of Student's one-sided test. `scipy.stats` has it too, but takes seconds to load."""
    from scipy.special import stdtr

    error = np.std(values, ddof=1) / math.sqrt(len(values))
    t = (np.mean(values) - bound) / error
    return float(stdtr(len(values) - 1, -t if side == "greater" else t))


def _bootstrapped(sample: NDArray[float64], value: float, statistic: Statistic) -> Estimate:
    from scipy.stats import bootstrap

    result = bootstrap(
        (sample,),
        np.median if statistic == "median" else np.mean,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        # BCa needs the jackknife, which is degenerate for a median, so a median gets plain percentiles.
        method="percentile" if statistic == "median" else "BCa",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    )
    low, high = (float(end) for end in result.confidence_interval)
    return Estimate(tuple(sample.tolist()), value, low, high, result.bootstrap_distribution)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values after Holm's step-down correction, in the same order (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
