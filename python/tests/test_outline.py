"""Scenarios in words."""

from __future__ import annotations

from copy import deepcopy

from cwndlab.engine import SHIPPED
from cwndlab.scenarios.outline import outline, varying
from tests.samples import RESOLVED


def test_what_is_in_force() -> None:
    assert outline(RESOLVED) == [
        "50 s, 2 flows, 1 link; cubic; profile linux",
        "link bottleneck: 100 Mbit/s (2 steps), delay 30 ms, queue droptail 500 packets, loss 0.01",
    ]


def test_groups_traces_and_host_queues() -> None:
    changed = deepcopy(RESOLVED)
    changed["flow"][0] |= {"names": ["mice"], "arrivals": {"per_second": 3}}
    changed["link"][0] |= {"trace": {"file": "lte.down"}, "queue": "host"}
    assert outline(changed) == [
        "50 s, 1 group, 1 link; cubic; profile linux",
        "link bottleneck: trace lte.down, delay 30 ms, queue host, loss 0.01",
    ]
    assert "arrivals" in varying(changed, SHIPPED)


def test_what_differs_between_seeds() -> None:
    assert varying(RESOLVED, SHIPPED) == "start jitter, send jitter, random loss"
    still = deepcopy(RESOLVED)
    still["send_jitter"] = "0 s"
    still["flow"][0]["jitter"] = "0 s"
    still["link"][0]["loss"] = 0
    assert varying(still, SHIPPED) == "random choices of the algorithms"
    still["link"][0]["queue"] = {"kind": "fq-codel", "limit": 1, "perfect_hash": False}
    assert varying(still, SHIPPED) == "hashes of FQ-CoDel"
    assert outline(still)[1].endswith("queue fq-codel 1 packet")
    still["link"][0]["queue"] = {"kind": "ns3-default"}
    assert varying(still, SHIPPED) == "hashes of FQ-CoDel"
    still["link"][0]["queue"] = {"kind": "fq-codel", "limit": 1, "perfect_hash": True}
    assert varying(still, SHIPPED) == "random choices of the algorithms"


def test_an_access_links_return_direction_counts() -> None:
    changed = deepcopy(RESOLVED)
    back = {"loss": 0, "jitter": "1 ms", "reorder": None, "back": None, "queue": "host"}
    changed["flow"][0]["access"] = {**back, "jitter": "0 s", "back": back}
    assert "delay jitter" in varying(changed, SHIPPED)


def test_a_return_direction_of_its_own_is_told() -> None:
    changed = deepcopy(RESOLVED)
    queue = {"kind": "droptail", "size": "1 packets"}
    loss = {"kind": "periodic", "every": 9}
    changed["link"][0]["back"] = {"rate": "unlimited", "delay": "3 ms", "queue": queue, "loss": loss}
    told = "link bottleneck.back: unlimited rate, delay 3 ms, queue droptail 1 packet, loss 1 in 9"
    assert outline(changed)[2] == told
