"""Which of several points nothing else beats: the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.statistics.measure import Measure


@dataclass(frozen=True, slots=True)
class Point:
    """A setting by its cost `x` and its gain `y`.

    In a figure `series`, such as the algorithm, gives its colour, and `marker_key`, such as the buffer, its
    marker.
    """

    label: str
    series: str
    marker_key: str
    x: Measure
    y: Measure


def front(points: Sequence[Point]) -> list[bool]:
    """Whether each point is efficient: none has no more `x` and no less `y`, and one of them better.

    Only the means count. A point without values is not efficient; of equal ones all are.
    """
    means = {
        index: (point.x.mean, point.y.mean)
        for index, point in enumerate(points)
        if point.x.mean is not None and point.y.mean is not None
    }
    efficient = [False] * len(points)
    best: tuple[float, float] | None = None
    for index in sorted(means, key=lambda index: (means[index][0], -means[index][1])):
        # All that came before cost no more, so only a greater gain is new.
        mean = means[index]
        if best is None or mean[1] > best[1] or mean == best:
            efficient[index] = True
            best = mean
    return efficient
