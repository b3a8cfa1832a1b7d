"""The report of `cwndlab reproduce`: the claims on its first page, then each paper in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Report, Row, Section, Table, Text
from cwndlab.output.report.parts import machine_facts
from cwndlab.papers.contents.backends import WHERE
from cwndlab.papers.judging.across import MEANING
from cwndlab.papers.judging.closeness import closeness
from cwndlab.papers.judging.verdict import OUTCOMES
from cwndlab.papers.report.claims import first_page
from cwndlab.papers.report.evidence import departures, evidence_sections
from cwndlab.papers.report.experiments import experiment_section
from cwndlab.papers.report.explanation import explanation_section
from cwndlab.papers.report.figures import figure_sections
from cwndlab.papers.report.in_linux import linux_section
from cwndlab.papers.report.marks import outcome_cell, verdict_cell
from cwndlab.papers.report.readings import READINGS, answer_of, readings_table
from cwndlab.papers.reproducing.document import paper_json
from cwndlab.papers.table import CUTS, verdict_command
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.html import Block
    from cwndlab.papers.contents.paper import Target
    from cwndlab.papers.judging.evaluation import Row as Number
    from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction

METHOD = (
    "An effect is computed within each seed, so that compared runs share their random numbers. Means have "
    "Student's t intervals and t tests, medians have bootstrap intervals and sign tests. No interval leaves "
    "the range of its quantity: a share lies between 0 and 100 %."
)
WHOLE = (
    "A claim with several parts holds only if all of them hold. A reading is one set of answers to what the "
    "paper leaves open. It counts if it gives the numbers of the paper's own baselines (the gate)."
)
LEAN = (
    "A quick look leans for a claim if all its parts hold with these few seeds, against it if one fails, and "
    "to neither side if parts stay open or the defaults miss the paper's own baselines. A lean is no verdict."
)


def reproduction_page(reproduction: Reproduction, kinds: Sequence[str] = ()) -> Report:
    """Return the report: an overview of the claims, then every paper. `kinds` are the formats of figures."""
    sections = [
        *first_page(reproduction),
        *(
            section
            for paper in reproduction.papers
            for section in _paper_sections(paper, kinds, quick=reproduction.quick)
        ),
        Section(
            "How verdicts are reached",
            [Text([METHOD, WHOLE, *([LEAN] if reproduction.quick else [])]), *_meanings()],
            "rules",
            folded=True,
        ),
    ]
    names = ", ".join(paper.paper.id for paper in reproduction.papers)
    subtitle = f"{names}; {counted(len(reproduction.seeds), 'seed')}{_marks(reproduction)}"
    facts = machine_facts(reproduction.seeds)
    return Report("Reproduction of papers", subtitle, sections, reproduction.command, facts)


def _meanings() -> list[Table]:
    verdicts = [Row([verdict_cell(verdict), Cell(meaning)]) for verdict, meaning in MEANING.items()]
    outcomes = [Row([outcome_cell(outcome), Cell(meaning)]) for outcome, meaning in OUTCOMES.items()]
    return [
        Table([Column("verdict"), Column("over all readings", prose=True)], verdicts),
        Table([Column("outcome"), Column("of a part in one reading", prose=True)], outcomes),
    ]


def _marks(reproduction: Reproduction) -> str:
    marks = []
    if reproduction.backend in WHERE:
        where = WHERE[reproduction.backend]
        marks.append(where[0].lower() + where[1:])
    if reproduction.quick:
        marks.append(
            f"a quick look: {CUTS}, alternatives and unused cells left out. A lean is not a verdict; for "
            f"verdicts run {verdict_command(reproduction)}"
        )
    if reproduction.interrupted:
        marks.append("interrupted: claims without their runs are unavailable")
    return "".join(f"; {mark}" for mark in marks)


def _paper_sections(paper: PaperReproduction, kinds: Sequence[str], *, quick: bool) -> Iterator[Section]:
    yield from evidence_sections(paper, quick=quick)
    yield from figure_sections(paper, () if quick else kinds)
    yield from linux_section(paper)
    if paper.explanation is not None:
        yield explanation_section(paper_json(paper))
    if paper.alternatives:
        yield _sensitivity(paper)
        yield from _closeness(paper)
    for experiment in paper.paper.experiments:
        yield experiment_section(paper, experiment)
    yield _open_points(paper)


def _sensitivity(paper: PaperReproduction) -> Section:
    return Section(
        "What the verdicts depend on",
        [readings_table(paper)],
        f"{paper.paper.id}-sensitivity",
        READINGS,
        level=2,
    )


def _closeness(paper: PaperReproduction) -> Iterator[Section]:
    """Yield the section that ranks the answers by the distance of our numbers from the paper's."""
    known = closeness([paper.defaults, *paper.alternatives])
    if len(known) < 2:
        return
    ranked = sorted(known, key=lambda each: each.distance)
    best, defaults, unit = ranked[0], known[0], known[0].unit
    answers = [Column("answer", prose=True), Column("distance", unit, numeric=True)]
    distances = [
        Row([Cell(answer_of(each.reading)), Cell(plain(each.distance), each.distance)]) for each in ranked
    ]
    numbers = [Column("number of the paper", prose=True)]
    numbers += [
        Column(title, unit, numeric=True) for title in ("paper", "ours, defaults", "ours, closest answer")
    ]
    rows = [
        Row([Cell(_name(one.target)), Cell(one.target.value, one.target.number), _mean(one), _mean(other)])
        for one, other in zip(defaults.rows, best.rows, strict=True)
    ]
    intro = (
        f"The distance is the root mean square of ours - paper in {unit}, over the paper's numbers. "
        f"The closest is: {answer_of(best.reading)}. The choice of the defaults did not use it."
    )
    title = "Which answer comes closest to the paper's numbers"
    blocks = [Table(answers, distances), Table(numbers, rows)]
    yield Section(title, blocks, f"{paper.paper.id}-closeness", intro, level=2)


def _name(target: Target) -> str:
    who = " ".join(word for word in (target.variant, target.flow) if word)
    return f"{target.place}, {target.experiment}: {target.metric.replace('_', ' ')}, {who}"


def _mean(row: Number) -> Cell:
    return Cell("not run") if row.ours is None else Cell(plain(row.ours.value), row.ours.value)


def _open_points(paper: PaperReproduction) -> Section:
    points = [
        Row([Cell(point.id), Cell(point.point), Cell(point.default), Cell(point.reason)])
        for point in paper.paper.open_points
    ]
    errata = [Row([Cell(each.where), Cell(each.text)]) for each in paper.paper.errata]
    blocks: list[Block] = [
        Table(
            [Column(""), *(Column(title, prose=True) for title in ("left open", "default", "why"))],
            points,
            "What the paper leaves open",
        )
    ]
    departing = [Row([Cell(name), Cell("\n".join(each))]) for name, each in departures(paper)]
    if departing:
        columns = [Column("algorithm"), Column("departures from its source", prose=True)]
        blocks.append(Table(columns, departing, "Departures of the algorithms from their sources"))
    if errata:
        blocks.append(
            Table([Column("where"), Column("what", prose=True)], errata, "Errata and contradictions")
        )
    return Section("Open points and errata", blocks, f"{paper.paper.id}-open", level=2)
