"""The report of `cwndlab run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.pages import charts
from cwndlab.pages.parts import block_table, facts, scenario_section
from cwndlab.report import Report, Section, Text
from cwndlab.summary import measure
from cwndlab.tables import columns
from cwndlab.tables.block import Block, Row
from cwndlab.tables.run import blocks, notes, repeats
from cwndlab.totals import busiest_link, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.report import Block as Part
    from cwndlab.result import Result


def run_page(result: Result) -> Report:
    """Tables, charts over time and distributions, every seed with its command, and the scenario."""
    sections = [
        Section("Results", [*map(block_table, blocks(result, columns.FLOW_MORE)), Text(list(notes(result)))]),
        *_over_time(result),
        *over_seeds([("", result)]),
        Section("Every seed", [block_table(_seeds(result), commands=_commands(result))], "seeds"),
        scenario_section(result.scenario),
    ]
    return Report(
        result.name, repeats(result), sections, result.command, facts(result.scenario, result.seeds)
    )


def _over_time(result: Result) -> Iterator[Section]:
    for run in result.recorded:
        group = charts.over_time(run)
        if group is not None:
            command = f"cwndlab run {result.scenario.file} --seeds {run.seed}-{run.seed}"
            intro = f"Seed {run.seed}: {command}"
            yield Section(f"Over time, seed {run.seed}", [group], f"seed-{run.seed}", intro)


def over_seeds(results: list[tuple[str, Result]]) -> Iterator[Section]:
    """Fairness over time and distributions: what all seeds tell together."""
    fairness = charts.fairness(results)
    if fairness is not None:
        yield Section("Fairness over time", [fairness])
    found = [charts.distribution(results, key) for key in charts.DISTRIBUTIONS]
    parts: list[Part] = [chart for chart in found if chart is not None]
    if parts:
        yield Section("Distributions", parts, intro="Over all seeds.")


def seed_rows(result: Result, link: str | None, *labels: str, anchor: str | None = None) -> list[Row]:
    """One row a seed with its totals; `anchor` is that of the first."""
    return [
        Row(
            (*labels, str(run.seed)),
            {key: measure([value]) for key, value in total(run.outcome, link).items()},
            anchor=anchor if index == 0 else None,
        )
        for index, run in enumerate(result.runs)
    ]


def _seeds(result: Result) -> Block:
    rows = seed_rows(result, busiest_link([result]))
    return Block(("seed",), rows, columns.TOTAL, 1).measured()


def _commands(result: Result) -> list[str]:
    return [one.command for one in result.each()]
