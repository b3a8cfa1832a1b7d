"""The report of `cwndlab compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.sentences import of_comparison
from cwndlab.output.html import Report, ScatterChart, Section, Text
from cwndlab.output.report import charts
from cwndlab.output.report.parts import block_table, facts, scenario_section, tables_with_commands
from cwndlab.output.report.run import over_seeds, over_time, seed_rows
from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block
from cwndlab.output.tables.comparison import blocks, explanation, harm_blocks, notes
from cwndlab.results.crowd import MANY
from cwndlab.statistics.numbers import counted
from cwndlab.statistics.pareto import front

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.comparison import Comparison


def comparison_page(comparison: Comparison) -> Report:
    """Return the report: the answer, the trade-off, differences, harm, charts over time, every seed."""
    tables = [block_table(block) for block in blocks(comparison, MANY)]
    sections = [
        Section("Goodput against delay", [_tradeoff(comparison)]),
        Section("Results", [*tables, Text(list(notes(comparison)))], intro=explanation(comparison)),
        *_harm(comparison),
        *over_seeds(comparison.labelled),
        *_over_time(comparison),
        _every_seed(comparison),
        scenario_section(comparison.scenario),
    ]
    subtitle = f"{', '.join(comparison.labels)} compared over {counted(len(comparison.seeds), 'seed')}"
    made_by = facts(comparison.scenario, comparison.seeds)
    answer = of_comparison(comparison)
    return Report(comparison.name, subtitle, sections, comparison.command, made_by, answer)


def _harm(comparison: Comparison) -> Iterator[Section]:
    tables = [block_table(block) for block in harm_blocks(comparison)]
    if tables:
        yield Section("Harm to the other flows", tables)


def _tradeoff(comparison: Comparison) -> ScatterChart:
    points = comparison.tradeoffs
    hrefs = [_anchor(index) for index in range(len(comparison.labels))]
    return charts.tradeoff(points, front(points), comparison.link, hrefs)


def _over_time(comparison: Comparison) -> Iterator[Section]:
    for label, result in comparison.labelled:
        yield from over_time(result, f"Over time: {label}")


def _every_seed(comparison: Comparison) -> Section:
    rows, commands = [], []
    for index, (label, result) in enumerate(comparison.labelled):
        rows += seed_rows(result, comparison.link, label, anchor=_anchor(index))
        commands += [one.command for one in result.each()]
    block = Block(("algorithm", "seed"), rows, columns.TOTAL, 1).measured()
    return Section("Every seed", tables_with_commands(block, commands), "seeds")


def _anchor(index: int) -> str:
    return f"algorithm-{index + 1}"
