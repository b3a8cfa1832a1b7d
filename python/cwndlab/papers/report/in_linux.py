"""What became of a paper in Linux, beside the simulator: in the table of claims, and in a section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Row, Section, Table, Text
from cwndlab.papers.contents.backends import IN_LINUX
from cwndlab.papers.report.readings import READINGS, readings_table
from cwndlab.papers.reproducing.beside import beside
from cwndlab.papers.table import effect
from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.html import Block
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.beside import Beside
    from cwndlab.papers.reproducing.reproduction import PaperReproduction

NOTE = (
    "Under the defaults. The last column is the effect in Linux less that in the simulator, paired by seed. "
    "It has a mark if its 95 % interval excludes zero."
)


def linux_section(paper: PaperReproduction) -> Iterator[Section]:
    """Yield the section with the baselines and the parts of all claims on both backends."""
    if paper.in_linux is None:
        return
    name = paper.paper.id
    parts = Table(
        [
            Column("claim"),
            Column("part", prose=True),
            Column("unit"),
            Column("paper", numeric=True),
            Column("simulator", numeric=True),
            Column("outcome"),
            Column("Linux", numeric=True),
            Column("outcome"),
            Column("Linux - simulator", numeric=True),
        ],
        [_part_row(each) for each in beside(paper)],
        "Every part of every claim",
        NOTE,
    )
    blocks = [*_baselines(paper, paper.in_linux), *_readings(paper.in_linux), parts]
    yield Section("In Linux", blocks, f"{name}-linux", f"{IN_LINUX}.", level=2)


def _readings(there: PaperReproduction) -> Iterator[Block]:
    """Yield what becomes of each claim under the answers that were tried, if there are any."""
    if there.alternatives:
        yield readings_table(there, "Each claim under the answers tried in Linux")
        yield Text([READINGS])


def _part_row(each: Beside) -> Row:
    part, difference = each.here.part, each.difference
    return Row(
        [
            Cell(each.claim.id),
            Cell(part.text, hint=part.effect.text if part.effect else None),
            Cell(part.unit),
            Cell("" if part.paper is None else plain(part.paper), part.paper),
            *_ours(each.here),
            *_ours(each.there),
            Cell("")
            if difference is None
            else Cell(effect(difference), difference.value, mark="open" if each.parts_ways else None),
        ]
    )


def _ours(judged: Judged) -> list[Cell]:
    known = judged.estimate
    if known is None:
        return [Cell("not run", hint=judged.reason), Cell("")]
    return [Cell(effect(known), known.value), Cell(judged.outcome.value)]


def _baselines(paper: PaperReproduction, there: PaperReproduction) -> Iterator[Table]:
    """Yield the table of the paper's own baselines, with which a reading counts."""
    rows = []
    for here, in_linux in zip(paper.defaults.gate.checked, there.defaults.gate.checked, strict=True):
        about = here.baseline
        row = [
            Cell(about.text),
            Cell(about.unit),
            Cell(f"{plain(about.paper)} ± {plain(about.tolerance)}", about.paper),
        ]
        for each in (here, in_linux):
            ours = Cell("not run", hint=each.missing) if each.ours is None else Cell(effect(each.ours))
            row += [ours, Cell("met" if each.passes else "missed", mark="good" if each.passes else "bad")]
        rows.append(Row(row))
    if rows:
        columns = [Column("baseline", prose=True), Column("unit"), Column("paper", numeric=True)]
        for backend in ("simulator", "Linux"):
            columns += [Column(backend, numeric=True), Column("gate")]
        yield Table(columns, rows, "The paper's own baselines under the defaults")
