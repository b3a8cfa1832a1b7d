"""The reports of runs, comparisons and sweeps as a reader meets them: what is shown, and what leads where."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.output.html import Command, Report, Table, TimeChart
from cwndlab.output.kinds import kind_of
from cwndlab.output.report import charts
from cwndlab.results.comparison import Comparison
from cwndlab.results.detail import Detail
from cwndlab.results.result import Result, Study
from cwndlab.results.seed_run import SeedRun
from cwndlab.results.sweep import Sweep
from cwndlab.scenarios.scenario import Scenario
from tests.conftest import SCENARIO

CHANGES = {"link.0.delay": "15 ms", "duration": "3 s"}
ACCESS = {"flow.*.access.rate": "50 Mbit/s", "flow.*.access.delay": "1 ms"}


pytestmark = pytest.mark.usefixtures("own_cache")


def ran() -> Result:
    return cl.run(SCENARIO, seeds=[3, 4], overrides={**CHANGES, **ACCESS})


def compared() -> Comparison:
    return cl.compare(SCENARIO, ["cubic", "reno"], seeds=2, overrides=CHANGES)


def swept() -> Sweep:
    return cl.sweep(SCENARIO, {"link.0.queue": ["1 bdp", "2 bdp"]}, seeds=2, overrides=CHANGES)


def report_of(study: Study) -> Report:
    report: Report = kind_of(study).report(study)
    return report


def tables(report: Report) -> list[Table]:
    return [block for section in report.sections for block in section.blocks if isinstance(block, Table)]


def cells(table: Table, heading: str) -> list[str]:
    place = [column.title for column in table.columns].index(heading)
    return [row.cells[place].text for row in table.rows]


@pytest.mark.parametrize("made", [ran, compared, swept])
def test_no_table_is_empty(made: Callable[[], Study]) -> None:
    assert all(table.rows and len(table.columns) > 1 for table in tables(report_of(made())))


@pytest.mark.parametrize("made", [ran, compared, swept])
def test_every_row_leads_to_its_command(made: Callable[[], Study]) -> None:
    *_, measured, commands = tables(report_of(made()))
    assert [row.cells[0].href for row in measured.rows] == [f"#{row.anchor}" for row in commands.rows]
    assert len(set(cells(commands, "command"))) == len(commands.rows)
    for command in cells(commands, "command"):
        assert "'link.0.delay=15 ms'" in command


def test_charts_over_time_tell_their_command() -> None:
    result = ran()
    [section] = [each for each in report_of(result).sections if each.title == "Over time, seed 3"]
    [command] = [block.text for block in section.blocks if isinstance(block, Command)]
    assert command == next(result.each()).command
    assert "--seeds 3-3" in command


def test_the_band_of_an_index_is_the_range_of_its_seeds() -> None:
    pair = [Detail(np.array([1.0]), [], np.array([1.0]), np.array([jain]), []) for jain in (0.6, 1.0)]
    runs = [SeedRun(seed, {}, detail, None, reused=False) for seed, detail in enumerate(pair)]
    chart = charts.fairness([("", Result(Scenario(SCENARIO.encode(), "x.toml"), runs))])
    assert chart is not None
    assert chart.series[0].band == ([0.6], [1.0])


def test_access_links_are_left_out_of_the_charts() -> None:
    [queue] = [
        block
        for section in report_of(ran()).sections
        for block in section.blocks
        if isinstance(block, TimeChart) and "queue delay" in block.title
    ]
    assert [line.label for line in queue.series] == ["bottleneck"]
