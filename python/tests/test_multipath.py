"""Multipath connections, from the scenario to every form of a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cwndlab as cl
from cwndlab.papers.language.quantities import QUANTITIES
from tests.conftest import Command

SCENARIO = """\
name = "two paths"
duration = "5 s"

[[link]]
name = "long"
rate = "20 Mbit/s"
delay = "30 ms"

[[link]]
name = "short"
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
name = "multipath"
cc = "uncoupled:cubic"
paths = [["long"], ["short"]]

[[flow]]
name = "single"
cc = "reno"
path = ["short"]
"""
SUBFLOWS = ["multipath/1", "multipath/2"]


pytestmark = pytest.mark.usefixtures("own_cache")


def test_every_table_has_rows_of_subflows() -> None:
    result = cl.run(SCENARIO, seeds=2)
    assert result.flows["name"].to_list() == ["multipath", "single"] * 2
    assert result.subflows["name"].to_list() == SUBFLOWS * 2
    assert set(result.subflows["cc"]) == {"uncoupled:cubic"}
    assert (result.flows.filter(name="multipath")["reassembly_delay_ms"] > 0).all()
    for frame in (result.intervals, result.distributions, result.series("cwnd")):
        assert set(SUBFLOWS) <= set(frame["name"])
    recorded = [table.name for table in result.runs[0].recording.of("flow")]  # type: ignore[union-attr]
    assert recorded == ["multipath", *SUBFLOWS, "single"]
    windows, rtts = (ax.get_lines() for ax in result.plot("recorded").axes[:2])
    looks = {line.get_label(): line.get_color() for line in windows}
    assert len(windows) == 4
    assert [looks[line.get_label()] for line in rtts] == [line.get_color() for line in rtts]


def test_the_document_nests_subflows() -> None:
    [multipath, single] = cl.run(SCENARIO, seeds=1).to_json()["flows"]
    assert [subflow["name"] for subflow in multipath["subflows"]] == SUBFLOWS
    goodputs = [each["goodput_mbps"]["mean"] for each in (multipath, *multipath["subflows"])]
    assert goodputs[0] == pytest.approx(goodputs[1] + goodputs[2], rel=0.05)
    assert "subflows" not in single


def test_what_was_saved_has_the_subflows(tmp_path: Path) -> None:
    result = cl.run(SCENARIO, seeds=1)
    result.save(tmp_path / "out", figures=False)
    loaded = cl.load(tmp_path / "out")
    assert isinstance(loaded, cl.Result)
    assert loaded.subflows.equals(result.subflows)
    assert loaded.intervals.equals(result.intervals)


def test_a_comparison_has_subflows_as_subjects() -> None:
    compared = cl.compare(SCENARIO, ["uncoupled:cubic", "uncoupled:reno"], flows=["multipath"], seeds=2)
    assert [table.name for table in compared.tables if table.kind == "subflow"] == SUBFLOWS
    assert set(compared.subflows["variant"]) >= {"uncoupled:cubic", "uncoupled:reno"}


def test_every_flow_can_run_uncoupled() -> None:
    changed = cl.run(SCENARIO, seeds=1, overrides={"flow.*.cc": "uncoupled:vegas"})
    assert set(changed.flows["cc"]) == {"uncoupled:vegas"}


def test_claims_may_name_a_subflow() -> None:
    [run] = cl.run(SCENARIO, seeds=1).runs
    goodput, cwnd = QUANTITIES["goodput"].compute, QUANTITIES["cwnd"].compute
    parts = [goodput(run, name, 1, 4) for name in SUBFLOWS]
    assert goodput(run, "multipath", 1, 4) == pytest.approx(sum(parts), rel=0.02)
    assert goodput(run, None, 1, 4) == pytest.approx(sum(parts) + goodput(run, "single", 1, 4), rel=0.02)
    assert cwnd(run, "multipath") == pytest.approx(sum(cwnd(run, name) for name in SUBFLOWS), rel=0.01)
    assert QUANTITIES["rtt"].compute(run, "multipath/1") > 60


def test_the_command_shows_them(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    printed = cwndlab("run", "two.toml", "--seeds", "1", "--no-figure").stdout
    assert " multipath/1 " in printed
    assert "reassembly" in printed
    assert "round-robin" in cwndlab("show", "mptcp").stdout
    assert json.loads(cwndlab("show", "uncoupled:cubic", "--json").stdout)["name"] == "cubic"
