"""What one run recorded over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import float64
    from numpy.typing import NDArray

    Column = NDArray[float64]


@dataclass(frozen=True)
class SeriesTable:
    """The columns of one component, each as long as the grid; NaN where there is no value.

    `kind` is `flow` or `link`; the names of the columns carry their units.
    """

    kind: str
    name: str
    columns: dict[str, Column]


@dataclass(frozen=True)
class Recording:
    """Series on a common grid of times in seconds."""

    time_s: Column
    tables: list[SeriesTable]

    @classmethod
    def from_native(cls, recorded: Mapping[str, Any]) -> Recording:
        """Take what `_native.run_seed` returns."""
        tables = [SeriesTable(kind, name, dict(columns)) for kind, name, columns in recorded["tables"]]
        return cls(recorded["time_s"], tables)

    def having(self, kind: str, column: str) -> list[SeriesTable]:
        """Give the tables of one kind that have this column."""
        return [table for table in self.tables if table.kind == kind and column in table.columns]
