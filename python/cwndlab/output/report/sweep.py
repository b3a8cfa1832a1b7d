"""The report of `cwndlab sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.sentences import of_sweep
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.grid import heat_map
from cwndlab.output.figures.tradeoff import tradeoff
from cwndlab.output.html import Report, Section, Text
from cwndlab.output.report.parts import facts, scenario_section, tables_with_commands
from cwndlab.output.tables import columns
from cwndlab.output.tables.sweep import anchor, block, notes
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.sweep import Sweep


def sweep_page(sweep: Sweep) -> Report:
    """Return the report: the answer, the trade-off, heat maps, and every point with its command."""
    hrefs = [anchor(index) for index in range(len(sweep.points))]
    commands = [result.command for _, result in sweep.points]
    sections = [
        Section(
            "Goodput against delay",
            [tradeoff(sweep, Names(), hrefs), Text(list(notes(sweep)))],
        ),
        *_heat_maps(sweep),
        Section("Every point", tables_with_commands(block(sweep), commands), "points"),
        scenario_section(sweep.scenario),
    ]
    keys = " and ".join(axis.key for axis in sweep.axes)
    subtitle = f"{counted(len(sweep.points), 'point')} over {keys}, {counted(len(sweep.seeds), 'seed')}"
    made_by = facts(sweep.scenario, sweep.seeds)
    return Report(sweep.name, subtitle, sections, sweep.command, made_by, of_sweep(sweep))


def _heat_maps(sweep: Sweep) -> Iterator[Section]:
    if len(sweep.axes) < 2:
        return
    found = (heat_map(sweep, column.key, Names()) for column in columns.TOTAL)
    yield Section("Over the grid", [chart for chart in found if chart.values])
