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

# Of longer tables, only the efficient points are printed.
MAX_POINTS = 100


def print_sweep(console: Console, sweep: Sweep) -> None:
    """Print one row per point; for a large grid, only the efficient points."""
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
    """Return the table of all points or only the efficient ones. A star marks the efficient points."""
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
    """Return the anchor of a point in the report."""
    return f"point-{index + 1}"


def notes(sweep: Sweep) -> Iterator[str]:
    """Return notes for the reader of the table."""
    if sweep.link is not None:
        yield f"The table shows the queue of link {sweep.link}."
    yield "* no other point has at least this goodput with at most this queueing delay (by the means)."
    if len(sweep.points) > MAX_POINTS:
        yield f"Only these points are shown; all {len(sweep.points)} are in the files."
