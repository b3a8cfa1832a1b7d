"""Scenarios of any size, for measurements of what size costs. Each has the keys of a scenario file."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]

# Flows start within this time, so that they do not act in step.
JITTER = "1 s"


def one_link(flows: int, mbps: int, delay_ms: int, duration_s: int, jitter: str = JITTER) -> Table:
    """Return a link that CUBIC flows share."""
    return {
        "name": f"{flows} flows",
        "duration": f"{duration_s} s",
        "link": [_link("l", mbps, delay_ms)],
        "flow": [{**_flows("f", ["l"], flows), "jitter": jitter}],
    }


def parking_lot(links: int, long: int, cross: int, mbps: int, delay_ms: int, duration_s: int) -> Table:
    """Return links in a row: `long` CUBIC flows cross all of them, and `cross` others each of them."""
    names = [f"l{index + 1}" for index in range(links)]
    return {
        "name": f"parking lot of {links} links",
        "duration": f"{duration_s} s",
        "link": [_link(name, mbps, delay_ms) for name in names],
        "flow": [_flows("long", names, long), *(_flows(f"cross-{name}", [name], cross) for name in names)],
    }


def _link(name: str, mbps: int, delay_ms: int) -> Table:
    return {"name": name, "rate": f"{mbps} Mbit/s", "delay": f"{delay_ms} ms", "queue": "1 bdp"}


def _flows(name: str, path: list[str], count: int) -> Table:
    return {"name": name, "count": count, "cc": "cubic", "path": path, "jitter": JITTER}
