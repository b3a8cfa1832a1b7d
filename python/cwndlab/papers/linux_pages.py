"""What a paper's page says of Linux: a column of its table of claims, and a block of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Document = Mapping[str, Any]

TITLE = "in Linux"
NOT_RUN = "not run"
ANSWERS_NOTE = (
    "In brackets: these answers miss a baseline of the claim, so the outcome does not count. "
    "Empty: not judged under these answers, or not run because they miss a baseline."
)
# The column stands after the verdict in the simulator.
VERDICTS = ("status", "verdict")
CLAIM = "claim"


def column(text: str) -> dict[str, str]:
    """Return the cells of the column "in Linux" of the tables in a text, by their claims."""
    return {
        cells[head.index(CLAIM)]: cells[head.index(TITLE)]
        for _, cells, head in _lines(text)
        if TITLE in head and cells is not head and not _is_rule(cells)
    }


def with_column(text: str, known: Mapping[str, str]) -> str:
    """Return the text with this column in its tables of claims. A claim that is not `known` was not run."""
    lines = (_row(_filled(cells, head, known)) if head else line for line, cells, head in _lines(text))
    return "\n".join(lines) if known else text


def without_column(text: str) -> list[str]:
    """Return the lines of a text whose tables of claims lack this column."""
    return [
        _row([cell for cell, title in zip(cells, head, strict=True) if title != TITLE]) if head else line
        for line, cells, head in _lines(text)
    ]


def words(document: Document) -> dict[str, str]:
    """Return what became of each claim in Linux, by its text."""
    return {
        claim["text"]: f"{claim['verdict']} ({claim['parts_holding']} of {claim['parts']})"
        for paper in document["papers"]
        for claim in paper["in_linux"]["claims"]
    }


def block(paper: Document) -> Iterator[str]:
    """Yield the lines of a paper's block: its baselines and the parts of its claims on both backends."""
    there = paper["in_linux"]
    baselines = paper["readings"][0]["baselines"]
    if baselines:
        yield from ("", "| baseline | the paper | simulator | Linux |", "|---|---|---|---|")
        for here, in_linux in zip(baselines, there["readings"][0]["baselines"], strict=True):
            given = f"{plain(here['paper'])} ± {plain(here['tolerance'])} {here['unit']}".strip()
            yield _row([here["text"], given, _baseline(here), _baseline(in_linux)])
    yield from _answers(there)
    yield from ("", "<details><summary>Every part of every claim, on both backends</summary>", "")
    yield "| claim | part | unit | the paper | simulator | Linux | Linux - simulator |"
    yield "|---|---|---|---|---|---|---|"
    differences = {(each["claim"], each["text"]): each["linux_minus_sim"] for each in there["differences"]}
    for here, in_linux in zip(paper["claims"], there["claims"], strict=True):
        for part, other in zip(here["evidence"], in_linux["evidence"], strict=True):
            given = "" if part["paper"] is None else plain(part["paper"])
            gap = differences[here["id"], part["text"]]
            difference = "" if gap is None else _estimate(gap)
            row = [here["id"], part["text"], part["unit"], given, _part(part), _part(other), difference]
            yield _row(row)
    yield from ("", "</details>")


def _answers(there: Document) -> Iterator[str]:
    """Yield a table of the answers that were tried in Linux, if there are any."""
    if len(there["readings"]) == 1:
        return
    titles = [each["text"] for each in there["readings"][0]["baselines"]]
    claims = [claim["id"] for claim in there["claims"]]
    head = ["answers in Linux", *titles, *claims]
    yield from ("", _row(head), _row(["---"] * len(head)))
    for index, reading in enumerate(there["readings"]):
        baselines = {each["text"]: _baseline(each) for each in reading["baselines"]}
        outcomes = [_outcome(claim["readings"][index]) for claim in there["claims"]]
        answers = "; ".join(reading["answers"]) or "the defaults"
        yield _row([answers, *(baselines.get(title, "") for title in titles), *outcomes])
    yield from ("", ANSWERS_NOTE)


def _outcome(judged: Document) -> str:
    """Return the outcome of a claim in a reading; nothing if it was not judged there."""
    if judged["outcome"] == NOT_RUN:
        return ""
    return str(judged["outcome"]) if judged["passes_gate"] else f"({judged['outcome']})"


def _lines(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each line with its cells, and with those of its head if it belongs to a table of claims."""
    head: list[str] = []
    for line in text.splitlines():
        cells = _cells(line)
        if not cells:
            head = []
        elif CLAIM in cells and any(name in cells for name in VERDICTS):
            head = cells
        yield line, cells, head


def _filled(cells: list[str], head: list[str], known: Mapping[str, str]) -> list[str]:
    """Return a row of a table of claims with its cell of the column."""
    rest = [cell for cell, title in zip(cells, head, strict=True) if title != TITLE]
    titles = [title for title in head if title != TITLE]
    place = 1 + next(index for index, title in enumerate(titles) if title in VERDICTS)
    if cells is head:
        own = TITLE
    elif _is_rule(cells):
        own = "---"
    else:
        own = known.get(rest[titles.index(CLAIM)], NOT_RUN)
    return [*rest[:place], own, *rest[place:]]


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a table; none if it is no such line."""
    if not (line.startswith("|") and line.endswith("|")):
        return []
    return [cell.strip() for cell in line[1:-1].split("|")]


def _is_rule(cells: list[str]) -> bool:
    return all(cell and not cell.strip("-") for cell in cells)


def _row(cells: list[str]) -> str:
    return "|---" * len(cells) + "|" if _is_rule(cells) else f"| {' | '.join(cells)} |"


def _baseline(each: Document) -> str:
    if each["ours"] is None:
        return NOT_RUN
    return f"{_estimate(each['ours'])}, {'met' if each['passes'] else 'missed'}"


def _part(part: Document) -> str:
    if part["ours"] is None:
        return str(part.get("reason", NOT_RUN))
    return f"{_estimate(part['ours'])}, {part['outcome']}"


def _estimate(ours: Document) -> str:
    interval = "" if ours["ci95"] is None else f" [{', '.join(plain(end) for end in ours['ci95'])}]"
    return plain(ours["mean"]) + interval
