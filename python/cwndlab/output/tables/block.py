"""One table of measures, fitted to the width of the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from cwndlab.statistics.measure import Measure
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.tables.columns import Column

# Longer names continue on the next line.
MAX_NAME = 28
# Follows a difference whose interval excludes zero.
MARK = " *"


@dataclass(frozen=True, slots=True)
class Row:
    """The labels of a row and its measures. A difference is `signed`.

    `anchor` is the place in a report with more about this row. `seeds` is the number of its seeds, if the
    rows of the table differ in them.
    """

    labels: tuple[str, ...]
    measures: Mapping[str, Measure] = field(default_factory=dict)
    signed: bool = False
    anchor: str | None = None
    seeds: int | None = None

    def value(self, column: Column) -> Measure:
        """Return the measure of one cell, in the column's unit."""
        return self.measures.get(column.key, Measure(None, None, 0)).scaled(column.scale)


@dataclass(frozen=True, slots=True)
class Block:
    """One table: the headings of its labels, its rows, its columns, and the number of seeds.

    `counted` is what that number counts, if it is not seeds.
    """

    headings: tuple[str, ...]
    rows: Sequence[Row]
    columns: Sequence[Column]
    seeds: int
    counted: str = "seeds"

    def measured(self) -> Block:
        """Return the table without empty columns, and without labels that are empty in all rows."""
        columns = [column for column in self.columns if any(row.value(column).n for row in self.rows)]
        kept = [index for index in range(len(self.headings)) if any(row.labels[index] for row in self.rows)]
        rows = [replace(row, labels=tuple(row.labels[index] for index in kept)) for row in self.rows]
        return Block(tuple(self.headings[index] for index in kept), rows, columns, self.seeds)

    @property
    def is_partial(self) -> bool:
        """Whether some seeds lack a value that others have."""
        return any(self.is_short(row, column) for row in self.rows for column in self.columns)

    def is_short(self, row: Row, column: Column) -> bool:
        """Whether some seeds have a value and others do not."""
        return column.counted and 0 < row.value(column).n < (row.seeds or self.seeds)

    def cell(self, row: Row, column: Column, sign: str = " ± ") -> str:
        """Return the text of one cell, with the number of seeds if some lack a value."""
        measure = row.value(column)
        count = f" ({measure.n})" if self.is_short(row, column) else ""
        signed = row.signed or column.signed
        mark = MARK if signed and measure.excludes_zero else ""
        return with_interval(measure, sign, signed=signed) + mark + count


@dataclass(frozen=True, slots=True)
class Layout:
    """The width of a table: the sign before a half-width, and the number of spaces between columns."""

    sign: str
    gap: int


# Widest first. The first layout that fits is used.
LAYOUTS = (Layout(" ± ", 2), Layout("±", 2), Layout("±", 1))


def print_block(console: Console, block: Block) -> None:
    """Print a table. If even the tightest layout does not fit, print two halves, one below the other."""
    if not block.columns or not block.rows:
        return
    tables = [_table(block, layout) for layout in LAYOUTS]
    fitting = (table for table in tables if _width(console, table) <= console.width)
    table = next(fitting, tables[-1] if len(block.columns) == 1 else None)
    if table is not None:
        console.print(table)
        console.print()
        return
    middle = (len(block.columns) + 1) // 2
    print_block(console, replace(block, columns=block.columns[:middle]))
    print_block(console, replace(block, columns=block.columns[middle:]))


def _width(console: Console, table: Table) -> int:
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(block: Block, layout: Layout) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    for heading in block.headings:
        table.add_column(escape(heading), overflow="fold", max_width=MAX_NAME)
    for column in block.columns:
        table.add_column(f"{column.title}\n{column.unit}", justify="right", no_wrap=True)
    for row in block.rows:
        cells = (block.cell(row, column, layout.sign) for column in block.columns)
        table.add_row(*map(escape, row.labels), *cells)
    return table
