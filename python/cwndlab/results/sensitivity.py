"""How much each key of a sweep matters: Sobol' indices of a total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.totals import TOTALS
from cwndlab.statistics.sobol import indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.statistics.measure import Measure


@dataclass(frozen=True)
class KeyIndices:
    """The shares of a total's variance over the points that come from one key.

    `alone` is that of the key by itself (first order); `total` has its interactions with other keys too.
    `n` of both is the number of points in each of the two samples.
    """

    key: str
    alone: Measure
    total: Measure

    def to_json(self) -> dict[str, Any]:
        """Return it as a part of a document."""
        return {"key": self.key, "alone": self.alone.to_json(), "total": self.total.to_json()}


def of_keys(
    keys: Sequence[str], total: str, values: Sequence[float | None], order: Sequence[int]
) -> list[KeyIndices]:
    """Return the indices of each key. `values` are those of the points, `order` places them in the design.

    Raises `InputError` if a point has no value, or if the values do not vary.
    """
    if total not in TOTALS:
        raise InputError(f"expected a total ({', '.join(TOTALS)}), found {total!r}")
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        missing = len(values) - len(known)
        raise InputError(f"no indices: expected {total} at all {len(values)} points, found none at {missing}")
    if len(known) <= max(order):
        raise InputError(f"no indices: expected {max(order) + 1} points, found {len(known)}")
    found = indices([known[place] for place in order], len(keys))
    if found is None:
        raise InputError(f"no indices: {total} is the same at all points")
    return [KeyIndices(key, alone, whole) for key, (alone, whole) in zip(keys, found, strict=True)]
