"""The Pareto front: the points that no other point beats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.statistics.measure import Measure


@dataclass(frozen=True, slots=True)
class Point:
    """A setting with its cost `x` and its gain `y`.

    In a figure, `series` (such as the algorithm) sets the colour, and `marker_key` (such as the buffer) sets
    the marker.
    """

    label: str
    series: str
    marker_key: str
    x: Measure
    y: Measure


def front(points: Sequence[Point]) -> list[bool]:
    """Return for each point whether it is efficient.

    A point is efficient if no other point has at most its `x` and at least its `y`, with one of them better.
    Only the means count. Equal points are all efficient; a point without values is not.
    """
    means = {
        index: (point.x.mean, point.y.mean)
        for index, point in enumerate(points)
        if point.x.mean is not None and point.y.mean is not None
    }
    efficient = [False] * len(points)
    best: tuple[float, float] | None = None
    for index in sorted(means, key=lambda index: (means[index][0], -means[index][1])):
        # All earlier points cost no more, so this one is efficient only if its gain is greater.
        mean = means[index]
        if best is None or mean[1] > best[1] or mean == best:
            efficient[index] = True
            best = mean
    return efficient
