"""What comments and documents cite is listed in docs/sources.md, and nothing else is.

A citation is `RFC 9438 section 4.2`: a document by its name in the list, then a section, equation, rule,
table, figure or algorithm. A bare `section 4.2` belongs to the document named last above it in the same file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from calendar import month_name
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.documents import ROOT

SOURCES = ROOT / "docs" / "sources.md"
ROOMS = ["crates", "docs", "examples", "python", "scenarios", "templates"]
PAGES = ["ARCHITECTURE.md", "CHANGELOG.md", "README.md"]
SUFFIXES = {".md", ".py", ".pyi", ".rs", ".toml"}

# Papers that tests make up have tables, too.
_INVENTED = re.compile(r"test_papers_\w+\.py|test_citations\.py|sources\.md")

_AUTHORS = r"(?:van )?[A-Z][a-z]+(?: et al\.| and [A-Z][a-z]+)?"
_DOCUMENT = rf"RFC \d+|draft-[a-z0-9-]*[a-z0-9]|{_AUTHORS} (?:19|20)\d\d\b"
_NO_AUTHORS = {*month_name, "In", "On", "Since", "The", "Until"}
_NUMBER = r"(?:\(\d+(?:\.\d+)?\)|\d{1,2}(?:\.\d+)*\b|[IVX]+(?:\.[A-Z])?\b)"
_KINDS = "section|equation|table|figure|algorithm"
_PART = (
    rf"(?P<kind>{_KINDS}|rule(?=s? \())s? "
    rf"(?P<numbers>{_NUMBER}(?:(?:, | and | to |, and ){_NUMBER})*)"
)
_TOKEN = re.compile(rf"(?P<document>{_DOCUMENT})|\b(?i:{_PART})")
_OTHER_FORM = re.compile(
    r"\bsecs?\. \d|\beqs?\. ?\(|§ ?\d|\bFig\. ?\d|\bRFC-\d|"
    rf"(?:{_DOCUMENT})(?:, | \(|: |'s )(?i:{_KINDS})s? {_NUMBER}"
)
_MARKER = re.compile(r"^\s*(?://[/!]?|#+|>)?\s*")
_LISTED = re.compile(rf"^\| ((?:{_KINDS}|rule) \S+) \| \S", re.MULTILINE)


class Text(NamedTuple):
    """A file in one line, without the markers of comments, and where each of its lines begins."""

    name: str
    flat: str
    starts: list[int]

    def place(self, at: int) -> str:
        """File and line of what stands there."""
        return f"{self.name}:{bisect_right(self.starts, at)}"


class Citation(NamedTuple):
    """A document, or a part of it, as a line names it."""

    place: str
    document: str
    part: str


@cache
def _texts() -> list[Text]:
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*")) if path.suffix in SUFFIXES]
    files = [path for path in files if not _INVENTED.fullmatch(path.name) and "target" not in path.parts]
    return [
        _flat(str(path.relative_to(ROOT)), path.read_text("utf-8"))
        for path in [*files, *(ROOT / page for page in PAGES)]
    ]


def _flat(name: str, text: str) -> Text:
    lines = [_MARKER.sub("", line).rstrip("\\ ") + " " for line in text.split("\n")]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return Text(name, "".join(lines), starts)


def _citations(text: Text) -> Iterator[Citation]:
    document = "no document"
    for match in _TOKEN.finditer(text.flat):
        place = text.place(match.start())
        if match["kind"]:
            for number in re.findall(_NUMBER, match["numbers"]):
                yield Citation(place, document, f"{match['kind'].lower()} {number}")
        elif match["document"].split()[0] not in _NO_AUTHORS:
            document = match["document"]
            yield Citation(place, document, "")


@cache
def _cited() -> list[Citation]:
    return [citation for text in _texts() for citation in _citations(text)]


def _listed() -> set[tuple[str, str]]:
    """The documents of the list, each alone and with each of its parts."""
    chapters = [chapter.partition("\n") for chapter in SOURCES.read_text("utf-8").split("\n## ")[1:]]
    return {(name, part) for name, _, body in chapters for part in ("", *_LISTED.findall(body))}


def test_what_is_cited_is_listed() -> None:
    listed = _listed()
    unlisted = [cited for cited in _cited() if (cited.document, cited.part) not in listed]
    told = [f"{cited.place}: {cited.document} {cited.part}".rstrip() for cited in unlisted]
    assert not told, "docs/sources.md does not list\n" + "\n".join(told)


def test_what_is_listed_is_cited() -> None:
    unused = _listed() - {(cited.document, cited.part) for cited in _cited()}
    assert not unused, "nothing cites\n" + "\n".join(sorted(" ".join(entry).rstrip() for entry in unused))


def test_citations_have_one_form() -> None:
    others = [
        f"{text.place(match.start())}: {match[0]}"
        for text in _texts()
        for match in _OTHER_FORM.finditer(text.flat)
    ]
    assert not others, "write `RFC 9438 section 4.2`, not\n" + "\n".join(others)
