"""Points with their intervals, and the front that no other point beats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.charts.spans import Span


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One point, its intervals, and a link to its details.

    `series` sets colour and filling, `marker_key` the marker. `front`: the point is on the Pareto front.
    """

    label: str
    series: str
    x: float | None
    y: float | None
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    href: str | None = None
    hint: str | None = None
    front: bool = False
    marker_key: str = ""


@dataclass(frozen=True, slots=True)
class ScatterChart:
    """Points. A stepped line joins those of the front; they are named where there is room.

    A table on the page holds the same values for readers who do not use a mouse.
    """

    title: str
    x_label: str
    y_label: str
    points: Sequence[ScatterPoint]
    x_unit: str = ""
    y_unit: str = ""
    x_span: Span | None = None
    y_span: Span | None = None
    log_x: bool = False
    log_y: bool = False

    @property
    def joins_front(self) -> bool:
        """Whether the front has points at different places, which a line joins."""
        return len({(point.x, point.y) for point in self.points if point.front}) > 1
