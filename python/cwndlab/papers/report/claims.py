"""The first page of the report: one line for each claim, and the effects beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Row, Section, Table, Text
from cwndlab.papers.contents.backends import BOTH
from cwndlab.papers.report.forest import forests
from cwndlab.papers.report.marks import lean_cell, outcome_cell, verdict_cell
from cwndlab.papers.table import conditions, no_lean, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.papers.judging.across import ClaimVerdict
    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction

UNDER_DEFAULTS = (
    "Parts and seeds are those of the default reading. A reading is one set of answers to what the paper "
    "leaves open."
)


def first_page(reproduction: Reproduction) -> list[Section]:
    """Return the claims of every paper; before them, if there are several papers, an overview."""
    quick, papers = reproduction.quick, reproduction.papers
    if len(papers) == 1:
        return [_claims(papers[0], quick=quick, alone=True)]
    first = Section("The claims at a glance", [_overview(reproduction)], "claims")
    return [first, *(_claims(paper, quick=quick, alone=False) for paper in papers)]


def _overview(reproduction: Reproduction) -> Table:
    quick = reproduction.quick
    columns = [Column("paper"), Column("claims", numeric=True)]
    columns.append(Column("leans" if quick else "verdicts", prose=True))
    if reproduction.backend == BOTH:
        columns.append(Column("in Linux", prose=True))
    rows = [
        Row(
            [
                Cell(paper.paper.id, href=f"#{paper.paper.id}-claims"),
                Cell(str(len(paper.claims)), len(paper.claims)),
                Cell(tally(paper.claims, quick=quick)),
                *([Cell(tally(paper.in_linux.claims, quick=quick))] if paper.in_linux else []),
            ]
        )
        for paper in reproduction.papers
    ]
    return Table(columns, rows)


def _claims(paper: PaperReproduction, *, quick: bool, alone: bool) -> Section:
    """Return one line for each claim, and the forest plots. The paper's own section has the evidence."""
    about = paper.paper
    note = "" if quick else UNDER_DEFAULTS
    columns = _columns("claim", "lean" if quick else "verdict", quick=quick)
    there: list[list[Cell]] = []
    if paper.in_linux:
        columns += [Column("in Linux"), Column("parts"), Column("seeds", numeric=True)]
        there = [
            [_word(each, quick=quick), *_counts(each.defaults.judged, quick=quick)]
            for each in paper.in_linux.claims
        ]
    rows = [
        _claim_row(
            claim.defaults.judged,
            about.id,
            _word(claim, quick=quick),
            "; ".join(no_lean(claim) if quick else conditions(claim, short=True)),
            there[index] if there else [],
            quick=quick,
        )
        for index, claim in enumerate(paper.claims)
    ]
    caption = tally(paper.claims, quick=quick)
    if paper.in_linux is not None:
        caption += f"; in Linux: {tally(paper.in_linux.claims, quick=quick)}"
    table = Table(columns, rows, caption, note, stacked=True)
    return Section(
        f"{about.id}: {about.title}",
        [table, *forests(paper, quick=quick)],
        f"{about.id}-claims",
        level=1 if alone else 2,
        own_page=not alone,
    )


def findings(paper: PaperReproduction, *, quick: bool) -> Iterator[Table | Text]:
    """Yield one line for each of our own statements about the paper."""
    rows = [
        _claim_row(
            each,
            paper.paper.id,
            lean_cell(each.lean) if quick else outcome_cell(each.outcome),
            "; ".join(no_lean(each)) if quick else "",
            quick=quick,
        )
        for each in paper.findings_made
    ]
    if rows:
        columns = _columns("finding", "lean" if quick else "outcome", quick=quick)
        title = "Our own findings, tested in the same way under the defaults"
        yield Table(columns, rows, title, stacked=True)
    made = [each.claim.id for each in paper.findings_made]
    left_out = [each.claim.id for each in paper.findings if each.claim.id not in made]
    if left_out:
        yield Text([f"Our findings that were not run: {', '.join(left_out)}."])


def _columns(what: str, word: str, *, quick: bool) -> list[Column]:
    parts = "parts that lean to it" if quick else "parts that hold"
    return [
        Column(""),
        Column(what, prose=True),
        Column(word),
        Column(parts),
        Column("seeds", numeric=True),
    ]


def _word(claim: ClaimVerdict, *, quick: bool) -> Cell:
    return lean_cell(claim.lean) if quick else verdict_cell(claim.verdict)


def _counts(judged: JudgedClaim, *, quick: bool) -> list[Cell]:
    """Return how many parts hold, or lean to the claim, and the number of seeds."""
    count = judged.leaning if quick else judged.holding
    return [Cell(f"{count} of {len(judged.parts)}"), Cell(str(judged.seeds), judged.seeds)]


def _claim_row(
    judged: JudgedClaim,
    paper: str,
    word: Cell,
    condition: str = "",
    there: Sequence[Cell] = (),
    *,
    quick: bool,
) -> Row:
    text = f"{judged.claim.text}\n{condition}" if condition else judged.claim.text
    return Row(
        [
            Cell(judged.claim.id, href=f"#{paper}-{judged.claim.id}"),
            Cell(text, hint=judged.claim.quote),
            word,
            *_counts(judged, quick=quick),
            *there,
        ]
    )
