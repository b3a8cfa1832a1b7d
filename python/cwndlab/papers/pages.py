"""Writes the verdicts into the papers' pages: `python -m cwndlab.papers.pages FILE PAGE...`.

FILE is a `reproduction.json` of `cwndlab reproduce`. Each PAGE has blocks that end with the line
`<!-- end of verdicts -->`. A block that begins with `<!-- verdicts: PAPER -->` gets the claims of that
paper, one that begins with `<!-- verdicts -->` those of all papers in FILE. What FILE does not have stays
as it is: the rows of other papers, and the search for answers (`--explain`).

If FILE is of `--backend both`, only what it says of Linux is written: the column "in Linux" of these blocks,
and the blocks from `<!-- in Linux: PAPER -->` to `<!-- end of in Linux -->`. Otherwise that stays as it is.
"""

from __future__ import annotations

import datetime
import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.papers import linux_pages
from cwndlab.papers.contents.backends import BOTH
from cwndlab.papers.contents.readings import LOOKS
from cwndlab.papers.explaining import tables
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.papers.reproducing.extent import extent_options
from cwndlab.papers.sensitivity import MAX_BYTES
from cwndlab.papers.table import named_readings
from cwndlab.scenarios.seeds import shown_seeds
from cwndlab.statistics.numbers import counted, plain
from cwndlab.system import writing
from cwndlab.system.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cwndlab.papers.explaining.tables import TextTable

BLOCK = re.compile(
    r"(?P<begin><!-- verdicts(?:: (?P<paper>[\w-]+))? -->\n).*?(?P<end><!-- end of verdicts -->)", re.DOTALL
)
LINUX_BLOCK = re.compile(
    r"(?P<begin><!-- in Linux: (?P<paper>[\w-]+) -->\n).*?(?P<end><!-- end of in Linux -->)", re.DOTALL
)

PARTS = "<details><summary>The parts of each claim and finding, under the defaults</summary>"
PAPER_ROW = re.compile(r"\| \[(?P<paper>[\w-]+)\]\(papers/")
# At most so many rows of each table of an explanation; the report has the others.
MOST_ROWS = 12


def filled(page: str, document: Mapping[str, Any], date: datetime.date) -> str:
    """Return the page with its blocks replaced. Blocks of papers that the document lacks stay as they are."""
    papers = {paper["id"]: paper for paper in document["papers"]}

    def block(found: re.Match[str]) -> str:
        name = found["paper"]
        if name is not None and name not in papers:
            return found[0]
        if name is None:
            lines = _all(document, date, linux_pages.without_column(found[0]))
        else:
            lines = _one(document, papers[name], date, found[0].splitlines())
        text = linux_pages.with_column("\n".join(lines), linux_pages.column(found[0]))
        return "\n".join([found["begin"], text, "", found["end"]])

    return BLOCK.sub(block, page)


def filled_in_linux(page: str, document: Mapping[str, Any], date: datetime.date) -> str:
    """Return the page with what became of these papers in Linux, and everything else as it is."""
    papers = {paper["id"]: paper for paper in document["papers"]}
    known = linux_pages.words(document)

    def verdicts(found: re.Match[str]) -> str:
        return linux_pages.with_column(found[0], {**linux_pages.column(found[0]), **known})

    def block(found: re.Match[str]) -> str:
        name = found["paper"]
        if name not in papers:
            return found[0]
        lines = [_made_by(document, name, date), *linux_pages.block(papers[name])]
        return "\n".join([found["begin"], *lines, "", found["end"]])

    return LINUX_BLOCK.sub(block, BLOCK.sub(verdicts, page))


def _all(document: Mapping[str, Any], date: datetime.date, old: Sequence[str]) -> Iterator[str]:
    rows: dict[str, list[str]] = {}
    for line in old:
        if found := PAPER_ROW.match(line):
            rows.setdefault(found["paper"], []).append(line)
    new = {paper["id"]: [*_rows_of_all(paper)] for paper in document["papers"]}
    # Over rows of several runs, the line says by hand which is of when.
    yield old[2] if rows.keys() - new.keys() else _made_by(document, None, date)
    yield ""
    yield "| paper | claim | verdict | parts that hold |"
    yield "|---|---|---|---|"
    for each in (rows | new).values():
        yield from each


def _rows_of_all(paper: Mapping[str, Any]) -> Iterator[str]:
    for claim in paper["claims"]:
        row = [f"[{paper['id']}](papers/{paper['id']}/README.md)", claim["text"], *_status(claim)]
        yield f"| {' | '.join(row)} |"


def _one(
    document: Mapping[str, Any], paper: Mapping[str, Any], date: datetime.date, old: Sequence[str]
) -> Iterator[str]:
    yield _made_by(document, paper["id"], date)
    yield ""
    yield "| | claim | status | holds if | fails if | parts that hold | seeds |"
    yield "|---|---|---|---|---|---|---|"
    for claim in paper["claims"]:
        word, parts = _status(claim)
        seeds = str(claim["seeds"] or "")
        row = [claim["id"], claim["text"], word, *_conditions(paper, claim), parts, seeds]
        yield f"| {' | '.join(row)} |"
    findings = [each for each in paper["findings"] if each["outcome"] != "not run"]
    if findings:
        yield from ("", "| finding | | | parts that hold |", "|---|---|---|---|")
        for each in findings:
            yield f"| {each['id']} | {each['text']} | {each['outcome']} | {_parts(each)} |"
    yield from _gate(paper)
    yield from _explanation(paper) if "explanation" in paper else _held_explanation(old)
    yield from ("", PARTS, "")
    yield "| claim | part | the paper | ours | single runs | |"
    yield "|---|---|---|---|---|---|"
    for each in [*paper["claims"], *findings]:
        yield from (_part(each["id"], part) for part in each["evidence"])
    yield from ("", "</details>")


def _made_by(document: Mapping[str, Any], paper: str | None, date: datetime.date) -> str:
    manifest = document["manifest"]
    explained = any("explanation" in each for each in document["papers"])
    # Without the option, there are seeds for every look.
    is_usual = document["seeds"] == list(range(1, LOOKS[-1] + 1))
    options = [] if is_usual else ["--seeds", shown_seeds(document["seeds"])]
    fewer = document.get("alternative_seeds")
    options += extent_options(
        quick=document["quick"],
        full=document["full"],
        explained=explained,
        defaults_only=document["defaults_only"],
        asked=document.get("asked", ()),
        backend=document["backend"],
        alternative_seeds=fewer,
    )
    seeds = f"at most {counted(len(document['seeds']), 'seed')}"
    if fewer is not None:
        seeds += f", {fewer} for alternatives"
    command = shlex.join(["cwndlab", "reproduce", *([paper] if paper else []), *options])
    return f"`{command}` on {date.isoformat()}, commit {manifest['commit'][:12]}, {seeds}:"


def _status(claim: Mapping[str, Any]) -> tuple[str, str]:
    return f"**{claim['verdict']}**", _parts(claim)


def _parts(judged: Mapping[str, Any]) -> str:
    return f"{judged['parts_holding']} of {judged['parts']}"


def _conditions(paper: Mapping[str, Any], claim: Mapping[str, Any]) -> tuple[str, str]:
    """Return the readings in which a claim holds, and those in which it fails.

    If none passes the gate, all that were tried are named, and marked as missing it.
    """
    if claim["verdict"] == Verdict.UNAVAILABLE:
        return "", ""
    return (
        _readings(paper, claim, (Outcome.HOLDS, Outcome.AGREES)),
        _readings(paper, claim, (Outcome.FAILS,)),
    )


def _readings(paper: Mapping[str, Any], claim: Mapping[str, Any], outcomes: Sequence[str]) -> str:
    """Return the answers of the readings with one of these outcomes."""
    counts = any(each["passes_gate"] for each in claim["readings"])
    tried = [
        (own["outcome"], reading)
        for own, reading in zip(claim["readings"], paper["readings"], strict=True)
        if own["outcome"] != Outcome.MISSING and own["passes_gate"] == counts
    ]
    found = [reading for outcome, reading in tried if outcome in outcomes]
    if not found:
        return ""
    mark = "" if counts else "(not counted: the baselines are missed) "
    if len(found) == len(tried) > 1:
        return f"{mark}all {len(tried)} readings" + (" tried" if paper["untried"] else "")
    others = [_answers(reading) for outcome, reading in tried if outcome not in outcomes]
    return mark + named_readings([_answers(reading) for reading in found], others)


def _answers(reading: Mapping[str, Any]) -> str:
    answers = " with ".join(reading["answers"]) or "the defaults"
    return f"{answers} (fitted)" if reading["fitted"] else answers


def _gate(paper: Mapping[str, Any]) -> Iterator[str]:
    """Say how the defaults meet the paper's own baselines, and which answers do not."""
    baselines = paper["readings"][0]["baselines"]
    if not baselines:
        return
    yield from ("", "The paper's own baselines under the defaults:", "")
    yield from ("| baseline | the paper | ours | |", "|---|---|---|---|")
    for each in baselines:
        unit = f" {each['unit']}" if each["unit"] else ""
        given = f"{each['paper']:g} ± {each['tolerance']:g}{unit}"
        met = {True: "met", False: "missed", None: "not run"}[each["passes"]]
        yield f"| {each['text']} | {given} | {_estimate(each['ours'], each['unit'])} | {met} |"


def _explanation(paper: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", f"**Why?** {tables.introduction(paper)} [How](../../docs/reproduction.md#why).")
    closest, *details = tables.tables(paper, MOST_ROWS)
    yield from ("", f"{closest.title}:", "", *_markdown(closest))
    for each in details:
        yield from ("", f"<details><summary>{each.title}</summary>", "", *_markdown(each), "", "</details>")


def _held_explanation(old: Sequence[str]) -> Iterator[str]:
    """Yield the explanation that a block has, if it has one."""
    begin = next((at for at, line in enumerate(old) if line.startswith("**Why?**")), None)
    if begin is not None:
        yield ""
        yield from old[begin : old.index(PARTS) - 1]


def _markdown(table: TextTable) -> Iterator[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield "|---" * len(table.columns) + "|"
    yield from (f"| {' | '.join(row)} |" for row in table.rows)
    if table.note:
        yield from ("", table.note)


def _part(claim: str, part: Mapping[str, Any]) -> str:
    ours = part["ours"]
    given = "" if part["paper"] is None else _with_unit(f"{part['paper']:g}", part["unit"])
    runs = "" if ours is None or ours["n"] < 2 else " to ".join(plain(end) for end in ours["runs"])
    missing = part.get("reason", "not run") if ours is None else _estimate(ours, part["unit"])
    return f"| {claim} | {part['text']} | {given} | {missing} | {runs} | {part['outcome']} |"


def _estimate(ours: Mapping[str, Any] | None, unit: str) -> str:
    if ours is None:
        return "not run"
    interval = "" if ours["ci95"] is None else f" [{', '.join(plain(end) for end in ours['ci95'])}]"
    return _with_unit(plain(ours["mean"]) + interval, unit)


def _with_unit(value: str, unit: str) -> str:
    return f"{value} {unit}" if unit else value


def main(arguments: list[str]) -> None:
    """Fill the blocks of the pages. Raises `InputError` if a page has none."""
    file, *pages = arguments
    document = json.loads(read(Path(file), MAX_BYTES, "the document of a reproduction (JSON)"))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    for page in map(Path, pages):
        text = page.read_text(encoding="utf-8")
        if not BLOCK.search(text):
            raise InputError(f"{page}: expected a line '<!-- verdicts: PAPER -->', found none")
        fill = filled_in_linux if document["backend"] == BOTH else filled
        writing.write_text(page, fill(text, document, today))


if __name__ == "__main__":
    main(sys.argv[1:])
