"""Power laws, fitted as straight lines to logarithms (scipy)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.statistics.measure import Measure, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """`y = factor * x ** exponent`, with the 95 % interval of the exponent over `n` points."""

    factor: float
    exponent: Measure


def power_law(x: Sequence[float], y: Sequence[float]) -> PowerLaw:
    """Fit a power law to at least three points with positive values, by least squares of the logarithms.

    The interval of the exponent is Student's, from how far the points are from the line: it is wide if they
    follow no power law, however precise each of them is.
    """
    from scipy.stats import linregress

    line = linregress([math.log(each) for each in x], [math.log(each) for each in y])
    half_width = t_quantile(len(x) - 2) * float(line.stderr)
    return PowerLaw(math.exp(float(line.intercept)), Measure(float(line.slope), half_width, len(x)))
