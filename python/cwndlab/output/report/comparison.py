"""The report of `cwndlab compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.sentences import of_comparison
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.content import with_content
from cwndlab.output.figures.recorded import recorded, with_common_scales
from cwndlab.output.figures.spread import box, harm
from cwndlab.output.figures.tradeoff import tradeoff
from cwndlab.output.html import Command, Report, ScatterChart, Section, Text
from cwndlab.output.report.parts import block_table, facts, scenario_section, tables_with_commands
from cwndlab.output.report.run import all_seeds_over_time, over_seeds, seed_rows
from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block
from cwndlab.output.tables.comparison import blocks, explanation, harm_blocks, notes
from cwndlab.results.crowd import MANY
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.comparison import Comparison


def comparison_page(comparison: Comparison) -> Report:
    """Return the report: the answer, the trade-off, differences, charts over time, every seed.

    If only some flows are compared, the harm to the others is the question, so it comes first.
    """
    tables = [block_table(block) for block in blocks(comparison, MANY)]
    sections = [
        *_harm(comparison),
        Section("Goodput against delay", [_tradeoff(comparison)]),
        Section("Results", [*tables, Text(list(notes(comparison)))], intro=explanation(comparison)),
        *_boxes(comparison),
        *all_seeds_over_time(comparison),
        *over_seeds(comparison.labelled),
        *_over_time(comparison),
        _every_seed(comparison),
        scenario_section(comparison.scenario, [f"flow.{name}.cc" for name in comparison.chosen or ["*"]]),
    ]
    subtitle = f"{', '.join(comparison.labels)} compared over {counted(len(comparison.seeds), 'seed')}"
    made_by = facts(comparison.scenario, comparison.seeds)
    answer = of_comparison(comparison)
    return Report(comparison.name, subtitle, sections, comparison.command, made_by, answer)


def _harm(comparison: Comparison) -> Iterator[Section]:
    tables = [block_table(block) for block in harm_blocks(comparison)]
    if tables:
        yield Section("Harm to the other flows", [harm(comparison, "goodput_mbps", Names()), *tables])


def _tradeoff(comparison: Comparison) -> ScatterChart:
    hrefs = [_anchor(index) for index in range(len(comparison.labels))]
    return tradeoff(comparison, Names(), hrefs)


def _boxes(comparison: Comparison) -> Iterator[Section]:
    """Return the spread over the seeds of what flows got, if there are several seeds."""
    if len(comparison.seeds) > 1 and "box" in with_content(comparison):
        found = [box(comparison, key, Names()) for key in ("goodput_mbps", "rtt_ms") if _has(comparison, key)]
        yield Section("Spread over the seeds", found)


def _has(comparison: Comparison, key: str) -> bool:
    return any(flow.measures[key].n for result in comparison.results for flow in result.summary.flows)


def _over_time(comparison: Comparison) -> Iterator[Section]:
    found = [
        (label, one, run, group)
        for label, result in comparison.labelled
        for one in result.each()
        for run in one.recorded
        if (group := recorded(one, run)) is not None
    ]
    # The same axes for all algorithms, so that they can be compared.
    scaled = with_common_scales([group for *_, group in found])
    for (label, one, run, _), group in zip(found, scaled, strict=True):
        yield Section(f"Over time: {label}, seed {run.seed}", [group, Command(one.command)])


def _every_seed(comparison: Comparison) -> Section:
    rows, commands = [], []
    for index, (label, result) in enumerate(comparison.labelled):
        rows += seed_rows(result, comparison.link, label, anchor=_anchor(index))
        commands += [one.command for one in result.each()]
    block = Block(("algorithm", "seed"), rows, columns.TOTAL, 1).measured()
    return Section("Every seed", tables_with_commands(block, commands), "seeds")


def _anchor(index: int) -> str:
    return f"algorithm-{index + 1}"
