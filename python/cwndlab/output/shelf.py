"""The list of all results in a folder, as a page that opens their reports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output import about, html
from cwndlab.output.html import Cell, Column, Report, Row, Section, Table, Text
from cwndlab.output.names import REPORT
from cwndlab.scenarios.seeds import shown_seeds
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.about import About

INDEX = "index.html"
# A result is at most as deep as `out/group/study-both/sim`. Deeper folders are not ours.
MOST_LEVELS = 4
COLUMNS = (
    Column("result"),
    Column("kind"),
    Column("scenario"),
    Column("seeds"),
    Column("written"),
    Column("answer", prose=True),
)


@dataclass(frozen=True)
class Entry:
    """A folder with a report: its place below the list, what it says of itself, and when it was written."""

    place: Path
    about: About | None
    written: datetime


def entries(root: Path) -> list[Entry]:
    """Return all results in a folder and below it, the newest first. Links to folders are not followed.

    Raises `InputError` if there is no such folder.
    """
    if not root.is_dir():
        raise InputError(
            f"{root}: expected a folder of results, found {'a file' if root.exists() else 'none'}"
        )
    return sorted(_found(root), key=lambda entry: entry.written, reverse=True)


def page(root: Path, found: Sequence[Entry]) -> str:
    """Return the list as a page. Its links are relative to the folder, with or without a server."""
    listed = Table(COLUMNS, [_row(entry) for entry in found], stacked=True, searchable=True)
    none = Text(["No results yet. `cwndlab run`, `compare`, `sweep` and `reproduce` write them."])
    sections = [Section("Results", [listed if found else none])]
    subtitle = f"{counted(len(found), 'result')} in {root}, the newest first"
    return html.render(Report("cwndlab results", subtitle, sections, "", [("version", version("cwndlab"))]))


def write(root: Path) -> Path:
    """Write the page into the folder, for readers without a server, and return its path."""
    from cwndlab.system.writing import write_text

    path = root / INDEX
    write_text(path, page(root, entries(root)))
    return path


def _found(root: Path) -> Iterator[Entry]:
    for name, folders, names in os.walk(root):
        place = Path(name).relative_to(root)
        is_deep = len(place.parts) >= MOST_LEVELS
        folders[:] = [] if is_deep else [each for each in folders if not each.startswith(".")]
        if REPORT in names:
            written = (root / place / REPORT).stat().st_mtime
            yield Entry(place, about.read(root / place), datetime.fromtimestamp(written).astimezone())


def _row(entry: Entry) -> Row:
    written = Cell(f"{entry.written:%Y-%m-%d %H:%M}", entry.written.timestamp())
    link = Cell(str(entry.place), href=(entry.place / REPORT).as_posix())
    held = entry.about
    if held is None:
        told = "An earlier version wrote it: only its report says what it holds."
        return Row([link, Cell(""), Cell(""), Cell(""), written, Cell(told)])
    return Row(
        [
            link,
            Cell(f"{held.kind}, interrupted" if held.interrupted else held.kind),
            Cell(held.scenario, hint=held.command),
            Cell(shown_seeds(held.seeds) if held.seeds else ""),
            written,
            Cell(" ".join(held.answer)),
        ]
    )
