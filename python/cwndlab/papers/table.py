"""The output of `cwndlab reproduce`: each paper, its claims and their verdicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from cwndlab.papers.judging.verdict import Verdict
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from rich.console import Console

    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.judging.reproduction import PaperReproduction, Reproduction
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.statistics.estimate import Estimate

STYLES = {
    Verdict.REPRODUCED: "green",
    Verdict.SUPPORTED: "green",
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "yellow",
    Verdict.UNAVAILABLE: "dim",
}


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print one line per claim. Unavailable claims are only counted."""
    for paper in reproduction.papers:
        _print_paper(console, paper)
    console.print(f"{counted(len(reproduction.seeds), 'seed')}; 95 % intervals, paired by seed.")
    if reproduction.quick:
        console.print(
            "--quick: few seeds, longer runs cut to 60 s, and unused cells left out. These are not the "
            "papers' experiments."
        )


def tally(claims: list[JudgedClaim]) -> str:
    """Return the number of claims with each verdict."""
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in STYLES if counts[verdict])


def claim_evidence(claim: JudgedClaim) -> list[str]:
    """Return the evidence of each part, without repetition. With several parts, each is named."""
    alone = len(claim.parts) == 1
    lines = (
        evidence(part) if alone or part.estimate is None else f"{part.part.text}: {evidence(part)}"
        for part in claim.parts
    )
    return list(dict.fromkeys(lines))


def evidence(judged: Judged) -> str:
    """Return the effect of a part with its interval, and the paper's effect."""
    if judged.estimate is None:
        return judged.reason or "not run"
    paper = "" if judged.part.paper is None else f" (paper: {plain(judged.part.paper)})"
    reason = f"; {judged.reason}" if judged.reason else ""
    return f"{effect(judged.estimate, judged.part.unit)}{paper}{reason}"


def effect(estimate: Estimate, unit: str = "") -> str:
    """Return a value with the ends of its interval, and the unit."""
    unit = f" {unit}" if unit else ""
    if estimate.low is None or estimate.high is None:
        return f"{plain(estimate.value)}{unit} (one seed)"
    if estimate.low == estimate.high:
        return f"{plain(estimate.value)}{unit} in every seed"
    return f"{plain(estimate.value)} [{plain(estimate.low)}, {plain(estimate.high)}]{unit}"


def _print_paper(console: Console, paper: PaperReproduction) -> None:
    console.print(f"[bold]{escape(paper.paper.id)}[/bold]: {escape(paper.paper.title)}")
    console.print(f"{counted(len(paper.claims), 'claim')}: {tally(paper.claims)}")
    shown = [claim for claim in (*paper.claims, *paper.findings) if claim.verdict is not Verdict.UNAVAILABLE]
    if shown:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for _ in range(3):
            table.add_column()
        for claim in shown:
            details = "\n".join(claim_evidence(claim))
            verdict = f"[{STYLES[claim.verdict]}]{claim.verdict.value}[/]"
            table.add_row(
                escape(claim.claim.id), verdict, f"{escape(claim.claim.text)}\n[dim]{escape(details)}[/dim]"
            )
        console.print(table)
    console.print()
