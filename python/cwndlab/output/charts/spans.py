"""The ends of an axis, its scale and its ticks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Span = tuple[float, float]

# An axis spans at least this share of the capacity, so that it does not exaggerate a tiny difference.
LEAST_SHARE = 0.05
# The margin on each side, as a share of the span.
MARGIN = 0.06
# From this number of milliseconds on, seconds are easier to read.
MOST_MS = 10_000


def span(values: Iterable[float | None], capacity: float | None = None, *, floor: float = 0.0) -> Span | None:
    """Return the ends of an axis around these values, with a margin.

    It spans at least 5 % of the capacity; where that is not known, 5 % of the greatest value. It ends at the
    floor if no value is below. Without values there is no axis.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    low, high = min(known), max(known)
    least = LEAST_SHARE * (capacity or max(abs(low), abs(high))) or 1.0
    missing = max(0.0, least - (high - low)) / 2
    margin = MARGIN * max(high - low, least)
    start = low - missing - margin
    return (max(floor, start) if low >= floor else start), high + missing + margin


def amount_span(values: Iterable[float | None], capacity: float | None = None) -> Span | None:
    """Return the ends of an axis of what cannot be negative, though an interval may reach below zero."""
    return span((None if value is None else max(0.0, value) for value in values), capacity)


def log_span(values: Iterable[float | None]) -> Span | None:
    """Return the ends of a logarithmic axis around the positive values, with a margin."""
    known = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    if not known:
        return None
    low, high = min(known), max(known)
    factor = (high / low) ** MARGIN if high > low else 1.5
    return low / factor, high * factor


def is_wide(values: Iterable[float | None], factor: float) -> bool:
    """Whether all values are positive and span this factor or more, so that a logarithmic scale is better."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return bool(known) and min(known) > 0 and max(known) >= factor * min(known)


def readable(unit: str, values: Iterable[float | None]) -> tuple[float, str]:
    """Return a factor and a unit that make the values easy to read: 12 200 ms are 12.2 s."""
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    return (1e-3, "s") if unit == "ms" and known and max(known) >= MOST_MS else (1.0, unit)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between the ends: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]
