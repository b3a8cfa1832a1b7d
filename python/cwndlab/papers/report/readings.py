"""What becomes of each claim in each reading that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Row, Table
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.report.marks import outcome_cell
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.reproducing.reproduction import PaperReproduction

READINGS = (
    "What becomes of each claim in each reading that was tried. The gate is that of all baselines; a "
    "claim may need only some. Not run: the answers were not tried for this claim, or miss its baselines."
)


def readings_table(paper: PaperReproduction, title: str = "") -> Table:
    """Return the outcome of every claim in every reading, for all claims that were judged in any."""
    shown = [claim for claim in paper.claims if claim.verdict is not Verdict.UNAVAILABLE]
    columns = [Column("left open", prose=True), Column("answer", prose=True), Column("gate")]
    columns += [Column(claim.claim.id) for claim in shown]
    rows = []
    for index, each in enumerate(paper.readings):
        point = "\n".join(answer.point.point for answer in each.reading.answers)
        outcomes = [outcome_cell(claim.readings[index].outcome) for claim in shown]
        gate = "passes" if each.gate.passes else "misses"
        rows.append(Row([Cell(point), Cell(answer_of(each.reading)), Cell(gate), *outcomes]))
    hidden = len(paper.claims) - len(shown)
    note = f"Not shown: {counted(hidden, 'claim')} unavailable in all readings." if hidden else ""
    return Table(columns, rows, title, note)


def answer_of(reading: Reading) -> str:
    """Return the answers of a reading in words."""
    return reading.value if reading.option else "the defaults"
