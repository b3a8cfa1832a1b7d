"""An effect over the seeds: its mean or median, its 95 % interval, and its p values.

Means get Student's t intervals and t tests. Medians get bootstrap intervals (percentiles) and sign tests.
All of them come from scipy.

Shares of resamples are no p values: with 10 seeds and no effect, they fall to 0.0025 or less nine to sixteen
times as often as they should (docs/reproduction.md).
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
    statistic: Statistic = "mean"

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
        test = _sign_test if self.statistic == "median" else _t_test
        return test(self.values, bound, side)


def estimate(
    values: Sequence[float],
    statistic: Statistic = "mean",
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Estimate an effect from its value in each seed. Its interval does not leave the `limits`."""
    found = _estimate(values, statistic)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, limits[0]), high=min(found.high, limits[1]))


def _estimate(values: Sequence[float], statistic: Statistic) -> Estimate:
    sample = np.asarray(values, dtype=np.float64)
    value = float(np.median(sample) if statistic == "median" else sample.mean())
    known = tuple(float(each) for each in values)
    if len(known) < 2:
        return Estimate(known, value, None, None, statistic)
    if _is_constant(known):
        return Estimate(known, known[0], known[0], known[0], statistic)
    if statistic == "median":
        return Estimate(known, value, *_median_interval(sample), statistic)
    return Estimate(known, value, *(measure(known).interval or (value, value)))


def _is_constant(values: Sequence[float]) -> bool:
    return math.isclose(min(values), max(values), rel_tol=ROUNDING)


def _t_test(values: Sequence[float], bound: float, side: Literal["greater", "less"]) -> float:
    """Return the p value of Student's one-sided test. `scipy.stats` has it too, but takes seconds to load."""
    from scipy.special import stdtr

    error = np.std(values, ddof=1) / math.sqrt(len(values))
    t = (np.mean(values) - bound) / error
    return float(stdtr(len(values) - 1, -t if side == "greater" else t))


def _sign_test(values: Sequence[float], bound: float, side: Literal["greater", "less"]) -> float:
    """Return the p value of the one-sided sign test. Values equal to the bound do not count."""
    from scipy.special import bdtrc

    above, below = (sum(value > bound for value in values), sum(value < bound for value in values))
    agree = above if side == "greater" else below
    return float(bdtrc(agree - 1, above + below, 0.5)) if agree else 1.0


def _median_interval(sample: NDArray[float64]) -> tuple[float, float]:
    from scipy.stats import bootstrap

    result = bootstrap(
        (sample,),
        np.median,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        # BCa needs the jackknife, which is degenerate for a median.
        method="percentile",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    )
    low, high = (float(end) for end in result.confidence_interval)
    return low, high


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values after Holm's step-down correction, in the same order (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
