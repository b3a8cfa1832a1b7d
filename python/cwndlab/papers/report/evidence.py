"""The evidence of a paper: under which conditions its claims were judged, and every part of every claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.engine import in_use
from cwndlab.output.html import Cell, Column, Row, Section, Table, Text
from cwndlab.papers.contents.paper import Expect
from cwndlab.papers.report.claims import findings
from cwndlab.papers.report.marks import lean_cell, outcome_cell
from cwndlab.papers.table import conditions, effect, no_lean, runs
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.html import Block
    from cwndlab.papers.contents.paper import Part
    from cwndlab.papers.judging.across import ClaimVerdict
    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.judging.gate import Checked
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction


def evidence_sections(paper: PaperReproduction, *, quick: bool) -> Iterator[Section]:
    """Yield the paper's conditions, then one section for each claim and each finding."""
    about = paper.paper
    blocks: list[Block] = [
        Text([f"{about.authors}. {about.venue}, {about.year}.", about.summary]),
        *_conditions(paper),
        *findings(paper, quick=quick),
    ]
    yield Section(f"{about.id}: the evidence", blocks, about.id, folded=True, own_page=True)
    for claim in paper.claims:
        words = _lean(claim) if quick else [claim.verdict.value, *conditions(claim, short=True)]
        yield _parts_section(about.id, claim.defaults.judged, words, quick=quick)
    for finding in paper.findings_made:
        words = _lean(finding) if quick else [finding.outcome.value]
        yield _parts_section(about.id, finding, ["our finding", *words], quick=quick)


def _lean(claim: ClaimVerdict | JudgedClaim) -> list[str]:
    return no_lean(claim) or [claim.lean.value]


def departures(paper: PaperReproduction) -> Iterator[tuple[str, list[str]]]:
    """Yield the algorithms that were run and depart from their sources, with the departures."""
    used = {
        flow["cc"]
        for result in paper.defaults.results.values()
        for run in result.runs[:1]
        for flow in run.outcome["flows"]
    }
    for entry in in_use().read_catalogue()["algorithms"]:
        if entry["name"] in used and entry["departures"]:
            yield entry["name"], entry["departures"]


def _conditions(paper: PaperReproduction) -> Iterator[Block]:
    """Yield the defaults behind the verdicts, the baselines, fitted values, and departures from sources."""
    about = paper.paper
    telling = [
        Row([Cell(each.point), Cell(each.default), Cell(each.reason)])
        for each in about.open_points
        if each.telling
    ]
    others = len(about.open_points) - len(telling)
    if telling:
        columns = [Column(title, prose=True) for title in ("left open", "default", "why")]
        note = (
            f"The paper leaves {counted(others, 'other point')} open; they are listed below."
            if others
            else ""
        )
        title = "What the paper leaves open, and the verdicts may depend on"
        yield Table(columns, telling, title, note, stacked=True)
    if about.baselines:
        yield _gate(paper.defaults.gate.checked)
    variants = [(each.id, variant) for each in about.experiments for variant in each.variants]
    fitted = [f"{name}/{variant.label}: {variant.fitted}" for name, variant in variants if variant.fitted]
    lines = [
        f"Fitted to the paper: {'; '.join(fitted)}."
        if fitted
        else "No setting of the defaults is fitted to the paper."
    ]
    counts = ", ".join(f"{name} ({len(each)})" for name, each in departures(paper))
    if counts:
        lines.append(f"Algorithms that depart from their sources, as described below: {counts}.")
    yield Text(lines)


def _gate(checked: list[Checked]) -> Table:
    """Return the paper's own baselines, which a reading must give to count."""
    columns = [
        Column("baseline", prose=True),
        Column("paper, and tolerance", numeric=True),
        Column("ours", numeric=True),
        Column("within the tolerance?"),
    ]
    rows = [Row(list(_baseline(each))) for each in checked]
    passes = all(each.passes for each in checked)
    title = f"The paper's own baselines: the default reading {'reaches' if passes else 'misses'} them"
    return Table(columns, rows, title, stacked=True)


def _baseline(checked: Checked) -> Iterator[Cell]:
    about, ours = checked.baseline, checked.ours
    yield Cell(f"{about.text} ({about.unit})" if about.unit else about.text)
    yield Cell(f"{plain(about.paper)} ± {plain(about.tolerance)}", about.paper)
    yield Cell("not run", hint=checked.missing) if ours is None else Cell(effect(ours), ours.value)
    yield Cell("yes" if checked.passes else "no")


def _parts_section(paper: str, judged: JudgedClaim, words: list[str], *, quick: bool) -> Section:
    """Return one row for each part of a claim. Of a quick look, the lean instead of the outcome."""
    columns = [
        Column("part", prose=True),
        Column("lean" if quick else "outcome"),
        Column("ours, 95 % interval", numeric=True),
        Column("single runs", prose=True),
        Column("paper", numeric=True),
        Column("expected"),
    ]
    if not quick:
        columns.append(Column("p, Holm", numeric=True))
    rows = [Row(list(_part(each, quick=quick))) for each in judged.parts]
    claim = judged.claim
    state = "; ".join(words)
    lines = [f"{state[:1].upper()}{state[1:]}."]
    if claim.quote and claim.quote != "ours":
        lines.append(f"Source: {claim.quote}.")
    blocks: list[Block] = [Text(lines), Table(columns, rows, stacked=True)]
    return Section(f"{claim.id}: {claim.text}", blocks, f"{paper}-{claim.id}", level=2)


def _part(each: Judged, *, quick: bool) -> Iterator[Cell]:
    part, ours = each.part, each.estimate
    reason = None if quick and ours else each.reason
    yield Cell(part.text, hint=part.effect.text if part.effect else None)
    if quick:
        yield lean_cell(each.lean)
    else:
        yield outcome_cell(each.outcome)
    yield (Cell("not run") if ours is None else Cell(effect(ours, part.unit), ours.value, hint=reason))
    yield Cell(_spread(each))
    yield Cell("" if part.paper is None else plain(part.paper), part.paper)
    yield Cell(_expected(part))
    if not quick:
        yield Cell("" if each.p is None else f"{each.p:.2g}", each.p)


def _spread(each: Judged) -> str:
    """Return the range of single runs, or why there is none."""
    if each.estimate is None:
        return each.reason or ""
    return "" if each.estimate.is_constant else runs(each.estimate)


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
