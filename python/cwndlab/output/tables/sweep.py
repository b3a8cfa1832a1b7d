"""The table that `cwndlab sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from cwndlab.results.sweep import Sweep

# Longer tables are left to the files, but for their efficient points.
MAX_POINTS = 100


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print one row a point; of a large grid only the efficient points."""
    head = f"{sweep.name}: {counted(len(sweep.points), 'point')}, {counted(len(sweep.seeds), 'seed')}"
    console.print(f"{head}, mean ± half-width of the 95 % interval", markup=False, soft_wrap=True)
    console.print()
    shown = block(sweep, only_efficient=len(sweep.points) > MAX_POINTS)
    print_block(console, shown)
    if shown.is_partial:
        console.print("(n): only n seeds have a value")
    for note in notes(sweep):
        console.print(note, markup=False, style="dim")


def block(sweep: Sweep, *, only_efficient: bool = False) -> Block:
    """All points, or the efficient ones; a star marks these."""
    rows = [
        Row((*settings.values(), "*" if efficient else ""), total.measures, anchor=anchor(index))
        for index, ((settings, _), total, efficient) in enumerate(
            zip(sweep.points, sweep.totals, sweep.efficient, strict=True)
        )
        if efficient or not only_efficient
    ]
    headings = (*(axis.key for axis in sweep.axes), "")
    return Block(headings, rows, columns.TOTAL, len(sweep.seeds)).measured()


def anchor(index: int) -> str:
    """What the report calls a point."""
    return f"point-{index + 1}"


def notes(sweep: Sweep) -> Iterator[str]:
    """What else a reader of the table must know."""
    if sweep.link is not None:
        yield f"The queue is that of link {sweep.link}."
    yield "* no other point has as much goodput with as little queueing delay (by the means)."
    if len(sweep.points) > MAX_POINTS:
        yield f"Only these are shown; all {len(sweep.points)} points are in the files."
