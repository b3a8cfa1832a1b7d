"""Anchors and links: each anchor is unique, each link within the page has a target, none runs code."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote

from cwndlab.output.charts import HeatMap, ScatterChart
from cwndlab.output.html.document import ForestPlot, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.html.document import Block, Report, Section

_ANCHOR = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def section_anchor(section: Section, number: int) -> str:
    """Return the anchor of a section, numbered if it has none of its own."""
    return section.anchor or f"section-{number}"


def target(href: str) -> str:
    """Return the link as written in the page: an anchor, a web address, or a file next to the report."""
    if href.startswith(("#", "https://", "http://")):
        return href
    return "./" + quote(href, errors="replace")


def check(report: Report) -> None:
    """Raise an error for an invalid or duplicate anchor, and for a link to a missing anchor."""
    counts = Counter(_anchors(report))
    for anchor, count in counts.items():
        if not _ANCHOR.fullmatch(anchor):
            raise ValueError(f"anchor {anchor!r}: expected a letter, then letters, digits, '_', '.' or '-'")
        if count > 1:
            raise ValueError(f"anchor {anchor!r}: expected it once, found it {count} times")
    for href in _hrefs(report):
        if href.startswith("#") and href[1:] not in counts:
            raise ValueError(f"link {href!r}: nothing has this anchor")


def _anchors(report: Report) -> Iterator[str]:
    for number, section in enumerate(report.sections, start=1):
        yield section_anchor(section, number)
        for block in section.blocks:
            if isinstance(block, Table):
                yield from (row.anchor for row in block.rows if row.anchor is not None)


def _hrefs(report: Report) -> Iterator[str]:
    for section in report.sections:
        for block in section.blocks:
            yield from (href for href in _links(block) if href is not None)


def _links(block: Block) -> Iterator[str | None]:
    match block:
        case Table():
            yield from (cell.href for row in block.rows for cell in row.cells)
        case HeatMap():
            yield from (cell.href for row in block.cells for cell in row)
        case ScatterChart():
            yield from (point.href for point in block.points)
        case ForestPlot():
            yield from (line.href for line in block.lines)
