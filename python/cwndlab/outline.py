"""A resolved scenario in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

Resolved = dict[str, Any]


def outline(resolved: Resolved) -> list[str]:
    """How long, which flows, and the rate, delay and queue of every link, one a line."""
    counts = {"flow": _flows(resolved), "group": _groups(resolved), "link": len(resolved["link"])}
    parts = [counted(count, kind) for kind, count in counts.items() if count]
    algorithms = ", ".join(dict.fromkeys(flow["cc"]["name"] for flow in resolved["flow"]))
    head = f"{resolved['duration']}, {', '.join(parts)}; {algorithms}; profile {resolved['profile']}"
    return [head, *(_link(link) for link in resolved["link"])]


def varying(resolved: Resolved) -> str:
    """What differs between two seeds of this scenario."""
    return ", ".join([*_random_parts(resolved), "any random choice of the algorithms"])


def _flows(resolved: Resolved) -> int:
    return sum(len(flow["names"]) for flow in resolved["flow"] if not flow["arrivals"])


def _groups(resolved: Resolved) -> int:
    return sum(len(flow["names"]) for flow in resolved["flow"] if flow["arrivals"])


def _link(link: Resolved) -> str:
    served = f"trace {link['trace']['file']}" if "trace" in link else _steps(link["rate"])
    return f"link {link['name']}: {served}, delay {_steps(link['delay'])}, queue {_queue(link['queue'])}"


def _steps(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]['value']} ({counted(len(value), 'step')})"
    return str(value)


def _queue(queue: Any) -> str:
    if isinstance(queue, str):
        return queue
    size = queue.get("size", queue.get("limit"))
    return queue["kind"] if size is None else f"{queue['kind']} {size}"


def _random_parts(resolved: Resolved) -> Iterator[str]:
    if any(flow["jitter"] != "0 s" for flow in resolved["flow"]):
        yield "start jitter"
    if resolved["send_jitter"] != "0 s":
        yield "send jitter"
    links = list(_all_links(resolved))
    if any(isinstance(link["loss"], dict) and link["loss"]["kind"] != "periodic" for link in links):
        yield "random loss"
    if any(link["jitter"] != "0 s" or link["reorder"] for link in links):
        yield "delay jitter"
    if _groups(resolved):
        yield "arrivals"


def _all_links(resolved: Resolved) -> Iterator[Resolved]:
    for link in [*resolved["link"], *(flow["access"] for flow in resolved["flow"])]:
        if link:
            yield link
            if link["back"]:
                yield link["back"]
