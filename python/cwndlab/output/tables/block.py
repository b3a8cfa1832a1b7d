"""One table of measures on a terminal, as wide as it allows."""

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

# Longer names go on in the next line.
MAX_NAME = 28


@dataclass(frozen=True, slots=True)
class Row:
    """What a row is about, and its measures; a difference is `signed`.

    `anchor` is where a report has more about it.
    """

    labels: tuple[str, ...]
    measures: Mapping[str, Measure] = field(default_factory=dict)
    signed: bool = False
    anchor: str | None = None

    def value(self, column: Column) -> Measure:
        """The measure of one cell, in the column's unit."""
        return self.measures.get(column.key, Measure(None, None, 0)).scaled(column.scale)


@dataclass(frozen=True, slots=True)
class Block:
    """One table: the headings of its labels, its rows and columns, and over how many seeds it is."""

    headings: tuple[str, ...]
    rows: Sequence[Row]
    columns: Sequence[Column]
    seeds: int

    def measured(self) -> Block:
        """Without the columns in which nothing was measured, and the labels that all rows lack."""
        columns = [column for column in self.columns if any(row.value(column).n for row in self.rows)]
        kept = [index for index in range(len(self.headings)) if any(row.labels[index] for row in self.rows)]
        rows = [replace(row, labels=tuple(row.labels[index] for index in kept)) for row in self.rows]
        return Block(tuple(self.headings[index] for index in kept), rows, columns, self.seeds)

    @property
    def is_partial(self) -> bool:
        """Whether some seeds lack a value that others have."""
        return any(self.is_short(row.value(column)) for row in self.rows for column in self.columns)

    def is_short(self, measure: Measure) -> bool:
        """Whether fewer seeds have a value than were run."""
        return 0 < measure.n < self.seeds

    def cell(self, row: Row, column: Column, sign: str = " ± ") -> str:
        """The text of one cell, with the number of seeds if some lack a value."""
        measure = row.value(column)
        count = f" ({measure.n})" if self.is_short(measure) else ""
        return with_interval(measure, sign, signed=row.signed) + count


@dataclass(frozen=True, slots=True)
class Layout:
    """How wide a table is: the sign before a half-width, and the blanks between columns."""

    sign: str
    gap: int


# Widest first: the first that fits is taken.
LAYOUTS = (Layout(" ± ", 2), Layout("±", 2), Layout("±", 1))


def print_block(console: Console, block: Block) -> None:
    """Print a table; in halves, one below the other, if not even the tightest layout fits."""
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
