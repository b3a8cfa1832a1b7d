"""The links of episodes: what `info` and scores tell of them is what is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, FlowsEnv, FlowVectorEnv
from cwndlab.learning.scores import score
from cwndlab.system.wording import worded

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = "cwndlab/Window-v0"
LINK = ("link_rate_mbps", "link_rtt_ms", "link_buffer_bdp", "link_loss")


def link_of(env: FlowEnv, seed: int) -> dict[str, float]:
    _, info = env.reset(seed=seed)
    return {name: info[name] for name in LINK if name in info}


def thousandths(least: float, most: float) -> st.SearchStrategy[float]:
    return st.integers(round(least * 1000), round(most * 1000)).map(lambda value: value / 1000)


# For each quantity that is drawn: its key, a value of its own as `info` has it, and how that is written.
OWN: dict[str, tuple[str, st.SearchStrategy[float], Callable[[float], Any]]] = {
    "link_rate_mbps": ("rate", thousandths(2, 200), lambda value: f"{value} Mbit/s"),
    "link_rtt_ms": ("delay", thousandths(10, 200), lambda value: f"{value / 2:.4f} ms"),
    "link_buffer_bdp": ("queue", thousandths(2, 8), lambda value: f"{value} bdp"),
    "link_loss": ("loss", thousandths(0, 0.1), lambda value: value),
}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**63),
    own=st.fixed_dictionaries({}, optional={name: value for name, (_, value, _) in OWN.items()}),
    of=st.sampled_from(["0", "bottleneck", "*"]),
)
@example(seed=3652, own={"link_rate_mbps": 2.0, "link_loss": 0.02}, of="0")
def test_what_is_set_is_in_force_and_reported(seed: int, own: dict[str, float], of: str) -> None:
    overrides = {f"link.{of}.{OWN[name][0]}": OWN[name][2](value) for name, value in own.items()}
    # A queue that holds a packet whatever is drawn.
    drawn = link_of(FlowEnv(WINDOW, overrides={"link.0.queue": "2 bdp"}), seed)
    if "link_buffer_bdp" not in own:
        overrides["link.0.queue"] = "2 bdp"
    env = FlowEnv(WINDOW, overrides={"duration": "2 s", "flow.0.jitter": "0 s", **overrides})
    link = link_of(env, seed)
    assert link == pytest.approx(drawn | own, rel=1e-12)
    over = False
    while not over:
        _, _, *ends, info = env.step(3)
        # Until the handshake is through there is no RTT: its packets can be lost.
        unmeasured = info["rtt_ms"] == info["goodput_mbps"] == 0
        assert unmeasured or info["rtt_ms"] >= link["link_rtt_ms"]
        over = any(ends)
    outcome = env.outcome()
    flow, measured = outcome["flows"][0], outcome["links"][0]
    assert flow["goodput_mbps"] <= measured["utilisation"] * link["link_rate_mbps"] <= link["link_rate_mbps"]
    packet_ms = 12 / link["link_rate_mbps"]
    full_ms = link["link_buffer_bdp"] * link["link_rtt_ms"] + 2 * packet_ms
    # The percentile is the upper end of a bucket of 1/64.
    assert (measured["queue_delay_p95_ms"] or 0) <= full_ms * (1 + 1 / 32)
    sent = measured["served_packets"]
    assert measured["lost_packets"] <= sent * link["link_loss"] + 6 * (sent * link["link_loss"]) ** 0.5 + 3


def test_the_way_back_and_the_access_link_count() -> None:
    def told(**overrides: str) -> dict[str, float]:
        given = {"link.0.rate": "10 Mbit/s", "link.0.delay": "20 ms", "link.0.loss": "0.01"}
        queue = {"link.0.queue": "25 packets"}
        env = FlowEnv(
            WINDOW, overrides=given | queue | {key.replace("_", "."): v for key, v in overrides.items()}
        )
        return link_of(env, 1)

    at_all = {"link_rate_mbps": 10, "link_rtt_ms": 40, "link_buffer_bdp": 0.75, "link_loss": 0.01}
    assert told() == pytest.approx(at_all)
    assert told(link_0_back='{ delay = "10 ms" }')["link_rtt_ms"] == 30
    access = told(flow_0_access='{ rate = "5 Mbit/s", delay = "1 ms", loss = 0.5 }')
    # Its queue holds the sender back.
    assert access == pytest.approx({"link_rate_mbps": 5, "link_rtt_ms": 42, "link_loss": 0.505})
    back = '{ rate = "8 Mbit/s", delay = "20 ms", loss = 0.02, queue = "1 bdp" }'
    reverse = FlowEnv(WINDOW, overrides={"link.0.back": back, "flow.0.reverse": True})
    drawn = link_of(FlowEnv(WINDOW), 1)["link_rtt_ms"] / 2 + 20
    assert list(link_of(reverse, 1).values()) == pytest.approx([8, drawn, 1, 0.02])
    assert told(link_0_queue="37500 B")["link_buffer_bdp"] == 0.75
    assert "link_buffer_bdp" not in told(link_0_queue="fq-codel")
    assert "link_buffer_bdp" not in told(link_0_queue="unlimited")
    assert "link_loss" not in told(link_0_loss='{ kind = "periodic", every = 100 }')


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        (
            {"rate": '[{ at = "0 s", value = "5 Mbit/s" }, { at = "1 s", value = "9 Mbit/s" }]'},
            "`rate` changes",
        ),
        ({"delay": '[{ at = "0 s", value = "5 ms" }, { at = "1 s", value = "9 ms" }]'}, "`delay` changes"),
        ({"trace": "lte"}, "a `rate` or a `trace`, not both|cannot read"),
        (
            {"rate": "0.1 Mbit/s"},
            "on the smallest link that an episode may draw: .* holds at least one packet",
        ),
        ({"queue": "0.1 bdp"}, "on the smallest link that an episode may draw: .* holds at least one packet"),
        ({"queue": "100 B"}, "one full packet, 1500 bytes on this link, found 100 bytes"),
        ({"rate": "5"}, "unit"),
        ({"loss": 2}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_in_force_is_refused_everywhere(overrides: dict[str, Any], why: str) -> None:
    keys = {f"link.0.{key}": value for key, value in overrides.items()}

    def refusal(make: Any) -> str:
        with pytest.raises(InputError, match=why) as refused:
            make(WINDOW, overrides=keys)
        return str(refused.value)

    everywhere = (
        FlowEnv,
        FlowVectorEnv,
        FlowsEnv,
        lambda name, overrides: score(name, [1], overrides=overrides),
    )
    alone, *others = (refusal(make) for make in everywhere)
    # Several flows have lines of their own in the scenario that messages name.
    # `cwndlab score` names options.
    assert all(worded(other) == alone for other in others)


@pytest.mark.parametrize("queue", ["0.3 bdp", "1 bdp", "fq-codel", "20 packets"])
def test_a_queue_that_holds_a_packet_on_every_link_is_taken(queue: str) -> None:
    env = FlowEnv(WINDOW, overrides={"link.0.queue": queue})
    for seed in range(200):
        env.reset(seed=seed)


def test_scores_are_shares_of_what_is_in_force() -> None:
    overrides = {
        "link.0.rate": "5 Mbit/s",
        "link.0.delay": "20 ms",
        "link.0.queue": "1 bdp",
        "link.0.loss": "0",
    }
    rows = {row.name: row for row in score(WINDOW, [1, 2], overrides=overrides | {"duration": "20 s"})}
    cubic = rows["cubic"]
    # Headers and the start are what it lacks.
    assert cubic.goodput_share.mean == pytest.approx(0.93, abs=0.04)
    assert cubic.rtt_ratio.mean is not None
    assert 1.2 < cubic.rtt_ratio.mean <= 2.1
