"""The cells of an experiment: a table, the distribution over the seeds, and the windows over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.spread import box_of
from cwndlab.output.html import RowChart, Series, Table, TimeChart
from cwndlab.output.report.parts import block_table
from cwndlab.output.tables.block import Block, Row
from cwndlab.output.tables.columns import FLOW, GROUP, Column
from cwndlab.papers.figures import padded
from cwndlab.statistics.measure import Measure

# With fewer seeds, a box shows less than the numbers in the table.
FEWEST_SEEDS = 5

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.results.result import Result


def cell_tables(results: Sequence[tuple[str, Result]], seeds: int) -> Iterator[Table]:
    """Yield tables of the flows and of the groups in each cell, with the command that repeats the cell.

    If a cell has fewer than `seeds` seeds, its values show their number.
    """
    rows = []
    for label, result in results:
        for index, flow in enumerate(result.summary.flows):
            measures = {
                **flow.measures,
                "jain": result.summary.jain if index == 0 else Measure(None, None, 0),
            }
            rows.append((Row((label, flow.name, flow.cc or ""), measures), result.command))
    groups = [
        (Row((label, group.name, group.cc or ""), group.measures), result.command)
        for label, result in results
        for group in result.summary.groups
    ]
    kinds = (
        ("flow", rows, (*FLOW, Column("jain", "Jain")), "Every variant"),
        ("group", groups, GROUP, "The groups of flows in every variant"),
    )
    for kind, shown, columns, title in kinds:
        if shown:
            block = Block(("variant", kind, "cc"), [row for row, _ in shown], columns, seeds).measured()
            yield block_table(block, title, [command for _, command in shown])


def goodput_over_seeds(results: Sequence[tuple[str, Result]], variants: str) -> Iterator[RowChart]:
    """Yield the distribution over the seeds: for each flow of each cell, a box and a point for each seed."""
    with_flows = [(label, result) for label, result in results if result.summary.flows]
    if max((len(result.runs) for _, result in with_flows), default=0) < FEWEST_SEEDS:
        return
    chart = box_of(with_flows, "goodput_mbps", Names())
    yield replace(chart, title=f"Goodput of each flow in {variants}, one point per seed")


def windows(results: Sequence[tuple[str, Result]]) -> Iterator[TimeChart]:
    """Yield the windows of the first seed over time, as means of the intervals."""
    shown = [(label, result.runs[0]) for label, result in results]
    lines = [
        (f"{table.name}: {label}", run, table)
        for label, run in shown
        for kind in ("flow", "subflow")
        for table in run.detail.of(kind)
    ]
    if not lines or len(lines) > 2 * MAX_LINES:
        return
    grid = max((run.detail.end_s for _, run, _ in lines), key=len)
    series = [
        Series(label, padded(table.columns["cwnd_segments"].tolist(), len(grid))) for label, _, table in lines
    ]
    title = f"Windows over time, seed {shown[0][1].seed}"
    yield TimeChart(title, "time", "cwnd", grid.tolist(), series, (), "s", "segments")
