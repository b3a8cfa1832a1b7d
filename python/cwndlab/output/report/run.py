"""The report of `cwndlab run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.run import of_run
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.content import has_intervals
from cwndlab.output.figures.over_time import series
from cwndlab.output.figures.recorded import recorded
from cwndlab.output.html import Command, Report, Section, Text
from cwndlab.output.report import charts
from cwndlab.output.report.parts import block_table, facts, scenario_section, tables_with_commands
from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row
from cwndlab.output.tables.run import blocks, flow_rows, notes, repeats
from cwndlab.results.totals import busiest_link, total
from cwndlab.statistics.measure import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.html import Block as Part
    from cwndlab.output.html import Table
    from cwndlab.results.result import Result, Study


def run_page(result: Result) -> Report:
    """Return the report: the answer, charts, tables, distributions, every seed, the scenario."""
    sections = [
        *over_time(result, "Over time"),
        Section("Results", [*_tables(result), Text(list(notes(result)))]),
        *all_seeds_over_time(result),
        *over_seeds(result.labelled),
        Section("Every seed", tables_with_commands(_seeds(result), _commands(result)), "seeds"),
        scenario_section(result.scenario),
    ]
    made_by = facts(result.scenario, result.seeds)
    return Report(result.name, repeats(result), sections, result.command, made_by, of_run(result))


def over_time(result: Result, title: str) -> Iterator[Section]:
    """Return the recorded series of each seed, with the command that repeats them."""
    for one in result.each():
        for run in one.recorded:
            group = recorded(one, run)
            if group is not None:
                yield Section(f"{title}, seed {run.seed}", [group, Command(one.command)])


def all_seeds_over_time(study: Study) -> Iterator[Section]:
    """Return the means over all seeds over time, if there is more than one seed."""
    if len(study.seeds) > 1 and has_intervals(study):
        yield Section("Over time, all seeds", [series(study, None, Names())])


def over_seeds(results: list[tuple[str, Result]]) -> Iterator[Section]:
    """Return the charts over all seeds: fairness over time and distributions."""
    fairness = charts.fairness(results)
    if fairness is not None:
        yield Section("Fairness over time", [fairness])
    parts: list[Part] = [*charts.distributions(results)]
    if parts:
        yield Section("Distributions", parts, intro="Over all seeds.")


def seed_rows(result: Result, link: str | None, *labels: str, anchor: str | None = None) -> list[Row]:
    """Return one row per seed with its totals. `anchor` is the anchor of the first row."""
    return [
        Row(
            (*labels, str(run.seed)),
            {key: measure([value]) for key, value in total(run.outcome, link).items()},
            anchor=anchor if index == 0 else None,
        )
        for index, run in enumerate(result.runs)
    ]


def _tables(result: Result) -> list[Table]:
    more = Block(("flow", "cc"), flow_rows(result), columns.FLOW_MORE, len(result.runs)).measured()
    flows, *others = blocks(result)
    return [block_table(block) for block in (flows, more, *others) if block.rows and block.columns]


def _seeds(result: Result) -> Block:
    rows = seed_rows(result, busiest_link([result]))
    return Block(("seed",), rows, columns.TOTAL, 1).measured()


def _commands(result: Result) -> list[str]:
    return [one.command for one in result.each()]
