"""The tables that `cwndlab compare` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.results.crowd import MANY
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from cwndlab.output.tables.columns import Column
    from cwndlab.results.compared import Compared
    from cwndlab.results.comparison import Comparison

COLUMNS: dict[str, Sequence[Column]] = {
    "total": columns.TOTAL,
    "flow": (*columns.FLOW, *columns.CONNECTION),
    "subflow": columns.FLOW,
    "group": columns.GROUP,
    "link": columns.LINK,
}

# With more flows than this, single flows are only in the files.
MAX_FLOWS = 6


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the measures of each algorithm, and the paired differences to the first algorithm."""
    head = f"{comparison.name}: {', '.join(comparison.labels)} over {counted(len(comparison.seeds), 'seed')}"
    console.print(head, markup=False, soft_wrap=True)
    console.print(explanation(comparison), markup=False)
    console.print()
    shown = [*blocks(comparison, MAX_FLOWS), *harm_blocks(comparison)]
    for block in shown:
        print_block(console, block)
    if any(block.is_partial for block in shown):
        console.print("(n): only n seeds have a value")
    for note in notes(comparison):
        console.print(note, markup=False, style="dim")


def explanation(comparison: Comparison) -> str:
    """Return the explanation of the rows."""
    base = comparison.labels[0]
    if len(comparison.seeds) == 1:
        return f"A row with a minus shows the difference from {base}. One seed only, so no intervals."
    return (
        "Mean ± half-width of the 95 % interval. "
        f"A row with a minus shows the difference from {base}, paired by seed; * marks those whose interval "
        "excludes zero."
    )


def blocks(comparison: Comparison, max_flows: int) -> list[Block]:
    """Return one table per subject. Its rows are the algorithms, each with its difference from the first."""
    shown = comparison.tables_of_few(max_flows)
    return [_block(comparison, table) for table in shown if _is_relevant(table)]


def harm_blocks(comparison: Comparison) -> list[Block]:
    """Return the harm that the algorithms did to each of the other flows; for many flows, the mean."""
    harm = comparison.harm if len(comparison.harm) <= MANY else comparison.mean_harm
    return [
        Block(
            (f"harm to {table.name}",), list(_rows(comparison, table)), columns.HARM, len(comparison.seeds)
        ).measured()
        for table in harm
    ]


def notes(comparison: Comparison) -> Iterator[str]:
    """Return notes for the reader of the tables."""
    if comparison.link is not None:
        yield f"The table of all flows shows the queue of link {comparison.link}."
    if comparison.harm:
        yield (
            "Harm (Ware et al. 2019), compared with a run without the rivals: the share of its goodput that "
            "a flow loses to them, and the share of its RTT that they add."
        )


def _is_relevant(table: Compared) -> bool:
    return table.kind != "link" or not table.name.endswith((".access", ".back"))


def _block(comparison: Comparison, table: Compared) -> Block:
    heading = "all flows" if table.kind == "total" else f"{table.kind} {table.name}"
    rows = list(_rows(comparison, table))
    return Block((heading,), rows, COLUMNS[table.kind], len(comparison.seeds)).measured()


def _rows(comparison: Comparison, table: Compared) -> Iterator[Row]:
    base, *others = comparison.labels
    yield Row((base,), table.means[0])
    for label, means, difference in zip(others, table.means[1:], table.differences, strict=True):
        yield Row((label,), means)
        yield Row((f"{label} − {base}",), difference, signed=True)
