"""The table of how much each key of a sweep matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.output.tables.columns import Column, titled

if TYPE_CHECKING:
    from rich.console import Console

    from cwndlab.results.sweep import Sweep

ALONE = Column("alone", "alone", "%", 100)
TOTAL = Column("total", "with others", "%", 100)


def sensitivity_blocks(sweep: Sweep) -> list[Block]:
    """Return the table of the indices that were asked for, if there are any."""
    if not isinstance(sweep.sensitivity, list):
        return []
    rows = [Row((each.key,), {"alone": each.alone, "total": each.total}) for each in sweep.sensitivity]
    return [Block(("key",), rows, (ALONE, TOTAL), sweep.sensitivity[0].alone.n, "points in each sample")]


def print_sensitivity(console: Console, sweep: Sweep) -> None:
    """Print the indices that were asked for, if there are any, and what they mean."""
    for block in sensitivity_blocks(sweep):
        console.print(explanation(sweep), markup=False)
        console.print()
        print_block(console, block)


def explanation(sweep: Sweep) -> str:
    """Say what the indices are."""
    title = titled(sweep.wanted.sensitivity or "").title
    return (
        f"Shares of the variance of {title} over the points (Sobol' indices): of each key alone, and with "
        "its interactions with other keys; ± half-width of the 95 % interval, by a bootstrap over the points."
    )
