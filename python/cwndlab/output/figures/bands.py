"""Lines of means over seeds, with the range of the seeds as bands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.charts import Series
from cwndlab.statistics.spread import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.results.recording import Column


def seed_line(label: str, seeds: Sequence[Column]) -> Series:
    """Return the mean over the seeds with a band from the lowest to the highest of them.

    A t interval of few seeds would go beyond what is possible, such as the rate of the link.
    """
    spreads = [
        spread(None if math.isnan(value) else value for value in column)
        for column in zip(*seeds, strict=True)
    ]
    middle = [each.mean for each in spreads]
    low, high = ([getattr(each, end) for each in spreads] for end in ("low", "high"))
    return Series(label, middle, None if low == high else (low, high))


def blocks(values: Column, width: int) -> Column:
    """Return the means of consecutive blocks of `width` values that have one. A shorter rest is left out."""
    whole = len(values) // width * width
    parts = values[:whole].reshape(-1, width)
    known = ~np.isnan(parts)
    counts = known.sum(axis=1)
    sums = np.where(known, parts, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def total(rows: Sequence[Column], *, is_sum: bool) -> Column:
    """Return the sum or the mean of several columns where any of them has a value."""
    table = np.vstack(rows)
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    sums = np.where(known, table, 0.0).sum(axis=0)
    return np.where(counts > 0, sums if is_sum else sums / np.maximum(counts, 1), np.nan)


def of_many(label: str, columns: Sequence[Column]) -> Series:
    """Return the median of many lines, with a band from the 10th to the 90th percentile."""
    values = np.vstack(columns)
    low, median, high = (_quantile(values, share) for share in (10, 50, 90))
    return Series(label, median, (low, high))


def _quantile(values: NDArray[float64], percent: float) -> list[float | None]:
    some = ~np.isnan(values).all(axis=0)
    result = np.full(values.shape[1], np.nan)
    result[some] = np.nanpercentile(values[:, some], percent, axis=0)
    listed: list[float | None] = result.tolist()
    return listed
