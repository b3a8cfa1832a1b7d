"""What a run costs as it grows: in flows, in links, or in simulated time."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.benchmark.networks import one_link, parking_lot
from cwndlab.benchmark.process import in_own_process, peak_rss_mb
from cwndlab.engine import in_use
from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.scenarios.scenario import from_mapping
from cwndlab.statistics.power_law import PowerLaw, power_law

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab.benchmark.networks import Table
    from cwndlab.scenarios.scenario import Scenario

# A repeat of a point makes as many runs as this takes, because the smallest ones take microseconds.
LEAST_S = 0.1


@dataclass(frozen=True, slots=True)
class Axis:
    """What grows, where it is measured, and the scenario of each size."""

    name: str
    # On the axis of the figure.
    label: str
    sizes: Sequence[int]
    scenario: Callable[[int], Table]


# A flow's share of the link, its RTT, and so its window and its work are the same in each size. So is the
# load of a link in the parking lot: one flow crosses all links, and one more crosses each of them.
AXES = {
    axis.name: axis
    for axis in (
        Axis(
            "flows",
            "number of flows",
            (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000),
            lambda flows: one_link(flows, mbps=flows, delay_ms=50, duration_s=5),
        ),
        Axis(
            "links",
            "number of links",
            (1, 2, 5, 10, 20, 50, 100),
            lambda links: parking_lot(links, long=1, cross=1, mbps=50, delay_ms=5, duration_s=10),
        ),
        Axis(
            "duration",
            "simulated time (s)",
            (1, 3, 10, 30, 100, 300, 1_000),
            lambda seconds: one_link(1, mbps=100, delay_ms=30, duration_s=seconds, jitter="10 ms"),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of a run of one size."""

    size: int
    cpu_s: float
    # Those that links served: a packet that crosses two links counts twice.
    packets: int
    events: int
    peak_rss_mb: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the point, with its cost for each packet and event."""
        return {
            "size": self.size,
            "cpu_s": self.cpu_s,
            "packets": self.packets,
            "events": self.events,
            "ns_per_packet": self.cpu_s * 1e9 / self.packets,
            "ns_per_event": self.cpu_s * 1e9 / self.events,
            "peak_rss_mb": self.peak_rss_mb,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """The costs of all sizes, and the power of the size that the CPU time grows with."""

    axis: Axis
    points: Sequence[Point]
    fit: PowerLaw

    def to_json(self) -> dict[str, Any]:
        """Return the curve as in the JSON document of `bench`."""
        return {
            "name": self.axis.name,
            "exponent": self.fit.exponent.to_json(),
            "points": [point.to_json() for point in self.points],
        }


def chosen(wanted: Sequence[str]) -> list[Axis]:
    """Return these axes. Raises `InputError` if one is unknown."""
    for name in wanted:
        if name not in AXES:
            hint = did_you_mean(name, list(AXES), f"expected one of {', '.join(AXES)}")
            raise InputError(f"--curve {name}: no such curve; {hint}")
    return [AXES[name] for name in dict.fromkeys(wanted)]


def measure(axis: Axis, repeats: int, watch: Callable[[float], None]) -> Curve:
    """Run each size, and keep the best of at least `repeats` runs by CPU time."""
    points = []
    for index, size in enumerate(axis.sizes):
        points.append(Point(**in_own_process("curves", axis.name, size, repeats)))
        watch((index + 1) / len(axis.sizes))
    return Curve(axis, points, power_law([point.size for point in points], [point.cpu_s for point in points]))


def _measured(axis: Axis, size: int, repeats: int) -> dict[str, Any]:
    """Run one size in this process."""
    # The first run loads NumPy.
    _run(from_mapping(axis.scenario(axis.sizes[0])))
    scenario = from_mapping(axis.scenario(size))
    times: list[float] = []
    while len(times) < repeats or sum(times) < repeats * LEAST_S:
        began = time.thread_time()
        outcome = _run(scenario)
        times.append(time.thread_time() - began)
    measured = json.loads(outcome)
    return {
        "size": size,
        "cpu_s": min(times),
        "packets": sum(link["served_packets"] for link in measured["links"]),
        "events": measured["work"]["events"],
        "peak_rss_mb": peak_rss_mb(),
    }


def _run(scenario: Scenario) -> str:
    engine = in_use()
    outcome, _, _ = engine.run_seed(scenario.text, scenario.file, [], 1, False, engine.RunToken())
    return outcome


if __name__ == "__main__":
    print(json.dumps(_measured(AXES[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]))))
