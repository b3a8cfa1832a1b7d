"""Values of several seeds, one row for each subject: boxes, or means with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.charts.spans import Span
    from cwndlab.statistics.measure import Measure


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One row: its values, one per seed, and what summarises them. `series` sets the colour.

    `box` holds the least value, the lower quartile, the median, the upper quartile and the greatest value.
    With a `mean`, the mean and its 95 % interval are drawn instead.
    """

    label: str
    series: str
    values: Sequence[float]
    box: tuple[float, float, float, float, float] | None = None
    mean: Measure | None = None


@dataclass(frozen=True, slots=True)
class RowChart:
    """Rows on one axis. `rule` is a reference on it. `note` says what is drawn."""

    title: str
    x_label: str
    rows: Sequence[ChartRow]
    unit: str = ""
    span: Span | None = None
    rule: float | None = None
    rule_label: str = ""
    note: str = ""
