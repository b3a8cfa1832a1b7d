"""A result in a notebook: its answer, a table and one chart, as HTML without scripts and styles."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

from cwndlab.output.kinds import kind_of, plot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.tables.block import Block, Row
    from cwndlab.results.result import Study

# A longer table hides the chart.
MOST_ROWS = 30
# Dots per inch: sharp enough for a screen, and a fifth of the size of a figure for a paper.
DPI = 110


def notebook(study: Study) -> str:
    """Return the study for a cell of a notebook."""
    kind = kind_of(study)
    answer = "".join(f"<p><strong>{escape(line)}</strong></p>" for line in kind.answer(study))
    return f"<div>{answer}{_table(kind.tables(study)[0])}{_chart(study)}</div>"


def _table(block: Block) -> str:
    headings = "".join(f"<th>{escape(heading)}</th>" for heading in block.headings)
    measures = "".join(f"<th>{escape(column.heading)}</th>" for column in block.columns)
    rows = "".join(f"<tr>{''.join(_cells(block, row))}</tr>" for row in block.rows[:MOST_ROWS])
    hidden = len(block.rows) - MOST_ROWS
    more = f"<p>and {hidden} more rows</p>" if hidden > 0 else ""
    return f"<table><thead><tr>{headings}{measures}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _cells(block: Block, row: Row) -> Iterator[str]:
    yield from (f"<th>{escape(label)}</th>" for label in row.labels)
    yield from (f"<td>{escape(block.cell(row, column))}</td>" for column in block.columns)


def _chart(study: Study) -> str:
    """Return the first figure with content as an image; nothing if there is none."""
    from cwndlab.output.drawing.style import style

    drawable = next(iter(kind_of(study).figure_files(study).items()), None)
    if drawable is None:
        return ""
    name, (figure, measure) = drawable
    picture = io.BytesIO()
    drawn = plot(study, figure, measure)
    with style():
        drawn.savefig(picture, format="png", dpi=DPI)
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    # On white in a dark notebook too: the figure is drawn for it.
    look = "max-width: 100%; background: #ffffff"
    what = escape(f"{name} of {study.name}")
    return f'<img alt="{what}" style="{look}" src="data:image/png;base64,{data}">'
