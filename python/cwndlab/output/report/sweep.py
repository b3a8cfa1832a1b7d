"""The report of `cwndlab sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cwndlab.output.answers.goal import goal
from cwndlab.output.answers.sweep import of_whole_sweep
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.grid import heat_map
from cwndlab.output.figures.over_keys import over_key
from cwndlab.output.figures.sensitivity import sensitivity_rows
from cwndlab.output.figures.tradeoff import tradeoff
from cwndlab.output.html import Report, Section, Text
from cwndlab.output.report.parts import block_table, facts, scenario_section, tables_with_commands
from cwndlab.output.tables import columns
from cwndlab.output.tables.conditions import anchor as choice_anchor
from cwndlab.output.tables.conditions import choices_blocks
from cwndlab.output.tables.sensitivity import explanation, sensitivity_blocks
from cwndlab.output.tables.sweep import anchor, block, notes, over_conditions
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.sweep import Sweep

IN_EACH = "Each choice in each condition"
MEANS = "Each point is one choice: its means over the conditions."
FRONT = "The line joins the choices that no other beats in these means."
RANGES = (
    "The ranges in the table show how much the conditions differ; intervals are over the seeds, for just "
    "these conditions."
)
OVER_GRID = "Over the grid"
# The totals whose charts over each key are not folded.
UNFOLDED = ("goodput_mbps", "queue_delay_ms")
# More conditions than this are folded.
MANY = 6


def sweep_page(sweep: Sweep) -> Report:
    """Return the report: the answer, the trade-off, heat maps, and every point with its command.

    With conditions, the choices over all of them come first, then the trade-off in each of them.
    """
    best = goal(sweep.wanted.best, ()).best
    commands = [result.command for _, result in sweep.points]
    sections = [
        *_sensitivity(sweep),
        *(_over_conditions(sweep, best) if sweep.across else [_tradeoff("Goodput against delay", sweep)]),
        *_over_keys(sweep),
        Section("Every point", tables_with_commands(block(sweep, best), commands), "points"),
        scenario_section(sweep.scenario, [axis.key for axis in [*sweep.axes, *sweep.across]]),
    ]
    made_by = facts(sweep.scenario, sweep.seeds)
    return Report(sweep.name, _subtitle(sweep), sections, sweep.command, made_by, of_whole_sweep(sweep))


def _sensitivity(sweep: Sweep) -> Iterator[Section]:
    """Yield how much each key matters, if that was asked for."""
    if isinstance(sweep.sensitivity, list):
        tables = [block_table(each) for each in sensitivity_blocks(sweep)]
        chart = sensitivity_rows(sweep, sweep.wanted.sensitivity, Names())
        yield Section("Which key matters", [chart, *tables, Text([explanation(sweep)])])


def _subtitle(sweep: Sweep) -> str:
    over = f" over {' and '.join(axis.key for axis in sweep.axes)}" if sweep.axes else ""
    under = f", {len(sweep.conditions)} conditions" if sweep.across else ""
    return f"{counted(len(sweep.points), 'point')}{over}{under}, {counted(len(sweep.seeds), 'seed')}"


def _tradeoff(title: str, sweep: Sweep, first: int = 0, level: Literal[1, 2] = 1) -> Section:
    """Return the trade-off between the points. The first of them has this place among all points."""
    hrefs = [anchor(first + index) for index in range(len(sweep.points))]
    chart = tradeoff(sweep, Names(), hrefs)
    return Section(title, [chart, *([Text(list(notes(sweep)))] if level == 1 else [])], level=level)


def _over_conditions(sweep: Sweep, best: str) -> Iterator[Section]:
    """Yield the choices over the conditions: on average as a chart and a table, then in each condition."""
    hrefs = [choice_anchor(index) for index in range(len(sweep.choices))]
    chart = tradeoff(sweep, Names(), hrefs)
    text = " ".join((MEANS, FRONT, RANGES) if chart.joins_front else (MEANS, RANGES))
    yield Section("On average over the conditions", [chart, Text([text])])
    tables = [block_table(each) for each in choices_blocks(sweep, best)]
    yield Section("The choices", [*tables, Text([over_conditions(sweep, best)])])
    yield Section("In each condition", [Text(list(notes(sweep)))], folded=len(sweep.conditions) > MANY)
    first = 0
    for label, part in sweep.conditions:
        yield _tradeoff(label, part, first, level=2)
        first += len(part.points)


def _over_keys(sweep: Sweep) -> Iterator[Section]:
    """Yield heat maps of a grid. Of other points, yield each total over each key."""
    if sweep.design.is_grid:
        yield from _heat_maps(sweep.by_condition, IN_EACH) if sweep.across else _heat_maps(sweep, OVER_GRID)
        return
    for column in columns.TOTAL:
        if any(total.measures[column.key].mean is not None for total in sweep.totals):
            charts = [over_key(sweep, axis, column.key, Names()) for axis in sweep.axes]
            yield Section(f"{column.title} over each key", charts, folded=column.key not in UNFOLDED)


def _heat_maps(sweep: Sweep, title: str) -> Iterator[Section]:
    if len(sweep.axes) < 2:
        return
    found = (heat_map(sweep, column.key, Names()) for column in columns.TOTAL)
    yield Section(title, [chart for chart in found if chart.values])
