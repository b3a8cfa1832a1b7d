"""The output of `--backend both`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from cwndlab.statistics.numbers import counted, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from cwndlab.beside.both import Both, Difference
    from cwndlab.results.result import Study


def print_both(console: Console, linux: Study, variants: Sequence[tuple[str, Both]]) -> None:
    """Print each measure of each variant on both backends, and the difference with its interval."""
    seeds = counted(len(variants[0][1].linux.runs), "seed")
    console.print(f"{linux.name}: {seeds}, means; differences with 95 % intervals", markup=False)
    console.print("Neither side's hosts take time for an ACK (send_jitter = 0 s).", markup=False)
    for label, both in variants:
        console.print(f"\n{label}" if label else "", markup=False)
        console.print(_table(both))


def _table(both: Both) -> Table:
    declared = both.linux.scenario.engine.measures
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("measure", no_wrap=True)
    for heading in ("simulator", "Linux", "Linux - simulator"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in both.differences:
        about = declared[each.kind][each.measure]
        unit = f" ({about['unit']})" if about["unit"] else ""
        values = (plain(each.sim), plain(each.linux), _difference(each))
        table.add_row(each.name, f"{about['heading']}{unit}", *values)
    return table


def _difference(each: Difference) -> str:
    """Return the difference in per cent of Linux, or in the measure's unit if that is 0."""
    known = each.difference
    values = [known.value, known.low, known.high]
    sign, scale = (" %", 100 / each.linux) if each.linux else ("", 1.0)
    value, low, high = (None if one is None else plain(one * scale) for one in values)
    return f"{value}{sign}" + (" (one seed)" if low is None else f" \\[{low}, {high}]")
