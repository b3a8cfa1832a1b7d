"""What runs need, and what there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cwndlab.cli import app
from cwndlab.linux.backend import Linux
from cwndlab.results.recording import Record
from cwndlab.running import memory
from cwndlab.running.memory import Memory, needed, warning
from cwndlab.scenarios.scenario import Scenario
from tests.conftest import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Mapping

ONE = Scenario(SCENARIO.encode(), "two.toml")
GIB = 2**30


def with_flows(count: int) -> Scenario:
    return ONE.overridden(("flow.0.count", str(count)))


def of(scenario: Scenario, seeds: int = 1, record: Record = Record.NONE, threads: int = 1) -> float:
    return needed([scenario], seeds, record, threads)


def machine(root: Path, meminfo: str, files: Mapping[str, str] = MappingProxyType({})) -> Path:
    for name, content in {"proc/meminfo": meminfo, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


MEMINFO = "MemTotal:       8388608 kB\nMemFree:  100 kB\nMemAvailable:    4194304 kB\n"


def test_flows_cost_memory_with_each_seed() -> None:
    small, large = with_flows(1000), with_flows(101_000)
    assert of(large) - of(small) == pytest.approx(1e5 * memory.SENDER)
    assert of(large, seeds=5) - of(small, seeds=5) == pytest.approx(5e5 * memory.SENDER)


def test_packets_under_way_cost_memory_with_each_run_at_a_time() -> None:
    far = ONE.overridden(("link.0.rate", "100 Gbit/s"), ("link.0.delay", "1 s"))
    # Two seconds' worth on the way, as much in the queue; but no more is sent than in the run's two seconds.
    assert far.packets_held == pytest.approx(1e11 * 2 / 12_000, rel=0.01)
    assert of(far, 4, threads=2) - of(far, 4) == pytest.approx(far.packets_held * memory.PACKET)


def test_a_run_in_linux_costs_its_kernel() -> None:
    # A check needs no kernel.
    linux = Linux(ONE.engine.module, ONE.engine.registered)
    few, many = (replace(with_flows(count), engine=linux) for count in (10, 510))
    kernels = of(many, 4, threads=2) - of(many, 4)
    assert kernels > 500 * memory.KERNEL_HOSTS
    assert kernels == pytest.approx(of(many) - memory.BASE, rel=0.02)
    assert of(many) - of(few) == pytest.approx(500 * (memory.KERNEL_HOSTS + memory.SENDER))


def test_recorded_seeds_cost_more() -> None:
    one = with_flows(1000)
    none, first, every = (of(one, 4, record) for record in (Record.NONE, Record.FIRST, Record.ALL))
    assert every - none == pytest.approx(4 * (first - none))
    assert first > none + 5e7


@pytest.mark.parametrize(
    ("there", "warned"),
    [
        (Memory(64 * GIB, 64 * GIB), False),
        (Memory(8 * GIB, 8 * GIB), True),
        (Memory(64 * GIB, GIB), True),
        (None, False),
    ],
)
def test_warned_of_more_than_half_or_than_what_is_free(
    monkeypatch: pytest.MonkeyPatch, there: Memory | None, warned: bool
) -> None:
    monkeypatch.setattr(memory, "memory", lambda: there)
    told = warning([with_flows(100_000)], 5, Record.FIRST, None)
    assert (told is not None) is warned
    if told:
        assert "5 runs need about 5.3 GB of memory" in told


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, Memory(8 * GIB, 4 * GIB)),
        ({"sys/fs/cgroup/memory.max": f"{3 * GIB}\n"}, Memory(3 * GIB, 3 * GIB)),
        (
            {
                "proc/self/cgroup": "0::/user/one\n",
                "sys/fs/cgroup/memory.max": "max\n",
                "sys/fs/cgroup/user/memory.max": f"{2 * GIB}\n",
            },
            Memory(2 * GIB, 2 * GIB),
        ),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n"}, Memory(GIB, GIB)),
    ],
)
def test_the_least_of_all_limits_counts(tmp_path: Path, files: dict[str, str], expected: Memory) -> None:
    assert memory.memory(machine(tmp_path, MEMINFO, files)) == expected


@pytest.mark.parametrize("content", ["", "MemTotal:\n", "MemTotal: x kB\nMemAvailable: y kB\n"])
def test_a_system_that_does_not_tell(tmp_path: Path, content: str) -> None:
    assert memory.memory(machine(tmp_path, content)) is None


def test_this_system_tells() -> None:
    there = memory.memory()
    assert there is None or 0 < there.free <= there.total


@pytest.mark.parametrize("command", [["check"], ["run", "--seeds", "1", "--no-figure", "--out", "out"]])
def test_the_command_line_warns(
    tmp_path: Path, scenario: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    word, *options = command

    def told() -> str:
        answer = CliRunner().invoke(app, [word, str(scenario), *options])
        assert answer.exit_code == 0
        return answer.stderr

    assert "of memory" not in told()
    monkeypatch.setattr(memory, "memory", lambda: Memory(GIB / 4, GIB / 4))
    assert f"{scenario}: warning: " in told()
    assert "about 0.2 GB of memory; there are 0.3 GB" in told()
