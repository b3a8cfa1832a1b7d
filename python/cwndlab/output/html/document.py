"""The parts of a report: sections of texts, tables, charts and pictures, as plain values.

Its charts are those of `output.charts`.

All text is plain text: markup in it is shown literally.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cwndlab.output.charts import ChartGroup, HeatMap, RowChart, ScatterChart, TimeChart

if TYPE_CHECKING:
    from collections.abc import Sequence

# The mark of a value. Each mark has its own sign, so that no two differ in colour alone.
Mark = Literal["good", "bad", "open", "reproduced", "supported", "undecided", "refuted", "unavailable"]


@dataclass(frozen=True, slots=True)
class Text:
    """Paragraphs."""

    paragraphs: Sequence[str]


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command to copy."""

    text: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, with its unit.

    `code` is set in a fixed-width font and can be copied. `prose` holds sentences, which get the remaining
    width. `hint` explains the heading.
    """

    title: str
    unit: str = ""
    numeric: bool = False
    code: bool = False
    prose: bool = False
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    `sort` is the key for sorting its column. Without it, a numeric column treats the cell as missing, and any
    other column sorts by the text.
    """

    text: str
    sort: float | str | None = None
    href: str | None = None
    mark: Mark | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Links can lead to it if it has an anchor."""

    cells: Sequence[Cell]
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table that the reader can sort.

    The rows of a `stacked` one become blocks on a narrow screen, each cell below the one before it. Above a
    `searchable` one is a field that hides the rows without the words in it.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    note: str = ""
    stacked: bool = False
    searchable: bool = False

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: each row needs {len(self.columns)} cells")


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture that we drew, and the files next to the report with the same figure."""

    svg: str
    caption: str
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ForestLine:
    """One effect: its value, its interval and the range of single runs, as shares of the reference.

    `ours` and `theirs` are the effect and its reference in words, with the unit.
    """

    label: str
    value: float
    interval: tuple[float, float]
    runs: tuple[float, float]
    ours: str
    theirs: str
    mark: Mark
    href: str | None = None


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """Effects on one axis from the first to the last of `ticks`, with lines at 0 and at 1, the reference.

    `headings` are those of the axis, of `ours` and of `theirs`. What lies beyond an end of the axis is drawn
    at that end, a value as an arrow.
    """

    lines: Sequence[ForestLine]
    ticks: Sequence[float]
    headings: tuple[str, str, str]
    caption: str


Block = (
    Text | Command | Table | TimeChart | ChartGroup | ScatterChart | HeatMap | RowChart | Picture | ForestPlot
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its blocks. A section of level 2 belongs to the section of level 1 before it.

    The table of contents lists the sections of level 1. A `folded` one of level 1 begins closed, with all
    that belongs to it; a link into it opens it. On paper it is as on the screen, closed or open, and
    `own_page` begins a new page.
    """

    title: str
    blocks: Sequence[Block]
    anchor: str | None = None
    intro: str | None = None
    level: Literal[1, 2] = 1
    folded: bool = False
    own_page: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report. `command` repeats it, if there is one; `facts` are its manifest.

    `answer` stands under the title: a few sentences that say what came out. The first section follows, then
    the command and the contents.
    """

    title: str
    subtitle: str
    sections: Sequence[Section]
    command: str
    facts: Sequence[tuple[str, str]]
    answer: Sequence[str] = ()
