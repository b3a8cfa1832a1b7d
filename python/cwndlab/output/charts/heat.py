"""A number for each pair of two settings, and its colour: the darker, the better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from cwndlab.output.charts.spans import is_wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.charts.spans import Span

# Values that span a larger factor have a logarithmic scale.
DECADE = 10.0


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell of a heat map, coloured by its value."""

    text: str
    value: float | None
    href: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of coloured values: one cell for each row and column.

    If it is known whether more is better, the darker end of the colours is the better one.
    """

    title: str
    row_title: str
    column_title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[HeatCell]]
    unit: str = ""
    more_is_better: bool | None = None

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.rows) or any(len(row) != len(self.columns) for row in self.cells):
            raise ValueError(
                f"heat map {self.title!r}: cells must be {len(self.rows)} rows of {len(self.columns)}"
            )

    @property
    def values(self) -> list[float]:
        """The existing values."""
        return [cell.value for row in self.cells for cell in row if is_there(cell.value)]

    @property
    def range(self) -> Span | None:
        """The least and the greatest value."""
        return (min(self.values), max(self.values)) if self.values else None

    @property
    def is_log(self) -> bool:
        """Whether the values span a decade or more, so that a linear scale would hide the small ones."""
        return is_wide(self.values, DECADE)

    @property
    def is_reversed(self) -> bool:
        """Whether the greatest value has the darkest colour."""
        return bool(self.more_is_better)

    @property
    def meaning(self) -> str:
        """What the colours mean."""
        scale = "; logarithmic scale" if self.is_log else ""
        if self.more_is_better is None:
            return f"darker is less{scale}"
        return f"darker is better{scale}"

    def darkness(self, value: float) -> float:
        """Return the position of a value on the colours: 0 the darkest, 1 the lightest."""
        share = self._share(value)
        return 1 - share if self.is_reversed else share

    def _share(self, value: float) -> float:
        ends = self.range
        if ends is None or ends[0] == ends[1]:
            return 0.5
        low, high = ends
        if self.is_log:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)


def is_there(value: float | None) -> TypeGuard[float]:
    """Whether a value can be coloured."""
    return value is not None and math.isfinite(value)
