"""`cwndlab.run` from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.scenarios.scenario import ScenarioError
from tests.conftest import SCENARIO

pytestmark = pytest.mark.usefixtures("own_cache")


def test_from_a_file(scenario: Path) -> None:
    result = cl.run(scenario, seeds=2)
    assert result.seeds == [1, 2]
    assert result.flows["name"].to_list() == ["a", "b"] * 2
    assert result.series("cwnd_segments").equals(result.series("cwnd"))
    assert result.series("cwnd").height > 0
    assert len(result.plot("recorded").axes) == 4


def test_from_a_text_and_a_dictionary() -> None:
    text = cl.run(SCENARIO, seeds=[3])
    link = {"name": "l", "rate": "10 Mbit/s", "delay": "10 ms"}
    content = {"duration": "1 s", "link": [link], "flow": [{"cc": "cubic", "path": ["l"]}]}
    assert text.seeds == [3]
    assert cl.run(content, seeds=1, overrides={"flow.0.cc": "reno"}).flows["cc"].to_list() == ["reno"]


def test_what_a_scenario_has_not_is_an_empty_table() -> None:
    result = cl.run(SCENARIO, seeds=1)
    for table in (result.groups, result.changes):
        assert (table.height, table.columns) == (0, ["seed", "name"])
    assert cl.compare(SCENARIO, ["cubic", "reno"], seeds=1).groups.height == 0


def test_tables_become_those_of_pandas() -> None:
    result = cl.run(SCENARIO, seeds=2)
    frame = result.flows.to_pandas()
    assert type(frame).__module__.partition(".")[0] == "pandas"
    assert frame["goodput_mbps"].tolist() == result.flows["goodput_mbps"].to_list()


def test_mistakes_are_raised() -> None:
    with pytest.raises(ScenarioError, match="cubik"):
        cl.run(SCENARIO, overrides={"flow.0.cc": "cubik"})


def test_overrides_may_be_values() -> None:
    overrides = {"link.0.loss": 0.25, "tcp.ecn": True, "flow.a.path": ["bottleneck"], "duration": "1 s"}
    resolved = cl.run(SCENARIO, seeds=1, overrides=overrides).scenario.resolved
    assert resolved["link"][0]["loss"]["rate"] == 0.25
    assert resolved["tcp"]["ecn"] is True
    assert resolved["duration"] == "1 s"


def test_bad_arguments() -> None:
    wrong: list[Any] = [0, 10**20, float("nan"), 1.5, "2"]
    for threads in wrong:
        with pytest.raises(
            InputError, match=r"^threads.*: expected (an integer from 1 to 10000|1 to 10000|a whole number)"
        ):
            cl.run(SCENARIO, threads=threads)
    with pytest.raises(InputError, match="expected 1 to"):
        cl.run(SCENARIO, seeds=0)
    with pytest.raises(InputError, match="None"):
        cl.run({"duration": None})


def test_unknown_column(scenario: Path) -> None:
    with pytest.raises(InputError, match="cwnd_segments"):
        cl.run(scenario, seeds=1).series("window")


def test_version() -> None:
    assert cl.__version__


def test_the_package_lists_what_it_offers() -> None:
    program = "import cwndlab as cl; print({*cl.__all__} - {*dir(cl)}, 'polars' in __import__('sys').modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "set() False\n"
