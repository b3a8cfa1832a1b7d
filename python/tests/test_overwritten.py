"""Every value of a sweep or a comparison is in force: no other option may set it again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv
from cwndlab.scenarios.axis import parse_axis
from cwndlab.scenarios.contest import contest
from cwndlab.scenarios.grid import grid, points
from cwndlab.scenarios.overrides import parse_override, parse_overrides
from cwndlab.scenarios.overwritten import require_own_set_once
from cwndlab.scenarios.point_files import points_of
from cwndlab.scenarios.scenario import Scenario
from tests.conftest import SCENARIO, Command

if TYPE_CHECKING:
    from pathlib import Path

RATES = "link.bottleneck.rate=1 Mbit/s,2 Mbit/s"
CCS = "flow.a.cc=cubic,reno"


def given(*overrides: str) -> Scenario:
    return Scenario(SCENARIO.encode(), "two.toml", tuple(map(parse_override, overrides)))


@pytest.mark.parametrize(
    ("over", "message"),
    [
        (
            [RATES, "link.0.rate=3 Mbit/s,4 Mbit/s"],
            "--over link.bottleneck.rate: expected a key that nothing sets again, found --over link.0.rate",
        ),
        (["link.*.rate=5 Mbit/s", RATES], "--over link.*.rate: expected a key that nothing sets again"),
        ([CCS, "flow.*.cc=vegas,reno"], "--over flow.a.cc: expected a key that nothing sets again"),
        (
            ["flow.*.cc=vegas,reno", CCS, "flow.b.cc=reno,dbac"],
            "--over flow.*.cc: expected a key that nothing sets again, found --over flow.a.cc and "
            "--over flow.b.cc",
        ),
        (["flow.a.cc.C=0.3,0.4", CCS], "--over flow.a.cc.C: expected a key that nothing sets again"),
        (
            ["link.0.queue.size=1 bdp,2 bdp", "link.0.queue=codel,fq-codel"],
            "--over link.0.queue.size: expected a key that nothing sets again, found --over link.0.queue",
        ),
        (
            ["link.0.rate+link.bottleneck.rate=1 Mbit/s+2 Mbit/s,3 Mbit/s+4 Mbit/s"],
            "--over link.0.rate: expected a key that nothing sets again, found --over link.bottleneck.rate",
        ),
        (
            [CCS, "flow.a.cc.name=vegas,dbac"],
            "--over flow.a.cc: expected values that make a difference, found the same scenario with all",
        ),
        (["link.0.rate=1 Mbit/s,1000 kbit/s"], "--over link.0.rate: expected values that make a difference"),
        (["name=one,other"], "--over name: expected a key that changes the runs, found the name of the"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_values_that_are_not_in_force(over: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        grid(given(), [parse_axis(text) for text in over])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("over", "count"),
    [
        # All others, then one of them.
        (["flow.*.cc=vegas,dbac", CCS], 4),
        (["link.0.queue=droptail,codel", "link.0.queue.size=20 packets,30 packets"], 4),
        (["flow.a.cc=cubic", "flow.a.cc.C=0.3,0.4"], 2),
        # A flow that does not run has no algorithm, but it has one at other points.
        (["flow.a.enabled=false,true", CCS], 4),
        (["link.0.rate=10 Mbit/s"], 1),
    ],
)
def test_keys_that_work_together(over: list[str], count: int) -> None:
    assert len(grid(given(), [parse_axis(text) for text in over])) == count


def test_a_set_key_that_varies() -> None:
    message = "--set link.0.rate: expected a key that nothing sets again, found --over link.bottleneck.rate"
    with pytest.raises(InputError, match=message):
        grid(given("link.0.rate=7 Mbit/s"), [parse_axis(RATES)])
    assert grid(given("link.0.delay=1 ms", "flow.*.cc=vegas"), [parse_axis(CCS)])


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            ["flow.a.cc.C=1", "flow.a.cc=cubic"],
            "--set flow.a.cc.C=1: expected a key that nothing sets again, found --set flow.a.cc=cubic after "
            "it; to set both, give flow.a.cc first",
        ),
        (
            ["duration=bad", "warmup=1 s", "duration=9 s"],
            "--set duration=bad: expected a key that nothing sets again, found --set duration=9 s after it",
        ),
        (["flow.a.cc.C=1", "flow.*.cc=cubic"], "after it; to set both, give flow.*.cc first"),
        (['flow."a".cc=reno', "flow.a.cc=cubic"], "found --set flow.a.cc=cubic after it"),
    ],
)
def test_a_key_that_is_set_twice(texts: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_overrides(texts)
    assert str(error.value).endswith(message)


@pytest.mark.parametrize(
    "texts",
    [
        ['flow.a.cc={name="cubic"}', "flow.a.cc.C=1"],
        ["flow.*.cc=vegas", "flow.a.cc=reno"],
        ["flow.a.cc=reno", "flow.b.cc=cubic"],
        ["flow.a.cc=reno", "flow.a.enabled=false"],
    ],
)
def test_keys_that_stay_in_force(texts: list[str]) -> None:
    require_own_set_once(given(*texts))
    assert len(parse_overrides(texts)) == 2


@pytest.mark.parametrize("first", ["flow.0.cc=vegas", "flow.*.start=1 s"])
def test_a_key_that_is_set_twice_under_two_names(first: str) -> None:
    both = given(first, *(f"flow.{name}.{first.partition('.')[2].partition('.')[2]}" for name in "ab"))
    key = first.partition("=")[0]
    with pytest.raises(
        InputError, match=rf"--set {re.escape(key)}: expected a key that nothing sets again, found"
    ):
        require_own_set_once(both)


def test_overrides_of_a_program_are_set_once() -> None:
    above = {"flow.a.cc.C": 1, "flow.a.cc": "cubic"}
    with pytest.raises(
        InputError, match=r"^overrides\['flow.a.cc.C'\]: .* found overrides\['flow.a.cc'\] after it"
    ):
        cl.run(SCENARIO, overrides=above)
    with pytest.raises(InputError, match=r"flow.0.cc'\]: expected a key that nothing sets again, found"):
        cl.run(SCENARIO, overrides={"flow.0.cc": "vegas", "flow.a.cc": "cubic"})


def test_two_names_of_one_key_are_found_everywhere(cwndlab: Command, scenario: Path) -> None:
    twice = {"flow.0.cc.C": "0.5", "flow.a.cc": "cubic"}
    told = "flow.0.cc.C'\\]: expected a key that nothing sets again, found overrides\\['flow.a.cc'\\]"
    for call in (
        lambda: cl.compare(SCENARIO, ["reno", "cubic"], ["b"], overrides=twice),
        lambda: cl.sweep(SCENARIO, {"flow.b.cc": ["reno", "cubic"]}, overrides=twice),
        lambda: FlowEnv("cwndlab/Window-v0", scenario=SCENARIO, flow="b", overrides=twice),
    ):
        with pytest.raises(InputError, match=told):
            call()
    answer = cwndlab("check", scenario.name, *(f"--set={key}={value}" for key, value in twice.items()))
    assert answer.returncode == 2
    assert answer.stderr == (
        "error: --set flow.0.cc.C: expected a key that nothing sets again, found --set flow.a.cc\n"
    )


def test_every_command_takes_a_key_once(cwndlab: Command, scenario: Path) -> None:
    twice = ("--set", "duration=1 s", "--set", "duration=2 s")
    message = "--set duration=1 s: expected a key that nothing sets again, found --set duration=2 s after it"
    for call in (
        ("run", scenario.name),
        ("check", scenario.name),
        ("compare", scenario.name, "--cc", "reno,cubic"),
        ("sweep", scenario.name, "--over", CCS),
        ("score", "cwndlab/Window-v0"),
        ("train", "cwndlab/Window-v0"),
    ):
        answer = cwndlab(*call, *twice)
        assert answer.returncode == 2
        assert answer.stderr == f"error: {message}\n"


def test_a_set_algorithm_that_is_compared() -> None:
    with pytest.raises(
        InputError, match=r"--set flow.a.cc: expected a key that nothing sets again, found --cc"
    ):
        contest(given("flow.a.cc=vegas"), ["cubic", "reno"])
    assert contest(given("flow.*.cc=vegas"), ["cubic", "reno"], ["a"])


def test_a_condition_has_no_name() -> None:
    with pytest.raises(InputError, match="--across name: expected a key that changes the runs"):
        grid(given(), [], [parse_axis("name=one,other", "--across")])


def test_a_file_of_points_tells_the_place(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("link.0.rate,link.bottleneck.rate\n1 Mbit/s,2 Mbit/s\n3 Mbit/s,4 Mbit/s\n")
    with pytest.raises(InputError, match=r"points.csv:2: link.0.rate: .* found .*:2: link.bottleneck.rate"):
        points(given(), points_of(file))
