"""The output of `cwndlab reproduce`: each paper, its claims and their verdicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from cwndlab.papers.contents.backends import WHERE
from cwndlab.papers.contents.cells import QUICK_S
from cwndlab.papers.contents.paper import Expect
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.judging.verdict import Lean, Outcome
from cwndlab.papers.reproducing.extent import backend_option
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from cwndlab.papers.contents.paper import Claim
    from cwndlab.papers.judging.across import ClaimVerdict
    from cwndlab.papers.judging.evaluation import JudgedClaim
    from cwndlab.papers.judging.gate import Checked
    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction
    from cwndlab.statistics.estimate import Estimate

STYLES = {
    Verdict.REPRODUCED: "green",
    Verdict.SUPPORTED: "green",
    Verdict.DEPENDS: "yellow",
    Verdict.REFUTED: "red",
    Verdict.NOT_IDENTIFIED: "yellow",
    Verdict.UNDECIDED: "yellow",
    Verdict.UNAVAILABLE: "dim",
}
# If a claim holds or fails in more readings than this, the others are named instead, if they are fewer.
MOST_NAMED = 8
CUTS = f"runs of many packets cut to {QUICK_S} s"
OUTCOME_STYLES = {
    Outcome.AGREES: "green",
    Outcome.HOLDS: "green",
    Outcome.FAILS: "red",
    Outcome.OPEN: "yellow",
    Outcome.MISSING: "dim",
}


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print one line per claim. Unavailable claims are only counted."""
    if reproduction.backend in WHERE:
        console.print(f"{WHERE[reproduction.backend]}.", markup=False)
    if reproduction.quick:
        seeds = counted(len(reproduction.seeds), "seed")
        console.print(
            f"A quick look: our numbers with {seeds}. Few seeds seldom show which way a claim leans, and a "
            "set-up that misses the paper's baselines never does.\n"
        )
    for paper in reproduction.papers:
        _print_paper(console, paper, quick=reproduction.quick)
    console.print(
        "95 % intervals in brackets, paired by seed; then the lowest and the highest run.", markup=False
    )
    if reproduction.quick:
        console.print(
            f"--quick: {counted(len(reproduction.seeds), 'seed')}, {CUTS}, unused cells and alternatives "
            "left out. A lean is no verdict. For verdicts:"
        )
        console.print(f"  {verdict_command(reproduction)}", markup=False)


def verdict_command(reproduction: Reproduction) -> str:
    """Return the command that gives verdicts for these papers."""
    names = [paper.paper.id for paper in reproduction.papers]
    return " ".join(["cwndlab", "reproduce", *names, *backend_option(reproduction.backend)])


def tally(claims: Sequence[ClaimVerdict], *, quick: bool = False) -> str:
    """Return the number of claims with each verdict, or of a quick look with each lean."""
    if quick:
        leans = Counter(claim.lean for claim in claims)
        return ", ".join(f"{leans[lean]} {lean.value}" for lean in Lean if leans[lean])
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in STYLES if counts[verdict])


def conditions(claim: ClaimVerdict, *, short: bool = False) -> list[str]:
    """Return the answers on which the verdict depends. A short text counts the baselines that are missed."""
    lines = []
    if claim.verdict is Verdict.NOT_IDENTIFIED and short:
        gate = claim.defaults.gate
        lines.append(
            f"the defaults miss {len(gate.missed)} of {counted(len(gate.checked), 'baseline')} of the paper"
        )
    elif claim.verdict is Verdict.NOT_IDENTIFIED:
        missed = "; ".join(baseline(each) for each in claim.defaults.gate.missed)
        lines.append(f"the defaults miss the paper's own baselines: {missed}")
    elif not claim.defaults.passes:
        lines.append("the defaults miss the paper's own baselines and do not count")
    if claim.fails_so_far and claim.verdict is Verdict.UNDECIDED:
        rest = (
            f"--full tries {counted(claim.untried, 'more answer')}"
            if claim.untried
            else f"not judged under {counted(claim.unjudged, 'answer')}"
        )
        lines.append(f"fails in every reading tried that passes the gate ({len(claim.passing)}); {rest}")
    passing = [each.answer for each in claim.passing]
    for word, found in (("holds", claim.holds_if), ("fails", claim.fails_if)):
        if found:
            others = [answer for answer in passing if answer not in found]
            lines.append(f"{word} if: {named_readings(found, others)}")
    return lines


def named_readings(found: Sequence[str], others: Sequence[str]) -> str:
    """Name readings among all that count; if they are most of many, name those that are left."""
    if len(found) > max(MOST_NAMED, len(others)):
        total = len(found) + len(others)
        return f"{len(found)} of {total} readings, not with {'; '.join(others)}"
    return "; ".join(found)


def no_lean(claim: ClaimVerdict | JudgedClaim) -> list[str]:
    """Return why a quick look leans to neither side of a claim, if it does not."""
    return [f"no lean: {claim.no_lean_because}"] if claim.no_lean_because else []


def baseline(checked: Checked) -> str:
    """Return a baseline with its number, ours and the tolerance."""
    about = checked.baseline
    unit = f" {about.unit}" if about.unit else ""
    ours = "not run" if checked.ours is None else plain(checked.ours.value)
    return f"{about.text}: {ours} (paper: {plain(about.paper)} ± {plain(about.tolerance)}{unit})"


def parts_holding(claim: JudgedClaim, *, quick: bool = False) -> str:
    """Return how many parts of a claim hold, if it has several; of a quick look, how many lean to it."""
    if len(claim.parts) < 2:
        return ""
    if quick:
        return f"{claim.leaning} of {len(claim.parts)} parts lean to it"
    return f"{claim.holding} of {len(claim.parts)} parts hold"


def claim_evidence(claim: JudgedClaim, *, quick: bool = False) -> list[str]:
    """Return the evidence of each part, without repetition. With several parts, each is named."""
    alone = len(claim.parts) == 1
    lines = (
        evidence(part, quick=quick)
        if alone or part.estimate is None
        else f"{part.part.text}: {evidence(part, quick=quick)}"
        for part in claim.parts
    )
    return list(dict.fromkeys(lines))


def evidence(judged: Judged, *, quick: bool = False) -> str:
    """Return the effect of a part with its interval, and the paper's effect.

    A quick look decides nothing, so it gives no reason why a part stays open. The claim has it.
    """
    if judged.estimate is None:
        return judged.reason or "not run"
    notes = [] if judged.part.paper is None else [f"paper: {plain(judged.part.paper)}"]
    # "Fewer" is a difference below zero.
    notes += ["claimed: below 0"] if judged.part.expect is Expect.NEGATIVE else []
    paper = f" ({'; '.join(notes)})" if notes else ""
    reason = f"; {judged.reason}" if judged.reason and not quick else ""
    ran = "" if judged.estimate.is_constant else f"; {runs(judged.estimate)}"
    return f"{effect(judged.estimate, judged.part.unit)}{paper}{ran}{reason}"


def effect(estimate: Estimate, unit: str = "") -> str:
    """Return a value with the ends of its interval, and the unit."""
    unit = f" {unit}" if unit else ""
    if estimate.low is None or estimate.high is None:
        return f"{plain(estimate.value)}{unit} (one seed)"
    if estimate.low == estimate.high:
        return f"{plain(estimate.value)}{unit} in every seed"
    return f"{plain(estimate.value)} [{plain(estimate.low)}, {plain(estimate.high)}]{unit}"


def runs(estimate: Estimate) -> str:
    """Return the range of the single runs, since a paper mostly reports one, and their number."""
    spread = f"{plain(min(estimate.values))} to {plain(max(estimate.values))}"
    return f"{counted(estimate.n, 'run')} from {spread}" if estimate.n > 1 else "one run"


def _print_paper(console: Console, paper: PaperReproduction, *, quick: bool) -> None:
    console.print(f"[bold]{escape(paper.paper.id)}[/bold]: {escape(paper.paper.title)}")
    console.print(f"{counted(len(paper.claims), 'claim')}: {tally(paper.claims, quick=quick)}")
    if paper.in_linux:
        console.print(f"in Linux: {tally(paper.in_linux.claims, quick=quick)}")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for _ in range(3):
        table.add_column()
    for index, claim in enumerate(paper.claims):
        there = paper.in_linux.claims[index] if paper.in_linux else None
        if any(each and each.verdict is not Verdict.UNAVAILABLE for each in (claim, there)):
            words, lines = [_word(claim, quick=quick)], _details(claim, quick=quick)
            if there:
                words.append(f"in Linux: {_word(there, quick=quick)}")
                lines += [f"in Linux: {line}" for line in _details(there, quick=quick) if line]
            _add(table, claim.claim, words, lines)
    if paper.findings_made:
        table.add_row("", "", "")
        table.add_row("", "", "[dim]Our own findings, tested in the same way under the defaults:[/dim]")
    for finding in paper.findings_made:
        style = "bold" if quick else OUTCOME_STYLES[finding.outcome]
        word = finding.lean.value if quick else finding.outcome.value
        notes = no_lean(finding) if quick else []
        lines = [parts_holding(finding, quick=quick), *notes, *claim_evidence(finding, quick=quick)]
        _add(table, finding.claim, [f"[{style}]{word}[/]"], lines)
    console.print(table)
    console.print()


def _word(claim: ClaimVerdict, *, quick: bool) -> str:
    if quick:
        return f"[bold]{claim.lean.value}[/]"
    return f"[{STYLES[claim.verdict]}]{claim.verdict.value}[/]"


def _details(claim: ClaimVerdict, *, quick: bool) -> list[str]:
    judged = claim.defaults.judged
    notes = no_lean(claim) if quick else conditions(claim)
    return [parts_holding(judged, quick=quick), *notes, *claim_evidence(judged, quick=quick)]


def _add(table: Table, claim: Claim, words: list[str], lines: list[str]) -> None:
    details = "\n".join(line for line in lines if line)
    table.add_row(escape(claim.id), "\n".join(words), f"{escape(claim.text)}\n[dim]{escape(details)}[/dim]")
