"""The report of `cwndlab reproduce`: the claims on its first page, then each paper in detail."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cwndlab.engine import in_use
from cwndlab.output.html import Cell, Column, Report, Row, Section, Table, Text
from cwndlab.output.report.parts import machine_facts
from cwndlab.papers.contents.paper import Expect
from cwndlab.papers.judging.closeness import closeness
from cwndlab.papers.judging.verdict import MEANING, Verdict
from cwndlab.papers.report.experiments import experiment_section
from cwndlab.papers.report.figures import figure_sections
from cwndlab.papers.table import claim_evidence, effect, tally
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cwndlab.output.html import Block
    from cwndlab.papers.contents.paper import Part
    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.judging.reproduction import PaperReproduction, Reproduction

METHOD = (
    "An effect is computed within each seed, so that compared runs share their random numbers. Means have "
    "Student's t intervals; ratios, indices and medians have bootstrap intervals (BCa)."
)
WHOLE = "A claim with several parts holds only if all of them hold. One refuted part refutes it."


def reproduction_page(reproduction: Reproduction) -> Report:
    """Return the report: an overview of the claims, then every paper."""
    sections = [
        *_first_page(reproduction),
        *(
            section
            for paper in reproduction.papers
            for section in _paper_sections(paper, has_files=not reproduction.quick)
        ),
        Section("How verdicts are reached", [Text([METHOD]), _meanings(), Text([WHOLE])], "rules"),
    ]
    names = ", ".join(paper.paper.id for paper in reproduction.papers)
    subtitle = f"{names}; {counted(len(reproduction.seeds), 'seed')}{_marks(reproduction)}"
    facts = machine_facts(reproduction.seeds)
    return Report("Reproduction of papers", subtitle, sections, reproduction.command, facts)


def _meanings() -> Table:
    rows = [Row([_verdict_cell(verdict), Cell(meaning)]) for verdict, meaning in MEANING.items()]
    return Table([Column("verdict"), Column("meaning", prose=True)], rows)


def _marks(reproduction: Reproduction) -> str:
    marks = []
    if reproduction.quick:
        marks.append(
            "quick: few seeds, longer runs cut to 60 s, and unused cells left out, so these are not the "
            "papers' experiments"
        )
    if reproduction.interrupted:
        marks.append("interrupted: claims without their runs are unavailable")
    return "".join(f"; {mark}" for mark in marks)


def _first_page(reproduction: Reproduction) -> list[Section]:
    intro = "The number of claims of each paper with each verdict. The claims follow, one sentence each."
    first = Section("The claims at a glance", [_overview(reproduction)], "claims", intro)
    return [first, *(_claims(paper) for paper in reproduction.papers)]


def _overview(reproduction: Reproduction) -> Table:
    columns = [Column("paper", prose=True), Column("claims", numeric=True)]
    columns += [Column(verdict.value, numeric=True) for verdict in MEANING]
    rows = []
    for paper in reproduction.papers:
        counts = Counter(claim.verdict for claim in paper.claims)
        numbers = [len(paper.claims), *(counts[verdict] for verdict in MEANING)]
        first = Cell(f"{paper.paper.id}: {paper.paper.title}", href=f"#{paper.paper.id}-claims")
        rows.append(Row([first, *(Cell(str(number), number) for number in numbers)]))
    return Table(columns, rows)


def _claims(paper: PaperReproduction) -> Section:
    about = paper.paper
    blocks: list[Block] = [
        _claims_table(paper.claims, about.id, f"Claims of {about.id}: {tally(paper.claims)}")
    ]
    if paper.findings:
        blocks.append(_claims_table(paper.findings, about.id, "Our findings, tested in the same way"))
    blocks.append(Text(list(_conditions(paper))))
    return Section(f"{about.id}: {about.title}", blocks, f"{about.id}-claims", level=2)


def _claims_table(claims: Iterable[JudgedClaim], paper: str, caption: str) -> Table:
    rows = [
        Row(
            [
                Cell(claim.claim.id, href=f"#{paper}-{claim.claim.id}"),
                Cell(claim.claim.text, hint=claim.claim.quote),
                _verdict_cell(claim.verdict),
                Cell("\n".join(claim_evidence(claim))),
            ]
        )
        for claim in claims
    ]
    columns = [Column(""), Column("statement", prose=True), Column("verdict"), Column("evidence", prose=True)]
    return Table(columns, rows, caption)


def _verdict_cell(verdict: Verdict) -> Cell:
    return Cell(verdict.value, sort=list(Verdict).index(verdict), mark=verdict.value)


def _conditions(paper: PaperReproduction) -> Iterator[str]:
    """Yield the defaults behind the verdicts, fitted values, and departures from sources."""
    telling = next((point for point in paper.paper.open_points if point.telling), None)
    if telling is not None:
        yield f"Left open: {telling.point}. Default: {telling.default}. Why: {telling.reason}"
        yield from _changed_verdicts(paper)
    others = [point for point in paper.paper.open_points if not point.telling]
    if others:
        yield f"The paper leaves {counted(len(others), 'other point')} open; see the defaults below."
    variants = [(each.id, variant) for each in paper.paper.experiments for variant in each.variants]
    fitted = [f"{name}/{variant.label}: {variant.fitted}" for name, variant in variants if variant.fitted]
    yield f"Fitted to the paper: {'; '.join(fitted)}." if fitted else "Nothing is fitted to the paper."
    departures = dict(_departures(paper))
    if departures:
        counts = ", ".join(f"{name} ({len(each)})" for name, each in departures.items())
        yield f"Algorithms that depart from their sources, as described below: {counts}."


def _changed_verdicts(paper: PaperReproduction) -> Iterator[str]:
    """Yield the verdicts that each alternative changes."""
    for each in paper.sensitivity:
        changed = [
            f"{now.claim.id} {before.verdict.value} → {now.verdict.value}"
            for before, now in zip(paper.claims, each.claims, strict=True)
            if now.verdict is not before.verdict and Verdict.UNAVAILABLE not in (now.verdict, before.verdict)
        ]
        if changed and each.reading.alternative is not None:
            yield f"With {each.reading.alternative.label} instead: {', '.join(changed)}."


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


def _paper_sections(paper: PaperReproduction, *, has_files: bool) -> Iterator[Section]:
    about = paper.paper
    text = [f"{about.authors}. {about.venue}, {about.year}.", about.summary]
    yield Section(f"{about.id}: {about.title}", [Text(text), _evidence_table(paper)], about.id)
    yield from figure_sections(paper, has_files=has_files)
    if paper.sensitivity:
        yield _sensitivity(paper)
        yield from _closeness(paper)
    for experiment in about.experiments:
        yield experiment_section(paper, experiment)
    yield _open_points(paper)


def _evidence_table(paper: PaperReproduction) -> Table:
    columns = [
        Column("claim"),
        Column("part", prose=True),
        Column("verdict"),
        Column("ours, 95 % interval", numeric=True),
        Column("paper", numeric=True),
        Column("unit"),
        Column("expected"),
        Column("p (Holm)", numeric=True),
        Column("effect", code=True),
    ]
    judged = [*paper.claims, *paper.findings]
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
                Cell(part.text),
                _verdict_cell(each.verdict),
                ours,
                Cell("" if part.paper is None else plain(part.paper), part.paper),
                Cell(part.unit),
                Cell(_expected(part)),
                Cell("" if each.p is None else f"{each.p:.2g}", each.p),
                Cell(f"{part.experiment}: {part.effect.text}" if part.effect else part.experiment),
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
    """Return the verdicts under every alternative, for all claims that were judged under any."""
    readings = [("the default", "", paper.claims)]
    readings += [
        (each.reading.value, each.reading.point.point if each.reading.point else "", each.claims)
        for each in paper.sensitivity
    ]
    shown = [
        index
        for index in range(len(paper.claims))
        if any(claims[index].verdict is not Verdict.UNAVAILABLE for _, _, claims in readings)
    ]
    columns = [
        Column("left open"),
        Column("answer"),
        *(Column(paper.claims[index].claim.id) for index in shown),
    ]
    rows = [
        Row([Cell(point), Cell(answer), *(_verdict_cell(claims[index].verdict) for index in shown)])
        for answer, point, claims in readings
    ]
    default = next((point for point in paper.paper.open_points if point.telling), None)
    seeds = counted(len(paper.sensitivity[0].reading.seeds), "seed")
    intro = f"Each verdict under each alternative, over {seeds}. Fewer seeds leave more claims undecided."
    hidden = len(paper.claims) - len(shown)
    note = f"Not shown: {counted(hidden, 'claim')} unavailable under all alternatives." if hidden else ""
    table = Table(columns, rows, f"Default: {default.default}" if default else "", note)
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
