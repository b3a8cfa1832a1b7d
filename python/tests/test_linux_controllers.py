"""Our own controllers inside Linux's TCP, beside the kernel's own and beside the simulator."""

from __future__ import annotations

import itertools
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
from cwndlab.beside.both import run_both
from cwndlab.engine import SHIPPED
from cwndlab.linux.backend import Linux
from cwndlab.scenarios.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from cwndlab.linux.kernel import Kernel

HEAD = """\
duration = "{seconds} s"
send_jitter = "0 s"

[[link]]
name = "a"
"""
LINKS = {
    "half a BDP": 'rate = "100 Mbit/s"\ndelay = "30 ms"\nqueue = "0.5 bdp"',
    "2 BDP": 'rate = "20 Mbit/s"\ndelay = "20 ms"\nqueue = "2 bdp"',
    "random loss": 'rate = "50 Mbit/s"\ndelay = "10 ms"\nqueue = "1 bdp"\nloss = 0.003',
    # By more than 3 segments: what is SACKed lets windows grow then (tcp_may_raise_cwnd).
    "reordering": (
        'rate = "20 Mbit/s"\ndelay = "20 ms"\nqueue = "1 bdp"\n'
        'reorder = {{ probability = 0.01, delay = "5 ms" }}'
    ),
    "ECN": 'rate = "20 Mbit/s"\ndelay = "20 ms"\nqueue = {{ kind = "codel", ecn = true }}',
    "an outage": (
        'rate = "20 Mbit/s"\ndelay = "20 ms"\nqueue = "1 bdp"\n'
        'up = [{{ at = "0 s", value = true }}, {{ at = "5 s", value = false }}, '
        '{{ at = "7 s", value = true }}]'
    ),
}
ONE_FLOW = """

[[flow]]
name = "m"
cc = {cc}
path = ["a"]
"""
# Ours, and the kernel's.
PAIRS = {"reno": "linux:reno", "cubic": "linux:cubic", "bbr1": "linux:bbr", "vegas": "linux:vegas"}
COUNTS = ("retransmitted_packets", "timeouts", "fast_recoveries", "ecn_reductions", "tail_loss_probes")


pytestmark = pytest.mark.usefixtures("own_cache")


def text(link: str, cc: str, *, seconds: int = 15) -> str:
    return (HEAD + LINKS[link] + ONE_FLOW).format(seconds=seconds, cc=cc)


def flows(link: str, cc: str, *, seeds: int = 2, **options: Any) -> list[dict[str, Any]]:
    overrides = {"tcp.ecn": link == "ECN"}
    run = cl.run(text(link, f'"{cc}"'), overrides=overrides, seeds=seeds, backend="linux", **options)
    return [each.outcome["flows"][0] for each in run.runs]


@pytest.mark.parametrize(("link", "ours"), list(itertools.product(LINKS, PAIRS)))
def test_it_does_what_the_kernels_own_does(linux_kernel: Kernel, link: str, ours: str) -> None:
    """In the same kernel: goodput within 0.5 %, retransmissions within 2 % or 10 packets."""
    assert linux_kernel.image.exists()
    # Where chance decides, more seeds.
    seeds = {"random loss": 12, "reordering": 12, "an outage": 6}.get(link, 2)
    own, kernels = (flows(link, cc, seeds=seeds) for cc in (ours, PAIRS[ours]))
    measures = ("goodput_mbps", "rtt_ms", *COUNTS)
    mean = {name: [fmean(each[name] for each in side) for side in (own, kernels)] for name in measures}
    assert mean["goodput_mbps"][0] == pytest.approx(mean["goodput_mbps"][1], rel=0.005)
    assert mean["rtt_ms"][0] == pytest.approx(mean["rtt_ms"][1], rel=0.01)
    for count in COUNTS:
        assert mean[count][0] == pytest.approx(mean[count][1], rel=0.02, abs=10), count
    if link == "an outage":
        assert mean["timeouts"][0] == mean["timeouts"][1] > 0
    if link == "ECN":
        assert mean["ecn_reductions"][1] > 0


def test_reno_is_the_kernels_to_the_bit(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    for link in ("half a BDP", "2 BDP"):
        own, kernels = flows(link, "reno"), flows(link, "linux:reno")
        assert [{**each, "cc": ""} for each in own] == [{**each, "cc": ""} for each in kernels]


LEARNING = ["dqn-newreno", "dqn-cubic", "dqn-cubic-2022"]
OURS = ["newreno", "bbr2", "bbr3", "fbbr2", "sd", "pd", "sd-pd", "constant", "always", "random", *LEARNING]
COUPLED = ["lia", "olia", "balia", "dbac"]
# It decides nothing by itself: test_linux_gym.py has its agents.
OUTSIDE = ["steered"]


def test_every_algorithm_is_tried_in_linux() -> None:
    names = {each["name"] for each in SHIPPED.read_catalogue()["algorithms"]} - set(SHIPPED.in_python())
    assert names == {*PAIRS, *OURS, *COUPLED, *OUTSIDE}


@pytest.mark.parametrize("cc", OURS)
def test_what_the_kernel_has_not_does_as_in_the_simulator(linux_kernel: Kernel, cc: str) -> None:
    assert linux_kernel.image.exists()
    [both] = run_both([Scenario(text("2 BDP", f'"{cc}"').encode(), "x.toml")], [1, 2])
    for sim, linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [ours], [inside] = sim.outcome["flows"], linux.outcome["flows"]
        assert inside["goodput_mbps"] == pytest.approx(ours["goodput_mbps"], rel=0.03)
        # What learns by chance meets other queues.
        assert inside["rtt_ms"] == pytest.approx(ours["rtt_ms"], rel=0.1 if cc in LEARNING else 0.05)


def test_a_seed_gives_the_same_learning(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    learning = [flows("random loss", "dqn-cubic", fresh=True) for _ in range(2)]
    assert learning[0] == learning[1]
    assert learning[0][0] != learning[0][1]


MARKED = (
    HEAD
    + 'rate = "100 Mbit/s"\ndelay = "1.5 ms"\n'
    + 'queue = {{ kind = "codel", ecn = true, target = "1 ms", interval = "10 ms" }}'
    + ONE_FLOW
)


def test_bbr2_counts_marks_as_in_the_simulator(linux_kernel: Kernel) -> None:
    """Linux's receiver tells how many packets were marked, and the window follows them."""
    assert linux_kernel.image.exists()
    measured = {}
    for ecn in ("true", "false"):
        scenario = Scenario(
            MARKED.format(seconds=10, cc=f"{{ name = 'bbr2', ecn = {ecn} }}").encode(), "x.toml"
        )
        [both] = run_both([scenario], [1, 2])
        for side in ("sim", "linux"):
            runs = [run.outcome for run in getattr(both, side).runs]
            marked = fmean(run["links"][0]["marked_packets"] for run in runs)
            flows = [run["flows"][0] for run in runs]
            names = ("goodput_mbps", "rtt_ms", "cwnd_mean_segments")
            measured[ecn, side] = {name: fmean(flow[name] for flow in flows) for name in names} | {
                "marked": marked
            }
    inside, simulated = measured["true", "linux"], measured["true", "sim"]
    assert min(inside["marked"], simulated["marked"]) > 0 == measured["false", "linux"]["marked"]
    assert inside["goodput_mbps"] == pytest.approx(simulated["goodput_mbps"], rel=0.03)
    assert inside["rtt_ms"] == pytest.approx(simulated["rtt_ms"], rel=0.05)
    assert inside["marked"] == pytest.approx(simulated["marked"], rel=0.2)


@pytest.mark.parametrize(("timestamps", "header"), [("true", 52), ("false", 40)])
def test_without_sack_the_rtt_is_still_measured(linux_kernel: Kernel, timestamps: str, header: int) -> None:
    """PD cuts its window by the RTT, so it loses hardly anything where Reno fills the queue.

    In both backends an ACK of what was resent is timed by its echo, or without timestamps not at all.
    """
    assert linux_kernel.image.exists()
    options = f"\n[tcp]\nsack = false\ntimestamps = {timestamps}\nheader = {header}\n"
    measured = {}
    for cc in ("reno", "pd"):
        scenario = (
            text("2 BDP", f'"{cc}"').replace("20 Mbit/s", "10 Mbit/s").replace("2 bdp", "4 bdp") + options
        )
        [both] = run_both([Scenario(scenario.encode(), "x.toml")], [1])
        ours, inside = (side.runs[0].outcome["flows"][0] for side in (both.sim, both.linux))
        assert inside["rtt_ms"] == pytest.approx(ours["rtt_ms"], rel=0.1)
        assert inside["rtt_min_ms"] == pytest.approx(ours["rtt_min_ms"], rel=0.01)
        measured[cc] = inside["retransmitted_packets"]
    assert measured["pd"] < measured["reno"] / 5


def test_without_sack_many_losses_are_repaired_without_a_timeout(linux_kernel: Kernel) -> None:
    """RFC 6582. The receiver answers each segment out of order at once, which lets the sender go on."""
    assert linux_kernel.image.exists()
    scenario = text("2 BDP", '"reno"').replace("2 bdp", "4 bdp") + "\n[tcp]\nsack = false\n"
    [both] = run_both([Scenario(scenario.encode(), "x.toml")], [1])
    ours, inside = (side.runs[0].outcome["flows"][0] for side in (both.sim, both.linux))
    assert ours["timeouts"] == inside["timeouts"] == 0
    assert ours["retransmitted_packets"] == pytest.approx(inside["retransmitted_packets"], rel=0.05)
    assert ours["goodput_mbps"] == pytest.approx(inside["goodput_mbps"], rel=0.1)


TWO_PATHS = (
    HEAD
    + 'rate = "50 Mbit/s"\ndelay = "10 ms"\nqueue = "1 bdp"\nloss = 0.002\n\n[[link]]\nname = "b"\n'
    + 'rate = "50 Mbit/s"\ndelay = "10 ms"\nqueue = "1 bdp"\nloss = 0.01\n'
    + ONE_FLOW.replace('path = ["a"]', 'paths = [["a"], ["b"]]')
)


def test_coupled_algorithms_see_their_siblings(linux_kernel: Kernel) -> None:
    """Their windows are the simulator's."""
    assert linux_kernel.image.exists()
    # Those three also with the integer arithmetic of the out-of-tree kernel's module.
    kernels = [f'{{ name = "{name}", arithmetic = "kernel" }}' for name in COUPLED[:3]]
    algorithms = [*(f'"{name}"' for name in COUPLED), *kernels, '"uncoupled:reno"']
    scenarios = [Scenario(TWO_PATHS.format(seconds=20, cc=cc).encode(), "x.toml") for cc in algorithms]
    windows = {}
    for cc, both in zip(algorithms, run_both(scenarios, range(1, 7)), strict=True):
        for part in (0, 1):
            inside, simulated = (
                fmean(run.outcome["flows"][0]["subflows"][part]["cwnd_mean_segments"] for run in side.runs)
                for side in (both.linux, both.sim)
            )
            assert inside == pytest.approx(simulated, rel=0.1), (cc, part)
            windows[cc, part] = inside
    # Coupled ones leave the path with the losses.
    alone = windows['"uncoupled:reno"', 1]
    assert all(windows[cc, 1] < 0.6 * alone for cc in algorithms[:-1])


def test_what_cannot_decide_inside_is_refused() -> None:
    scenario = Scenario(text("2 BDP", '{ name = "dqn-cubic", policy = "outside" }').encode(), "x.toml")
    with pytest.raises(ScenarioError, match="an agent outside decides only in an environment"):
        replace(scenario, engine=Linux(SHIPPED.module)).validate()
    steered = Scenario(text("2 BDP", '"steered"').encode(), "x.toml")
    with pytest.raises(ScenarioError, match=r"flow\.0\.cc"):
        replace(steered, engine=Linux(SHIPPED.module)).validate()
