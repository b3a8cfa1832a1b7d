"""The tables that `cwndlab diff` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.output.tables.comparison import COLUMNS, MAX_FLOWS
from cwndlab.results.summary import is_of_a_flow
from cwndlab.statistics.measure import CONFIDENCE
from cwndlab.statistics.numbers import MISSING, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from cwndlab.results.compared import Compared
    from cwndlab.results.difference import Changed, Difference, VariantDifference

# With more of them, the rest is only in the document.
MOST_SHOWN = 20
# More names than this make no sentence.
MOST_NAMED = 3


def print_difference(console: Console, found: Difference) -> None:
    """Print what differs in request, settings and manifest, then each measure with its difference."""
    for line in answer(found):
        console.print(line, markup=False, style="bold")
    console.print()
    for title, changed in (
        ("asked", found.request),
        ("setting", found.settings),
        ("made by", found.manifest),
    ):
        _print_changed(console, found, title, changed)
    if found.counts.nonzero:
        for block in blocks(found):
            print_block(console, block)
    for note in notes(found):
        console.print(note, markup=False, style="dim")


def answer(found: Difference) -> Iterator[str]:
    """Say in a few sentences what differs, and how much of what came out."""
    parts = [
        *_told(found.request, "parts of the request"),
        *_told(found.settings, "settings"),
        *_told(found.manifest, "entries of the manifest"),
    ]
    same = "The requests, the settings and the manifests are equal."
    yield f"{found.names[1]} differs from {found.names[0]} in {', '.join(parts)}." if parts else same
    counts = found.counts
    if not counts.measures:
        yield "They have no measure in common."
    elif not counts.nonzero:
        yield f"All {counts.measures} measures are equal."
    else:
        yield (
            f"{counts.nonzero} of {counts.measures} measures differ. Marked with *: {counts.shown}, whose "
            f"95 % interval excludes zero; about {round((1 - CONFIDENCE) * counts.tested)} would by chance "
            "alone."
        )


def blocks(found: Difference) -> list[Block]:
    """Return the totals of all variants; of a single one, also its flows, groups and links."""
    if len(found.variants) == 1:
        [variant] = found.variants
        few = variant.one.summary.senders <= MAX_FLOWS
        return [
            _block(found, variant, table)
            for table in variant.tables
            if table.kind == "total" or (table.kind != "link" and few) or _is_own_link(table)
        ]
    rows = [
        row
        for variant in found.variants[:MOST_SHOWN]
        for row in _rows(found, variant.tables[0], variant.label)
    ]
    return [Block(("all flows", "result"), rows, columns.TOTAL, _seeds(found.variants)).measured()]


def notes(found: Difference) -> Iterator[str]:
    """Return notes for the reader of the tables."""
    if found.counts.nonzero:
        yield (
            "Mean ± half-width of the 95 % interval. * marks differences whose interval excludes zero, or "
            "which are the same with every seed."
        )
    shared = {tuple(variant.shared) for variant in found.variants}
    if shared == {()}:
        yield "They share no seed: the differences are those of the means (Welch's interval), not paired."
    elif found.variants:
        least = min(map(len, shared))
        yield f"The differences are paired by seed, over {counted(least, 'shared seed')}."
    for name, missing in zip(found.names, found.missing, strict=True):
        if missing:
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            yield f"Only in {name}: {'; '.join(missing[:3])}{more}."
    if len(found.variants) > MOST_SHOWN:
        yield f"The first {MOST_SHOWN} of {len(found.variants)} variants; --json has all."


def _block(found: Difference, variant: VariantDifference, table: Compared) -> Block:
    heading = "all flows" if table.kind == "total" else f"{table.kind} {table.name}"
    return Block((heading,), list(_rows(found, table)), COLUMNS[table.kind], _seeds([variant])).measured()


def _rows(found: Difference, table: Compared, *labels: str) -> Iterator[Row]:
    one, other = _labels(found)
    yield Row((*labels, one), table.means[0])
    yield Row((*labels, other), table.means[1])
    yield Row((*labels, f"{other} − {one}"), table.differences[0], signed=True)


def _seeds(variants: Sequence[VariantDifference]) -> int:
    """Return the number of values that a measure can have in every variant."""
    counts = (
        len(each.shared) if each.paired else min(len(each.one.runs), len(each.other.runs))
        for each in variants
    )
    return min(counts, default=0)


def _is_own_link(table: Compared) -> bool:
    return table.kind == "link" and not is_of_a_flow(table.name) and not table.name.endswith(".back")


def _told(changed: Sequence[Changed], what: str) -> list[str]:
    """Return the names of a few, or the number of many."""
    names = [each.name for each in changed]
    return names if len(names) <= MOST_NAMED else [f"{len(names)} {what}"]


def _labels(found: Difference) -> tuple[str, str]:
    """Return the names of the folders, without what is before them if they differ without it."""
    one, other = (Path(name).name for name in found.names)
    return (one, other) if one != other and one and other else found.names


def _print_changed(console: Console, found: Difference, title: str, changed: Sequence[Changed]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not changed:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in (title, *found.names):
        table.add_column(escape(heading), overflow="fold")
    for each in changed[:MOST_SHOWN]:
        table.add_row(
            *(escape(MISSING if text is None else text) for text in (each.name, each.one, each.other))
        )
    console.print(table)
    if len(changed) > MOST_SHOWN:
        console.print(f"and {len(changed) - MOST_SHOWN} more; --json has all", style="dim")
    console.print()
