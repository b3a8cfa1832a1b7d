"""Outcomes as the simulator gives them, made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.api.results import Result
from cwndlab.results.detail import Detail, Distribution
from cwndlab.results.recording import Recording, SeriesTable
from cwndlab.results.seed_run import SeedRun
from cwndlab.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.recording import Column


RESOLVED: dict[str, Any] = {
    "name": "made by hand",
    "profile": "linux",
    "duration": "50 s",
    "send_jitter": None,
    "link": [
        {
            "name": "bottleneck",
            "rate": [{"at": "0 s", "value": "100 Mbit/s"}, {"at": "9 s", "value": "1 Mbit/s"}],
            "delay": "30 ms",
            "loss": {"kind": "random", "rate": 0.01},
            "queue": {"kind": "droptail", "size": "500 packets"},
            "jitter": "0 s",
            "reorder": None,
            "back": None,
        }
    ],
    "flow": [
        {"names": ["a", "b"], "cc": {"name": "cubic"}, "jitter": "10 ms", "access": None, "arrivals": None}
    ],
}


def flow(name: str, goodput: float, **changes: Any) -> dict[str, Any]:
    """A flow that went well."""
    return {
        "name": name,
        "cc": "cubic",
        "goodput_mbps": goodput,
        "rtt_ms": 88.25,
        "rtt_p95_ms": 101.5,
        "retransmitted_packets": 1200 + int(10 * goodput),
        "timeouts": 0,
        "fast_recoveries": int(goodput) % 7,
        "completion_s": None,
        "degraded": False,
        **changes,
    }


def link(name: str, **changes: Any) -> dict[str, Any]:
    """A link in use."""
    return {
        "name": name,
        "utilisation": 0.97,
        "dropped_packets": 0,
        "lost_packets": 0,
        "queue_delay_ms": 20.5,
        "queue_delay_p95_ms": 39.0,
        **changes,
    }


def outcome(flows: Sequence[dict[str, Any]], links: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """The outcome of one seed."""
    return {
        "flows": list(flows),
        "groups": [],
        "links": list(links),
        "changes": [],
        "jain": None,
        "jain_over_time": None,
        "work": {"events": 3},
    }


def detail(flows: Sequence[str] = ("flow-0", "flow-1"), seed: int = 1) -> Detail:
    """Intervals of 0.1 s, fairness in windows of 1 s, and a distribution of the RTT for each flow."""
    end: Column = np.arange(1, 51, dtype=np.float64) * 0.1
    values = {"goodput_mbps": 10 + end, "cwnd_segments": 50 + end + seed, "loss_events": 0 * end}
    return Detail(
        end,
        [SeriesTable("flow", name, dict(values)) for name in flows],
        np.arange(1, 6, dtype=np.float64),
        np.linspace(0.9, 1.0, 5) - 0.01 * seed,
        [
            Distribution("flow", name, "rtt_ms", np.array([60.0, 70.0, 80.0]), np.array([1.0, 2.0, seed]))
            for name in flows
        ],
    )


def recording(flows: int = 2, samples: int = 500) -> Recording:
    """Sawtooth windows, and a queue."""
    time = np.arange(samples, dtype=np.float64) * 0.01
    teeth: Column = 100 + 50 * (time % 1)
    missing = np.where(time < 0.1, np.nan, teeth)
    columns = {"cwnd_segments": teeth, "rtt_ms": missing, "in_flight_segments": teeth, "goodput_mbps": teeth}
    tables = [SeriesTable("flow", f"flow-{index}", dict(columns)) for index in range(flows)]
    queue = {"queue_packets": teeth, "queue_bytes": 1500 * teeth}
    return Recording(time, [*tables, SeriesTable("link", "bottleneck", queue)])


def result(outcomes: Sequence[dict[str, Any]], recorded: Recording | None = None) -> Result:
    """A result whose first seed was recorded."""
    runs = [
        SeedRun(
            seed,
            each,
            detail([flow["name"] for flow in each["flows"]], seed),
            recorded if seed == 1 else None,
            reused=False,
        )
        for seed, each in enumerate(outcomes, start=1)
    ]
    scenario = Scenario(b"", "made.toml")
    # What the cached property would ask the extension for.
    scenario.__dict__["canonical"] = json.dumps(RESOLVED)
    return Result(scenario, runs)
