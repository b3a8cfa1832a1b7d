"""The forest plot of a paper: its effects beside ours, one line for each part that has a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import ForestLine, ForestPlot
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.papers.report.marks import OUTCOME_MARKS
from cwndlab.papers.table import effect
from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction

# An effect divided by the paper's: 0 is no effect, 1 is the paper's.
TICKS = (-1, 0, 1, 2, 3)
SIGNS = {
    Outcome.AGREES: "circle: agrees",
    Outcome.HOLDS: "square: holds",
    Outcome.FAILS: "cross: fails",
    Outcome.OPEN: "diamond: open",
}


def forests(paper: PaperReproduction, *, quick: bool = False) -> Iterator[ForestPlot]:
    """Yield the plot of a paper, or the simulator's and Linux's."""
    if paper.in_linux is None:
        yield from forest(paper, quick=quick)
    else:
        yield from forest(paper, "the simulator", quick=quick)
        yield from forest(paper.in_linux, "Linux", quick=quick)


def forest(paper: PaperReproduction, ours: str = "ours", *, quick: bool = False) -> Iterator[ForestPlot]:
    """Yield the plot, if the paper has a number other than zero for any part that was run.

    Without verdicts (`quick`), all signs are the same.
    """
    parts = [(claim.claim.id, part) for claim in paper.claims for part in claim.defaults.judged.parts]
    lines = [line for name, part in parts if (line := _line(paper.paper.id, name, part, quick)) is not None]
    if not lines:
        return
    caption = (
        "Our effect divided by the paper's, under the default answers. 1: as large as the paper's; 0: no "
        "effect; a filled arrow: beyond the axis. Thick line: 95 % interval, with an open arrow where it "
        "goes on beyond the axis; thin line: range of single runs."
    )
    drawn = {line.mark for line in lines}
    signs = [words for outcome, words in SIGNS.items() if OUTCOME_MARKS[outcome] in drawn]
    if not quick:
        caption += f" {', '.join(signs).capitalize()}."
    hidden = len(parts) - len(lines)
    if hidden:
        caption += f" Not shown: {counted(hidden, 'part')} without a number of the paper."
    yield ForestPlot(lines, TICKS, (f"{ours} / the paper's", f"{ours}, 95 % interval", "paper"), caption)


def _line(paper: str, claim: str, judged: Judged, quick: bool) -> ForestLine | None:
    estimate, printed = judged.estimate, judged.part.paper
    if estimate is None or not printed:
        return None
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    ends = sorted((low / printed, high / printed))
    runs = [each / printed for each in estimate.values]
    return ForestLine(
        f"{claim}: {judged.part.text}",
        estimate.value / printed,
        (ends[0], ends[1]),
        (min(runs), max(runs)),
        effect(estimate, judged.part.unit),
        plain(printed),
        OUTCOME_MARKS[Outcome.OPEN if quick else judged.outcome],
        f"#{paper}-{claim}",
    )
