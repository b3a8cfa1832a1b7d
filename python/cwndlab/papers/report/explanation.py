"""The section of the report that explains the numbers of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Row, Section, Table, Text
from cwndlab.papers.explaining import tables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

METHOD = (
    "The combinations were spread over all answers, then taken around the closest one. The distance is the "
    "mean of |ours - paper| / (|ours| + |paper|). An effect is significant after Holm's correction; its "
    "changes are those from the default, with 95 % intervals. Answers that act together were measured alone "
    "and together around the defaults, paired by seed."
)


def explanation_section(paper: Mapping[str, Any]) -> Section:
    """Return the section of a paper that was explained. `paper` is that of the document."""
    shown = [
        Table(
            [Column(title, prose=index == 0) for index, title in enumerate(each.columns)],
            [Row([Cell(text) for text in row]) for row in each.rows],
            each.title,
            each.note,
        )
        for each in tables.tables(paper)
    ]
    return Section(
        "What moves the numbers",
        [Text([METHOD]), *shown],
        f"{paper['id']}-explanation",
        tables.introduction(paper),
        level=2,
    )
