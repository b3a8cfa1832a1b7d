"""Formats numbers for people, with no more digits than the interval justifies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab.statistics.measure import Measure

MISSING = "-"


def with_interval(measure: Measure, sign: str = " ± ", *, signed: bool = False) -> str:
    """Format as `mean ± half-width`, or as the mean alone if nothing varies. `signed` shows plus signs too.

    The half-width gets two significant digits, and the mean the same number of decimals.
    """
    if measure.mean is None:
        return MISSING
    plus = "+" if signed and measure.mean > 0 else ""
    if measure.half_width is None:
        return plus + plain(measure.mean)
    # The mean gets at most five significant digits, even if the interval is very narrow.
    decimals = min(_decimals(measure.half_width, 2), _decimals(measure.mean, 5))
    half_width = f"{measure.half_width:.{decimals}f}"
    if float(half_width) == 0:
        half_width = f"<{10.0**-decimals:.{decimals}f}"
    mean = f"{measure.mean:.{decimals}f}"
    if float(mean) == 0:
        # A tiny mean has no sign: neither "-0.00" nor "+0.00".
        plus, mean = "", mean.removeprefix("-")
    return f"{plus}{mean}{sign}{half_width}"


def counted(count: int, thing: str) -> str:
    """Return `1 link`, `2 links`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def plain(value: float) -> str:
    """Format with four significant digits, and whole numbers in full."""
    if value == round(value) and abs(value) < 1e15:
        return str(round(value))
    if abs(value) < 1e-3:
        return f"{value:.3g}"
    return f"{value:.{_decimals(value, 4)}f}"


def _decimals(value: float, digits: int) -> int:
    """Return the number of decimals that shows `value` with `digits` significant digits."""
    if value == 0:
        return digits
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))
