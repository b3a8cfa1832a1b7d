"""The mean of values that are no random sample, with the lowest and the highest of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean of `n` values, and the ends of their range. All are None if there is no value."""

    mean: float | None
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        """Return the spread as in the documents of cwndlab."""
        return {"mean": self.mean, "lowest": self.low, "highest": self.high, "n": self.n}


def spread(values: Iterable[float | None]) -> Spread:
    """Return the mean and the range of values. Missing ones are left out."""
    present = [value for value in values if value is not None]
    if not present:
        return Spread(None, None, None, 0)
    return Spread(math.fsum(present) / len(present), min(present), max(present), len(present))
