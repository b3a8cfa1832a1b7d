"""Pages that quote docs/validation.md have its figures of today.

A mark above a table or a paragraph names the tables of validation.md that it quotes:

    <!-- from validation: kernel-bbr-cubic, kernel-bbr-two -->

A table has some of their columns, under the same heads in the same order, and rows of theirs. In a paragraph,
each number with a decimal point stands in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.documents import ROOT

VALIDATION = (ROOT / "docs" / "validation.md").read_text("utf-8")
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("papers/*/README.md")])

_QUOTE = re.compile(r"^<!-- from validation: (?P<names>[\w, -]+) -->\n(?P<text>(?:.+\n)+)", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_FIGURE = re.compile(r"\d+\.\d+")
# Not the 3.44 of ns-3.44.
_FIGURE_IN_PROSE = re.compile(r"(?<![\w.-])\d+\.\d+(?![\w.])")


class Table(NamedTuple):
    """The cells of a table."""

    heads: list[str]
    rows: list[list[str]]

    def picked(self, heads: list[str]) -> list[list[str]]:
        """The rows with these columns only; each is looked for behind the one before it."""
        places = [-1]
        for head in heads:
            assert head in self.heads[places[-1] + 1 :], f"no column {head!r} in {self.heads}"
            places.append(self.heads.index(head, places[-1] + 1))
        return [[row[place] for place in places[1:]] for row in self.rows]


class Quote(NamedTuple):
    """The table or paragraph below a mark."""

    place: str
    names: list[str]
    text: str


def _table(text: str) -> Table:
    heads, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines())
    return Table(heads, rows)


TABLES = {
    name: _table(text)
    for name, text in re.findall(r"<!-- table: (\S+) -->\n(.*?)<!-- end: \1 -->", VALIDATION, re.DOTALL)
}
_SECTION = VALIDATION.partition("\n## The simulator beside Linux\n")[2]
_BESIDE_LINUX = _TABLE.search(_SECTION)
assert _BESIDE_LINUX, "validation.md has no table of the simulator beside Linux"
BESIDE_LINUX = _table(_BESIDE_LINUX[0])


def _quotes() -> Iterator[Quote]:
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in _QUOTE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Quote(f"{page.relative_to(ROOT)}:{line}", match["names"].split(", "), match["text"])


def _wrong(quote: Quote) -> list[str]:
    """The rows or figures of a quote that are not in validation.md."""
    tables = [TABLES[name] for name in quote.names]
    if not quote.text.startswith("|"):
        rows = [" ".join(row) for table in tables for row in table.rows]
        known = {figure for row in rows for figure in _FIGURE.findall(row)}
        return [figure for figure in _FIGURE_IN_PROSE.findall(quote.text) if figure not in known]
    quoted = _table(quote.text)
    theirs = [row for table in tables for row in table.picked(quoted.heads)]
    return [" | ".join(row) for row in quoted.rows if row not in theirs]


@pytest.mark.parametrize("quote", list(_quotes()), ids=lambda quote: quote.place)
def test_a_quote_is_in_validation(quote: Quote) -> None:
    wrong = _wrong(quote)
    assert not wrong, f"{quote.place}: docs/validation.md does not have\n" + "\n".join(wrong)


def test_every_page_that_compares_with_a_kernel_has_a_mark() -> None:
    """A table with the columns `kernel ...` and `ours ...` is a quote, outside validation.md itself."""
    unmarked = [
        f"{page.relative_to(ROOT)}: {match[0].splitlines()[0]}"
        for page in PAGES
        if page.name != "validation.md"
        for text in [page.read_text("utf-8")]
        for match in _TABLE.finditer(text)
        if re.match(r"\|.*kernel.*\| ours", match[0])
        and not re.search(r"<!-- from validation: .* -->\n\Z", text[: match.start()])
    ]
    assert unmarked == []


def _within(tables: list[str], *algorithms: str) -> tuple[int, int]:
    """How many rows of these algorithms (or all rows) are ok, and how many there are."""
    verdicts = [
        row[-1]
        for name in tables
        for row in TABLES[name].rows
        if not algorithms or set(algorithms) & set(" ".join(row[:3]).split())
    ]
    return verdicts.count("ok"), len(verdicts)


def _without_gap(*algorithms: str) -> tuple[int, int]:
    """The same of the table of the simulator beside Linux."""
    gaps = [row[-1] for row in BESIDE_LINUX.rows if not algorithms or row[1] in algorithms]
    return gaps.count(""), len(gaps)


KERNEL_BBR = ["kernel-bbr-cubic", "kernel-bbr-alone", "kernel-bbr-loss", "kernel-bbr-two"]
# What a page says of `N of M rows`, in the order of the page.
COUNTS = {
    "README.md": [_without_gap(), _within(KERNEL_BBR)],
    "docs/algorithms/bbr1.md": [
        _within(KERNEL_BBR, "bbr1"),
        _within(["linux-single"], "bbr"),
        _within(["ns3-bbr"]),
    ],
    "docs/algorithms/bbr2.md": [_within(KERNEL_BBR, "bbr2")],
    "docs/algorithms/bbr3.md": [_within(KERNEL_BBR, "bbr3")],
    "docs/algorithms/fbbr2.md": [_within(KERNEL_BBR, "fbbr2")],
    "docs/algorithms/vegas.md": [_without_gap("vegas")],
    "docs/bbr-and-cubic.md": [_within(["kernel-bbr-cubic"], "bbr1", "bbr2", "bbr3")],
    "papers/cho2024/README.md": [_within(["kernel-bbr-cubic"], "bbr2", "fbbr2")],
}


@pytest.mark.parametrize("page", COUNTS)
def test_a_page_counts_as_many_rows_as_validation(page: str) -> None:
    said = re.findall(r"(\d+)\s+of\s+(\d+)\s+(?:rows|scenarios)\b", (ROOT / page).read_text("utf-8"))
    assert [(int(within), int(rows)) for within, rows in said] == COUNTS[page]


def test_other_sentences_count_right() -> None:
    linux = (ROOT / "docs" / "linux.md").read_text("utf-8")
    within, rows = _within(KERNEL_BBR)
    assert f"now {rows - within} of {rows} are" in " ".join(VALIDATION.split())
    within, rows = _without_gap()
    assert f"\n{within} of {rows} rows are within the bounds." in VALIDATION
    assert f"[Over {rows} scenarios]" in linux
    assert f"except in {rows - within}." in linux


def test_the_spread_of_the_phases_is_as_the_text_says() -> None:
    heads, rows = TABLES["jitter-shares"]
    spreads = {}
    for head in ("no delay", "a packet time"):
        ranges = [re.findall(r"[\d.]+", row[heads.index(head)]) for row in rows if row[2] == "12 phases"]
        widths = [float(high) - float(low) for _, low, high in ranges]
        spreads[head] = f"spreads by {min(widths):.2f} to {max(widths):.2f}"
    text = " ".join(VALIDATION.split())
    assert f"Without a delay the first flow's share {spreads['no delay']}." in text
    assert f"With a packet time it {spreads['a packet time']}," in text
