"""Timeout patterns in Linux are counted by the simulator's code; here they are beside the simulator's."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl
import pytest

import cwndlab as cl
from cwndlab.beside.both import run_both
from cwndlab.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from cwndlab.linux.kernel import Kernel

SCENARIO = """\
duration = "{seconds} s"
send_jitter = "0 s"
timeout_patterns = true

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
OUTAGES = """\
queue = "1 bdp"
up = [{{ at = "0 s", value = true }}, {{ at = "5 s", value = false }}, {{ at = "6 s", value = true }}]
"""
BURSTS = """
[[flow]]
name = "w"
cc = {cc}
path = ["a"]
arrivals = {{ per_second = 4, size = "60 kB" }}
"""
AT_PEAKS = ("timeouts_at_peak", "fast_recoveries_at_peak")


pytestmark = pytest.mark.usefixtures("own_cache")


def scenario(cc: str, text: str = SCENARIO, *, seconds: int = 20) -> Scenario:
    return Scenario(text.format(seconds=seconds, cc=cc).encode(), "x.toml")


@pytest.mark.parametrize("cc", ["linux:reno", "linux:cubic", "reno"])
def test_timeout_patterns_of_one_flow_are_the_simulators(linux_kernel: Kernel, cc: str) -> None:
    """Each loss is one of the queue's, so both backends lose at the same windows.

    Samples differ by the ACKs that Linux's receiver sends at once around a loss; peaks only in slow start,
    where a few samples decide.
    """
    assert linux_kernel.image.exists()
    [both] = run_both([scenario(f'"{cc}"')], [1, 2])
    for sim, linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [ours], [kernels] = sim.outcome["flows"], linux.outcome["flows"]
        for measure in ("timeouts", "fast_recoveries", *AT_PEAKS):
            assert kernels[measure] == ours[measure], measure
        assert ours["fast_recoveries"] > 3
        assert kernels["regained_segments"] == pytest.approx(ours["regained_segments"], abs=1)
        assert kernels["rtt_samples"] == pytest.approx(ours["rtt_samples"], rel=0.02)
        assert abs(kernels["rtt_peaks"] - ours["rtt_peaks"]) <= 5


def test_a_short_transfer_has_the_kernels_acks(linux_kernel: Kernel) -> None:
    """Which segments are acknowledged at once depends on how the receive window grows."""
    assert linux_kernel.image.exists()
    transfer = SCENARIO.replace("1 bdp", "4 bdp") + 'bytes = "60 kB"\n'
    [both] = run_both([scenario('"linux:reno"', transfer, seconds=2)], [1])
    [ours], [kernels] = (side.runs[0].outcome["flows"] for side in (both.sim, both.linux))
    assert kernels["rtt_samples"] == ours["rtt_samples"] > 30


def test_peaks_of_bursts_are_the_simulators(linux_kernel: Kernel) -> None:
    """Within a tenth: which packet of two is lost differs, and so does all that follows.

    The peaks of one run differ by 6 % (standard deviation over ten seeds).
    """
    assert linux_kernel.image.exists()
    [both] = run_both([scenario('"linux:reno"', SCENARIO + BURSTS, seconds=60)], range(1, 7))
    for kind in ("flows", "groups"):
        for measure in ("rtt_samples", "rtt_peaks"):
            ours, kernels = (
                fmean(run.outcome[kind][0][measure] for run in side.runs) for side in (both.sim, both.linux)
            )
            assert kernels == pytest.approx(ours, rel=0.1), (kind, measure)
    measures = {each["measure"] for each in both.linux.distributions.to_dicts()}
    assert "rtt_peak_ratio" in measures


@pytest.mark.parametrize("text", [SCENARIO, SCENARIO.replace('queue = "1 bdp"\n', OUTAGES)])
def test_the_recorded_events_confirm_the_patterns(linux_kernel: Kernel, text: str) -> None:
    """Each loss is an event in the kernel's state Recovery or Loss; no RTT comes before a timeout."""
    assert linux_kernel.image.exists()
    experiment = scenario('"linux:reno"', text).text
    result = cl.run(experiment.decode(), seeds=1, backend="linux", record="all")
    [flow] = result.runs[0].outcome["flows"]
    losses = {"fast_recovery": (3, "fast_recoveries"), "timeout": (4, "timeouts")}
    states = result.series("ca_state")
    ratios = result.series("rtt_peak_ratio")
    at_peak = 0
    for kind, (state, measure) in losses.items():
        times = result.events.filter(kind=kind)["time_s"].to_list()
        assert len(times) == flow[measure]
        for time_s in times:
            behind = states.filter(pl.col("time_s") >= time_s)["ca_state"]
            assert behind[0] == state, (kind, time_s)
            if kind == "timeout":
                at_peak += ratios.filter(pl.col("time_s") <= time_s)["rtt_peak_ratio"][-1] >= 2
    assert at_peak == flow["timeouts_at_peak"]
    assert (flow["timeouts"] > 0) == (text != SCENARIO)
