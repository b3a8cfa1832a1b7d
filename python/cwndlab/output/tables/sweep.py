"""The tables that `cwndlab sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.output.tables.columns import Column, titled
from cwndlab.output.tables.conditions import RANK, choices_blocks, heading
from cwndlab.statistics.measure import Measure
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from cwndlab.results.summary import Component
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.until import Until

IN_EACH = "In each condition: means over the seeds with their intervals."

# Of longer tables, only the efficient points are printed.
MAX_POINTS = 100
# The key of the column with the number of seeds, and the word for a point that needs more.
SEEDS, MISSED = "seeds", "missed"


def print_sweep(console: Console, sweep: Sweep, best: str) -> None:
    """Print one row per point; for a large grid, only the efficient points.

    With conditions, first print one row per choice, with its ranks by the total `best`.
    """
    seeds = f"{'up to ' if sweep.until else ''}{counted(len(sweep.seeds), 'seed')}"
    head = f"{sweep.name}: {counted(len(sweep.points), 'point')}, {seeds}"
    console.print(f"{head}, mean ± half-width of the 95 % interval", markup=False, soft_wrap=True)
    console.print()
    every = block(sweep, best, only_efficient=len(sweep.points) > MAX_POINTS)
    shown = [every]
    if sweep.across:
        choices = choices_blocks(sweep, best)
        console.print(over_conditions(sweep, best), markup=False)
        console.print()
        for each in choices:
            print_block(console, each)
        console.print(IN_EACH, markup=False)
        console.print()
        shown += choices
    print_block(console, every)
    if any(each.is_partial for each in shown):
        console.print("(n): only n seeds or conditions have a value")
    for note in notes(sweep):
        console.print(note, markup=False, style="dim")


def over_conditions(sweep: Sweep, best: str) -> str:
    """Return the explanation of the table of choices."""
    title = titled(best).title
    means = (
        f"Over {counted(len(sweep.conditions), 'condition')}: the mean of their means, and the lowest and "
        "the highest of them."
    )
    ranks = (
        f" The difference from the choice with the best mean {title} is taken within each condition, as a "
        "share of its value, paired by seed; * marks it if its interval over the seeds excludes zero. "
        f"Ranks are those by {title} in each condition (1 is the best)."
    )
    return means + ranks * (len(sweep.choices) > 1)


def block(sweep: Sweep, best: str, *, only_efficient: bool = False) -> Block:
    """Return the table of all points or only the efficient ones. A star marks the efficient points.

    With conditions, each row has the rank of its choice in its condition, by the total `best`.
    """
    ranks = {(name, each.label): rank for each in sweep.choices for name, rank in each.ranks.items()}
    points = zip(
        sweep.points,
        sweep.point_conditions,
        sweep.totals,
        sweep.efficient,
        sweep.reached or [True] * len(sweep.points),
        strict=True,
    )
    rows = [
        Row(
            (*settings.values(), "*" if efficient else "", "" if reached else MISSED),
            {
                **total.measures,
                **_rank(ranks.get((condition, sweep.choice_of(settings)), {}).get(best), total),
                SEEDS: Measure(len(result.runs), None, len(result.runs)),
            },
            anchor=anchor(index),
            seeds=len(result.runs) if sweep.until else None,
        )
        for index, ((settings, result), condition, total, efficient, reached) in enumerate(points)
        if efficient or not only_efficient
    ]
    headings = (*map(heading, (*sweep.across, *sweep.axes)), "", "target")
    rank = [Column(RANK, "rank")] if len(sweep.choices) > 1 else []
    shown = [*rank, *columns.TOTAL, *([Column(SEEDS, "seeds")] if sweep.until else [])]
    return Block(headings, rows, shown, len(sweep.seeds)).measured()


def _rank(rank: float | None, total: Component) -> dict[str, Measure]:
    return (
        {} if rank is None else {RANK: Measure(rank, None, max(each.n for each in total.measures.values()))}
    )


def anchor(index: int) -> str:
    """Return the anchor of a point in the report."""
    return f"point-{index + 1}"


def _stopping(until: Until) -> str:
    """Say when seeds were no longer added to a point, and what its intervals mean."""
    looks = until.looks
    after = " and ".join(part for part in (", ".join(map(str, looks[:-1])), str(looks[-1])) if part)
    rule = f"Seeds were added to a point until {until.text}, looked at after {after} seeds."
    if len(looks) == 1:
        return rule
    return (
        f"{rule} Each interval has the level {100 * until.level:.4g} %, so that in spite of "
        f"{len(looks)} looks it contains the true value with at least 95 %."
    )


def notes(sweep: Sweep) -> Iterator[str]:
    """Return notes for the reader of the table."""
    if sweep.link is not None:
        yield f"The table shows the queue of link {sweep.link}."
    if sweep.until is not None:
        yield _stopping(sweep.until)
    other = "other point of the same condition" if sweep.across else "other point"
    yield f"* no {other} has at least this goodput with at most this queueing delay (by the means)."
    if len(sweep.points) > MAX_POINTS:
        yield f"Only these points are shown; all {len(sweep.points)} are in the files."
