"""The forest plot of a paper: its effects beside ours, one line for each part that has a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.drawing.forest import ForestRow, draw_forest
from cwndlab.output.drawing.style import svg
from cwndlab.output.html import Picture
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.papers.judging.verdict import Judged
    from cwndlab.papers.reproducing.reproduction import PaperReproduction

# Okabe and Ito's colours and a marker each, so that no two outcomes differ in colour alone.
LOOKS: dict[Outcome, tuple[str, str]] = {
    Outcome.AGREES: ("#009E73", "o"),
    Outcome.HOLDS: ("#0072B2", "s"),
    Outcome.FAILS: ("#D55E00", "X"),
    Outcome.OPEN: ("#7F7F7F", "D"),
}


def forest(paper: PaperReproduction) -> Iterator[Picture]:
    """Yield the plot, if the paper has a number other than zero for any part that was run."""
    parts = [(claim.claim.id, part) for claim in paper.claims for part in claim.defaults.judged.parts]
    rows = [row for name, part in parts if (row := _row(name, part)) is not None]
    if not rows:
        return
    looks = "circle: agrees, square: holds, cross: fails, diamond: open"
    caption = (
        "Each effect divided by the paper's, under the defaults. 1 is the paper's number, 0 no effect. "
        f"Thick: 95 % interval; thin: single runs; {looks}; at the edge: beyond it."
    )
    hidden = len(parts) - len(rows)
    if hidden:
        caption += f" Not shown: {counted(hidden, 'part')} without a number of the paper."
    yield Picture(svg(draw_forest(rows, "ours / the paper's")), caption)


def _row(claim: str, judged: Judged) -> ForestRow | None:
    estimate, printed = judged.estimate, judged.part.paper
    if estimate is None or not printed:
        return None
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    scaled = [each / printed for each in (estimate.value, low, high, *estimate.values)]
    value, *ends = scaled[:3]
    colour, marker = LOOKS[judged.outcome]
    label = f"{claim}: {judged.part.text}"
    runs = scaled[3:]
    return ForestRow(label, value, min(ends), max(ends), min(runs), max(runs), colour, marker)
