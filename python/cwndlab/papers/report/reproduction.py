"""The report of `cwndlab reproduce`: the claims on its first page, then each paper in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.engine import in_use
from cwndlab.output.html import Cell, Column, Report, Row, Section, Table, Text
from cwndlab.output.report.parts import machine_facts
from cwndlab.papers.contents.backends import BOTH, IN_LINUX, SIM
from cwndlab.papers.contents.paper import Expect
from cwndlab.papers.judging.across import MEANING, Verdict
from cwndlab.papers.judging.closeness import closeness
from cwndlab.papers.judging.verdict import OUTCOMES, Lean, Outcome
from cwndlab.papers.report.experiments import experiment_section
from cwndlab.papers.report.explanation import explanation_section
from cwndlab.papers.report.figures import figure_sections
from cwndlab.papers.report.forest import forest
from cwndlab.papers.report.in_linux import linux_section
from cwndlab.papers.reproducing.document import paper_json
from cwndlab.papers.table import (
    baseline,
    conditions,
    effect,
    runs,
    tally,
    verdict_command,
)
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.html import Block
    from cwndlab.output.html.document import Mark
    from cwndlab.papers.contents.paper import Part
    from cwndlab.papers.judging.across import ClaimVerdict
    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction

METHOD = (
    "An effect is computed within each seed, so that compared runs share their random numbers. Means have "
    "Student's t intervals; ratios, indices and medians have bootstrap intervals (BCa)."
)
WHOLE = (
    "A claim with several parts holds only if all of them hold. A reading is one set of answers to what the "
    "paper leaves open. It counts if it gives the numbers of the paper's own baselines (the gate)."
)
VERDICT_MARKS: dict[Verdict, Mark] = {
    Verdict.REPRODUCED: "reproduced",
    Verdict.SUPPORTED: "supported",
    Verdict.DEPENDS: "undecided",
    Verdict.REFUTED: "refuted",
    Verdict.NOT_IDENTIFIED: "undecided",
    Verdict.UNDECIDED: "undecided",
    Verdict.UNAVAILABLE: "unavailable",
}
OUTCOME_MARKS: dict[Outcome, Mark] = {
    Outcome.AGREES: "reproduced",
    Outcome.HOLDS: "supported",
    Outcome.FAILS: "refuted",
    Outcome.OPEN: "undecided",
    Outcome.MISSING: "unavailable",
}


def reproduction_page(reproduction: Reproduction) -> Report:
    """Return the report: an overview of the claims, then every paper."""
    sections = [
        *_first_page(reproduction),
        *(
            section
            for paper in reproduction.papers
            for section in _paper_sections(paper, quick=reproduction.quick)
        ),
        Section("How verdicts are reached", [Text([METHOD, WHOLE]), *_meanings()], "rules", folded=True),
    ]
    names = ", ".join(paper.paper.id for paper in reproduction.papers)
    subtitle = f"{names}; {counted(len(reproduction.seeds), 'seed')}{_marks(reproduction)}"
    facts = machine_facts(reproduction.seeds)
    return Report("Reproduction of papers", subtitle, sections, reproduction.command, facts)


def _meanings() -> list[Table]:
    verdicts = [Row([_verdict_cell(verdict), Cell(meaning)]) for verdict, meaning in MEANING.items()]
    outcomes = [Row([_outcome_cell(outcome), Cell(meaning)]) for outcome, meaning in OUTCOMES.items()]
    return [
        Table([Column("verdict"), Column("over all readings", prose=True)], verdicts),
        Table([Column("outcome"), Column("of a part in one reading", prose=True)], outcomes),
    ]


def _marks(reproduction: Reproduction) -> str:
    marks = []
    if reproduction.backend != SIM:
        marks.append(IN_LINUX)
    if reproduction.quick:
        marks.append(
            "quick: few seeds, longer runs cut to 60 s, alternatives and unused cells left out. A lean is no "
            f"verdict; for verdicts: {verdict_command(reproduction)}"
        )
    if reproduction.interrupted:
        marks.append("interrupted: claims without their runs are unavailable")
    return "".join(f"; {mark}" for mark in marks)


def _first_page(reproduction: Reproduction) -> list[Section]:
    quick = reproduction.quick
    what = "lean" if quick else "verdict"
    intro = (
        f"The number of claims of each paper with each {what}. Then, for each paper, its numbers beside "
        "ours and one line a claim; its link leads to the evidence."
    )
    first = Section("The claims at a glance", [_overview(reproduction)], "claims", intro)
    return [first, *(_claims(paper, quick=quick) for paper in reproduction.papers)]


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


def _claims(paper: PaperReproduction, *, quick: bool) -> Section:
    """Return the forest plot and one line for each claim. The paper's own section has the evidence."""
    about = paper.paper
    columns = [Column(""), Column("claim", prose=True), Column("lean" if quick else "verdict")]
    columns += [
        Column("parts on the claim's side" if quick else "parts that hold"),
        Column("seeds", numeric=True),
    ]
    there: list[list[Cell]] = []
    if paper.in_linux:
        columns += [Column("in Linux"), Column("parts"), Column("seeds", numeric=True)]
        there = [
            [_claim_cell(each, quick=quick), *_counts(each.defaults.judged, quick=quick)]
            for each in paper.in_linux.claims
        ]
    rows = [
        _claim_row(
            claim.defaults.judged,
            about.id,
            _claim_cell(claim, quick=quick),
            "" if quick else "; ".join(conditions(claim, short=True)),
            there[index] if there else [],
            quick=quick,
        )
        for index, claim in enumerate(paper.claims)
    ]
    table = Table(columns, rows, tally(paper.claims, quick=quick), stacked=True)
    blocks: list[Block] = [*forest(paper), table]
    return Section(f"{about.id}: {about.title}", blocks, f"{about.id}-claims", level=2, own_page=True)


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


def _counts(judged: JudgedClaim, *, quick: bool) -> list[Cell]:
    """Return how many parts hold, or lie on the claim's side, and the number of seeds."""
    count = judged.sided if quick else judged.holding
    return [Cell(f"{count} of {len(judged.parts)}"), Cell(str(judged.seeds), judged.seeds)]


def _claim_cell(claim: ClaimVerdict, *, quick: bool) -> Cell:
    return _lean_cell(claim.lean) if quick else _verdict_cell(claim.verdict)


def _findings(paper: PaperReproduction, *, quick: bool) -> Iterator[Table]:
    columns = [Column(""), Column("finding", prose=True), Column("lean" if quick else "outcome")]
    columns += [
        Column("parts on the claim's side" if quick else "parts that hold"),
        Column("seeds", numeric=True),
    ]
    rows = [
        _claim_row(
            each, paper.paper.id, _lean_cell(each.lean) if quick else _outcome_cell(each.outcome), quick=quick
        )
        for each in paper.findings
    ]
    if rows:
        yield Table(columns, rows, "Our findings, tested in the same way under the defaults")


def _verdict_cell(verdict: Verdict) -> Cell:
    return Cell(verdict.value, sort=list(Verdict).index(verdict), mark=VERDICT_MARKS[verdict])


def _outcome_cell(outcome: Outcome) -> Cell:
    return Cell(outcome.value, sort=list(Outcome).index(outcome), mark=OUTCOME_MARKS[outcome])


def _lean_cell(lean: Lean) -> Cell:
    return Cell(lean.value, sort=list(Lean).index(lean))


def _conditions(paper: PaperReproduction) -> Iterator[str]:
    """Yield the defaults behind the verdicts, fitted values, and departures from sources."""
    for point in paper.paper.open_points:
        if point.telling:
            yield f"Left open: {point.point}. Default: {point.default}. Why: {point.reason}"
    others = [point for point in paper.paper.open_points if not point.telling]
    if others:
        yield f"The paper leaves {counted(len(others), 'other point')} open; see the defaults below."
    variants = [(each.id, variant) for each in paper.paper.experiments for variant in each.variants]
    if paper.paper.baselines:
        checked = paper.defaults.gate.checked
        word = "passes" if paper.defaults.gate.passes else "misses"
        yield f"The default reading {word} the gate: {'; '.join(baseline(each) for each in checked)}."
    fitted = [f"{name}/{variant.label}: {variant.fitted}" for name, variant in variants if variant.fitted]
    yield f"Fitted to the paper: {'; '.join(fitted)}." if fitted else "Nothing is fitted to the paper."
    departures = dict(_departures(paper))
    if departures:
        counts = ", ".join(f"{name} ({len(each)})" for name, each in departures.items())
        yield f"Algorithms that depart from their sources, as described below: {counts}."


def _departures(paper: PaperReproduction) -> Iterator[tuple[str, list[str]]]:
    used = {
        flow["cc"]
        for result in paper.defaults.results.values()
        for run in result.runs[:1]
        for flow in run.outcome["flows"]
    }
    for entry in in_use().read_catalogue()["algorithms"]:
        if entry["name"] in used and entry["departures"]:
            yield entry["name"], entry["departures"]


def _paper_sections(paper: PaperReproduction, *, quick: bool) -> Iterator[Section]:
    about = paper.paper
    text = [f"{about.authors}. {about.venue}, {about.year}.", about.summary]
    blocks: list[Block] = [
        Text(text),
        Text(list(_conditions(paper))),
        _evidence_table(paper),
        *_findings(paper, quick=quick),
    ]
    yield Section(f"{about.id}: the evidence", blocks, about.id, folded=True, own_page=True)
    yield from figure_sections(paper, has_files=not quick)
    yield from linux_section(paper)
    if paper.explanation is not None:
        yield explanation_section(paper_json(paper))
    if paper.alternatives:
        yield _sensitivity(paper)
        yield from _closeness(paper)
    for experiment in about.experiments:
        yield experiment_section(paper, experiment)
    yield _open_points(paper)


def _evidence_table(paper: PaperReproduction) -> Table:
    columns = [
        Column("claim"),
        Column("part", prose=True),
        Column("outcome"),
        Column("ours, 95 % interval", numeric=True),
        Column("single runs"),
        Column("paper", numeric=True),
        Column("unit"),
        Column("expected"),
        Column("p (Holm)", numeric=True),
    ]
    judged = [*(claim.defaults.judged for claim in paper.claims), *paper.findings]
    rows = [row for claim in judged for row in _evidence_rows(paper.paper.id, claim)]
    return Table(columns, rows, "Every part of every claim and finding")


def _evidence_rows(paper: str, judged: JudgedClaim) -> Iterator[Row]:
    for index, each in enumerate(judged.parts):
        part = each.part
        missing = Cell("not run", hint=each.reason)
        ours = (
            missing
            if each.estimate is None
            else Cell(effect(each.estimate), each.estimate.value, hint=each.reason)
        )
        yield Row(
            [
                Cell(judged.claim.id),
                Cell(part.text, hint=part.effect.text if part.effect else None),
                _outcome_cell(each.outcome),
                ours,
                Cell("" if each.estimate is None else runs(each.estimate)),
                Cell("" if part.paper is None else plain(part.paper), part.paper),
                Cell(part.unit),
                Cell(_expected(part)),
                Cell("" if each.p is None else f"{each.p:.2g}", each.p),
            ],
            f"{paper}-{judged.claim.id}" if index == 0 else None,
        )


def _expected(part: Part) -> str:
    match part.expect:
        case Expect.SAME:
            return f"same within {part.margin or 0:g}"
        case Expect.AT_LEAST | Expect.AT_MOST:
            return f"{part.expect.value} {part.value:g}"
        case Expect.BETWEEN:
            return f"between {part.low or 0:g} and {part.high or 0:g}"
        case _:
            return part.expect.value


def _sensitivity(paper: PaperReproduction) -> Section:
    """Return the outcome of every claim in every reading, for all claims that were judged in any."""
    shown = [claim for claim in paper.claims if claim.verdict is not Verdict.UNAVAILABLE]
    columns = [Column("left open"), Column("answer"), Column("gate")]
    columns += [Column(claim.claim.id) for claim in shown]
    rows = []
    for index, each in enumerate(paper.readings):
        point = "\n".join(answer.point.point for answer in each.reading.answers)
        answer = each.reading.value if each.reading.option else "the defaults"
        outcomes = [_outcome_cell(claim.readings[index].outcome) for claim in shown]
        gate = "passes" if each.gate.passes else "misses"
        rows.append(Row([Cell(point), Cell(answer), Cell(gate), *outcomes]))
    hidden = len(paper.claims) - len(shown)
    note = f"Not shown: {counted(hidden, 'claim')} unavailable in all readings." if hidden else ""
    table = Table(columns, rows, "", note)
    intro = "What becomes of each claim in each reading that was tried."
    return Section("What the verdicts depend on", [table], f"{paper.paper.id}-sensitivity", intro, level=2)


def _closeness(paper: PaperReproduction) -> Iterator[Section]:
    """Yield the section that ranks the answers by the distance of our numbers from the paper's."""
    known = closeness([paper.defaults, *paper.alternatives])
    if len(known) < 2:
        return
    targets = [row.target for row in known[0].rows]
    columns = [
        Column("answer"),
        *(Column(f"{target.variant} {target.flow}".strip(), target.unit, numeric=True) for target in targets),
        Column("distance (root mean square)", known[0].unit, numeric=True),
    ]
    printed = [Cell(target.value, target.number) for target in targets]
    rows = [Row([Cell("the paper"), *printed, Cell("")])]
    for each in sorted(known, key=lambda each: each.distance):
        ours = [Cell(plain(row.ours.value), row.ours.value) for row in each.rows if row.ours is not None]
        name = each.reading.value if each.reading.option else "the default"
        rows.append(Row([Cell(name), *ours, Cell(plain(each.distance), each.distance)]))
    best = min(known, key=lambda each: each.distance)
    closest = best.reading.value if best.reading.option else "the default"
    intro = (
        f"Our values for the paper's numbers that need no learning, under each answer, closest first. The "
        f"closest is {closest}, at a distance of {plain(best.distance)} {best.unit}. Nothing was fitted."
    )
    title = "Which answer explains the paper's numbers"
    yield Section(title, [Table(columns, rows)], f"{paper.paper.id}-closeness", intro, level=2)


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
    departures = [Row([Cell(name), Cell("\n".join(each))]) for name, each in _departures(paper)]
    if departures:
        columns = [Column("algorithm"), Column("departures from its source", prose=True)]
        blocks.append(Table(columns, departures, "Departures of the algorithms from their sources"))
    if errata:
        blocks.append(
            Table([Column("where"), Column("what", prose=True)], errata, "Errata and contradictions")
        )
    return Section("Open points and errata", blocks, f"{paper.paper.id}-open", level=2)
