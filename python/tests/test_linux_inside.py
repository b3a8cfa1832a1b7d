"""Our own controllers inside Linux: their probes, what they learned, and decisions that take effect later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
import cwndlab.benchmark.reno
from cwndlab.beside.both import run_both
from cwndlab.engine import SHIPPED
from cwndlab.linux.backend import Linux
from cwndlab.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

SCENARIO = """\
duration = "{seconds} s"
send_jitter = "0 s"

[[link]]
name = "a"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "1 bdp"

[[flow]]
name = "m"
cc = {cc}
path = ["a"]
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def scenario(cc: str, *, seconds: int) -> Scenario:
    return Scenario(SCENARIO.format(seconds=seconds, cc=cc).encode(), "x.toml")


def columns_of(result: Any) -> list[str]:
    [run] = result.runs
    [table] = [table for table in run.recording.tables if table.name == "m"]
    return list(table.columns)


@pytest.mark.parametrize("cc", ["cubic", "bbr1", "dqn-cubic", "python-reno"])
def test_probes_are_recorded_as_in_the_simulator(linux_kernel: Kernel, cc: str) -> None:
    """The same columns, over time and at the ends of intervals; what follows from the link has its value."""
    assert linux_kernel.image.exists()
    text = scenario(f'"{cc}"', seconds=5).text.decode()
    here, there = (cl.run(text, seeds=1, backend=backend, record="all") for backend in ("sim", "linux"))
    # After the four of any flow.
    probes = columns_of(here)[4:]
    assert probes
    assert set(probes) <= set(columns_of(there))
    for probe in probes:
        recorded = [result.series(probe).height for result in (here, there)]
        kept = [result.intervals.drop_nulls(probe).height for result in (here, there)]
        for ours, kernels in (recorded, kept):
            assert kernels == pytest.approx(ours, rel=0.1, abs=2), probe
    if cc == "bbr1":
        means = [result.intervals["bw_mbps"].drop_nulls().drop_nans().mean() for result in (here, there)]
        assert means[0] == pytest.approx(means[1], rel=0.03)


def test_what_was_learned_in_the_kernel_comes_back(linux_kernel: Kernel, tmp_path: Path) -> None:
    """As files of weights, which play in the simulator."""
    assert linux_kernel.image.exists()
    text = scenario('{ name = "dqn-newreno", warmup = 200 }', seconds=8).text.decode()
    learned = cl.run(text, 2, backend="linux").weights
    assert set(learned) == {("m", 1), ("m", 2)}
    assert learned["m", 1] != learned["m", 2]
    again = cl.run(text, 2, backend="linux")
    assert all(run.reused for run in again.runs)
    assert again.weights == learned
    file = tmp_path / "learned.safetensors"
    file.write_bytes(learned["m", 1])
    played = text.replace("warmup = 200", f'policy = "play", weights = "{file}"')
    for backend in ("sim", "linux"):
        assert cl.run(played, 1, backend=backend).runs[0].outcome["flows"][0]["goodput_mbps"] > 1


def test_a_decision_takes_effect_after_its_delay(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    at_once = scenario('"dqn-cubic"', seconds=15)
    late = at_once.overridden(("flow.0.decision_delay", "40 ms"))
    assert not replace(late, engine=Linux(SHIPPED.module)).problems()
    runs = [both.linux.runs[0].outcome["flows"][0] for both in run_both([at_once, late], [1])]
    assert runs[0] != runs[1]
    [both] = run_both([late], [1, 2])
    for sim, linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [ours], [kernels] = sim.outcome["flows"], linux.outcome["flows"]
        assert kernels["goodput_mbps"] == pytest.approx(ours["goodput_mbps"], rel=0.03)
