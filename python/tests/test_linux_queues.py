"""The kernel's own queue disciplines in the links of a scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
from cwndlab.beside.both import run_both
from cwndlab.engine import SHIPPED, catalogue
from cwndlab.errors import InputError
from cwndlab.linux.backend import Linux
from cwndlab.scenarios.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command

Outcomes = list[dict[str, Any]]
TWO_FLOWS = """\
duration = "15 s"
warmup = "5 s"
send_jitter = "0 s"

[[link]]
name = "bottleneck"
rate = "50 Mbit/s"
delay = "20 ms"
queue = QUEUE

[[flow]]
name = "x"
cc = "linux:cubic"
path = ["bottleneck"]

[[flow]]
name = "y"
cc = "linux:reno"
path = ["bottleneck"]
start = "1 s"
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def scenario(queue: str) -> Scenario:
    return Scenario(TWO_FLOWS.replace("QUEUE", queue).encode(), "x.toml")


def outcomes(
    queue: str, overrides: Mapping[str, Any] | None = None, *, seeds: int = 1
) -> list[dict[str, Any]]:
    text = TWO_FLOWS.replace("QUEUE", queue)
    return [run.outcome for run in cl.run(text, overrides=overrides, seeds=seeds, backend="linux").runs]


def test_codel_drops_the_same_packets_as_ours(linux_kernel: Kernel) -> None:
    """Both in the kernel, under the same TCP. The limit keeps the start apart from the kernel's ticks."""
    assert linux_kernel.image.exists()
    ours = outcomes('{ kind = "codel", limit = 50 }', seeds=3)
    kernels = outcomes('{ kind = "linux:codel", limit = 50 }', seeds=3)
    assert ours == kernels
    assert min(outcome["links"][0]["dropped_packets"] for outcome in ours) > 5


@pytest.mark.parametrize(
    ("queue", "delay_ms"),
    [
        ("linux:codel", (1, 5)),
        ("linux:fq_codel", (0.5, 5)),
        ("linux:fq", (10, 60)),
        ("linux:pie", (8, 20)),
        ("linux:fq_pie", (5, 20)),
        ("linux:cake", (0.5, 5)),
        # Thresholds of 83 and 250 packets, each 0.24 ms; SFQ has room for 127 packets.
        ("linux:red", (15, 40)),
        ("linux:sfq", (10, 30)),
    ],
)
def test_each_queue_holds_the_delay_that_it_is_for(
    linux_kernel: Kernel, queue: str, delay_ms: tuple[float, float]
) -> None:
    assert linux_kernel.image.exists()
    [outcome] = outcomes(f'"{queue}"')
    [link] = outcome["links"]
    assert delay_ms[0] < link["queue_delay_ms"] < delay_ms[1]
    assert link["utilisation"] > 0.95
    assert sum(flow["retransmitted_packets"] for flow in outcome["flows"]) == link["dropped_packets"] > 0


def test_it_marks_where_both_ends_can_tell(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    marking = ('"linux:fq_codel"', '{ kind = "linux:pie", ecn = true }', '"linux:cake"')
    for queue in (*marking, '{ kind = "linux:red", ecn = true }'):
        [outcome] = outcomes(queue, {"tcp.ecn": True})
        [link] = outcome["links"]
        assert (link["dropped_packets"], link["marked_packets"] > 0) == (0, True), queue
        assert sum(flow["ecn_reductions"] for flow in outcome["flows"]) > 0, queue


def test_fair_queues_tell_flows_apart(linux_kernel: Kernel) -> None:
    """A sender that does not answer to delay takes no more than its share."""
    assert linux_kernel.image.exists()
    fair_queues = ('"linux:fq_codel"', '"linux:cake"', '"linux:sfq"')
    unfair = ('"linux:pie"', '"linux:red"')
    for queue, fair in [*((each, True) for each in fair_queues), *((each, False) for each in unfair)]:
        [outcome] = outcomes(queue, {"flow.y.cc": "linux:bbr", "flow.x.cc": "linux:vegas"})
        x, y = (flow["goodput_mbps"] for flow in outcome["flows"])
        assert (min(x, y) / max(x, y) > 0.85) == fair, (queue, x, y)


def test_settings_reach_the_kernel(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    delays = [
        fmean(each["links"][0]["queue_delay_ms"] for each in outcomes(queue))
        for queue in ('"linux:pie"', '{ kind = "linux:pie", target = "40 ms" }')
    ]
    assert 25 < delays[1] < 50
    assert delays[1] > 1.5 * delays[0]


def red(**settings: float | str) -> list[float]:
    """The mean delay, and the packets dropped and marked."""
    given = ", ".join(f"{key} = {value}" for key, value in settings.items())
    [outcome] = outcomes(f'{{ kind = "linux:red", {given} }}', {"tcp.ecn": "ecn" in settings})
    [link] = outcome["links"]
    return [link[name] for name in ("queue_delay_ms", "dropped_packets", "marked_packets")]


def test_red_obeys_its_thresholds(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    low, high = red(min=20, max=60), red(min=60, max=180)
    assert 2 * low[0] < high[0] < 180 * 0.24
    assert low[0] < 60 * 0.24
    assert red(min=20, max=60, probability=0.2)[0] < low[0]
    # The average follows the queue sooner.
    assert red(min=20, max=60, ewma=2)[0] != low[0]
    # An adaptive one moves the probability until the average is halfway.
    adaptive = red(min=20, max=60, probability=0.0001, adaptive="true")
    assert adaptive[0] < red(min=20, max=60, probability=0.0001)[0]
    # An average above `max`, which a rare mark does not keep it from.
    rarely: dict[str, float | str] = {"max": 20, "probability": 0.0001, "ewma": 2, "ecn": "true"}
    marking, hard = (red(**rarely, hard_drop=each) for each in ("false", "true"))
    assert marking[1] == 0 < marking[2]
    assert hard[1] > 0


def test_settings_of_sfq_reach_the_kernel(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()

    def delay_ms(settings: str) -> float:
        [outcome] = outcomes(f'{{ kind = "linux:sfq", {settings} }}')
        delay: float = outcome["links"][0]["queue_delay_ms"]
        return delay

    usual = delay_ms("limit = 127")
    assert delay_ms("limit = 40") < 40 * 0.24 < usual
    # 20 packets of each of two flows.
    assert delay_ms("depth = 20") < 40 * 0.24
    # A flow that may not share its place with others gets none: both wait in one queue.
    assert delay_ms("flows = 2, limit = 254") > usual
    assert (
        len({usual, delay_ms("head_drop = true"), delay_ms("quantum = 6000"), delay_ms("perturb = 1")}) == 4
    )


def test_thresholds_of_red_that_are_not_in_order_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"expected `min` below `max`, found min = 50 and max = 20"):
        replace(
            scenario('{ kind = "linux:red", min = 50, max = 20 }'), engine=Linux(SHIPPED.module)
        ).validate()


def test_both_backends_compare_queues_that_both_have(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    [both] = run_both([scenario('{ kind = "linux:fq_codel", target = "8 ms", memory = 1000000 }')], [1, 2, 3])
    queue = both.sim.scenario.resolved["link"][0]["queue"]
    assert (queue["kind"], queue["target"]) == ("fq-codel", "8 ms")
    for in_sim, in_linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [sim], [linux] = in_sim.outcome["links"], in_linux.outcome["links"]
        assert linux["queue_delay_ms"] == pytest.approx(sim["queue_delay_ms"], rel=0.25)
        assert abs(linux["dropped_packets"] - sim["dropped_packets"]) <= 10
    with pytest.raises(
        InputError, match=r"link.0.queue: expected a queue of both backends .*, found linux:pie"
    ):
        run_both([scenario('"linux:pie"')], [1])


@pytest.mark.parametrize("queue", ['"linux:pie"', '{ kind = "linux:pie", limit = 10 }'])
def test_they_are_refused_in_the_simulator(queue: str) -> None:
    text = scenario(queue).overridden(("flow.x.cc", "cubic"), ("flow.y.cc", "reno"))
    with pytest.raises(
        ScenarioError, match="`linux:pie` is code of the Linux kernel; run the scenario with --backend linux"
    ):
        text.validate()


def test_what_the_kernel_has_is_listed_and_shown(cwndlab: Command) -> None:
    listed = json.loads(cwndlab("list", "linux", "--json").stdout)["linux"]
    names = [entry["name"] for entry in listed]
    assert {"linux:cubic", "linux:fq_codel"} <= set(names)
    assert names == [entry["name"] for entry in catalogue.of_the_kernel(SHIPPED)]
    shown = cwndlab("show", "linux:cake").stdout
    assert "CAKE of Linux" in shown
    assert "ack_filter" in shown
