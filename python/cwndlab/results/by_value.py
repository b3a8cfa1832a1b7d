"""Equality of values that hold numpy arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class ByValue:
    """Base class of data classes with `eq=False`: two are equal if all of their fields are.

    NaN is equal to NaN here: it stands for a missing value.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByValue) or type(other) is not type(self):
            return NotImplemented
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)

    # Arrays can change, so a hash would lie.
    __hash__ = None  # type: ignore[assignment]


def _equal(one: Any, other: Any) -> bool:
    import numpy as np

    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        # Only floats have NaN, and numpy refuses to look for it in texts.
        floats = all(isinstance(each, np.ndarray) and each.dtype.kind == "f" for each in (one, other))
        return bool(np.array_equal(one, other, equal_nan=floats))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
