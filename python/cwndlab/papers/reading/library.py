"""The folder of papers: lists them, and reads one with every mistake in its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.papers.language.place import PaperError
from cwndlab.papers.reading import content
from cwndlab.papers.reading.references import check_alternatives, check_names
from cwndlab.papers.reading.schema import COLUMNS, read_paper
from cwndlab.system import shipped
from cwndlab.system.shipped import Shipped

if TYPE_CHECKING:
    from cwndlab.papers.contents.paper import Paper
    from cwndlab.papers.language.place import Mistake

PAPER, CLAIMS, TARGETS = "paper.toml", "claims.toml", "targets.csv"


def folder() -> Path:
    """Return $CWNDLAB_PAPERS, or `papers/` in the current folder, or the papers that ship."""
    named = os.environ.get("CWNDLAB_PAPERS")
    places = [Path(named)] if named else [Path("papers"), shipped.folder(Shipped.PAPERS)]
    for path in places:
        if any(path.glob(f"*/{PAPER}")):
            return path
    hint = "; CWNDLAB_PAPERS names this folder" if named else ""
    raise InputError(f"no papers in {' or '.join(map(str, places))}: expected */{PAPER}{hint}")


def names() -> list[str]:
    """Return the names of the papers' folders, in the order of their claims."""
    found = [path.parent for path in folder().glob(f"*/{PAPER}")]
    return [path.name for path in sorted(found, key=lambda path: (_first_claim(path), path.name))]


def title(name: str) -> str:
    """Return the title of a paper without checking its files."""
    about = content.toml(folder() / name / PAPER, [])
    return "" if about is None else str(about.value.get("title", ""))


def read(name: str) -> Paper:
    """Read one paper. Raises `InputError` if there is no such paper, or if its files have mistakes."""
    known = names()
    if name not in known:
        hint = did_you_mean(name, known, f"expected one of {', '.join(known)}")
        raise InputError(f"{name}: no such paper; {hint}")
    return read_folder(folder() / name)


def read_folder(path: Path) -> Paper:
    """Read the paper in a folder. Raises `PaperError` with all mistakes in its files."""
    mistakes: list[Mistake] = []
    about = content.toml(path / PAPER, mistakes)
    claims = content.toml(path / CLAIMS, mistakes)
    targets = content.rows(path / TARGETS, COLUMNS, mistakes)
    if about is None or claims is None:
        raise PaperError(mistakes)
    paper = read_paper(path, about, claims, targets)
    if paper is not None:
        mistakes += check_names(paper)
        # A mistake in the paper's defaults would appear in the alternatives, too.
        mistakes += [] if mistakes else check_alternatives(paper)
    if mistakes or paper is None:
        raise PaperError(mistakes)
    return paper


def _first_claim(path: Path) -> int:
    """Return the number of the first claim, such as 9 of `Q9`, or 0 if it cannot be read."""
    entry = content.toml(path / CLAIMS, [])
    claims = [] if entry is None else entry.tables("claim")
    digits = "".join(filter(str.isdecimal, str(claims[0].value.get("id", "")))) if claims else ""
    return int(digits or 0)
