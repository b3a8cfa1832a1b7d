"""Describes a resolved scenario in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import catalogue
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.engine import Engine

Resolved = dict[str, Any]

# The start of a recording that is drawn by seed.
RANDOM = "random"


def outline(resolved: Resolved) -> list[str]:
    """Return lines: duration and flows first, then the rate, delay and queue of each link."""
    counts = {"flow": _flows(resolved), "group": _groups(resolved), "link": len(resolved["link"])}
    parts = [counted(count, kind) for kind, count in counts.items() if count]
    algorithms = ", ".join(dict.fromkeys(flow["cc"]["name"] for flow in resolved["flow"]))
    head = f"{resolved['duration']}, {', '.join(parts)}; {algorithms}; profile {resolved['profile']}"
    return [head, *(line for link in resolved["link"] for line in _link(link))]


def varying(resolved: Resolved, engine: Engine) -> str:
    """Return the random parts of this scenario, which differ between two seeds."""
    return ", ".join(_random_parts(resolved, engine)) or "random choices of the algorithms"


def _flows(resolved: Resolved) -> int:
    return sum(len(flow["names"]) for flow in resolved["flow"] if not flow["arrivals"])


def _groups(resolved: Resolved) -> int:
    return sum(len(flow["names"]) for flow in resolved["flow"] if flow["arrivals"])


def _link(link: Resolved) -> Iterator[str]:
    yield f"link {link['name']}: {_direction(link)}"
    if link["back"]:
        yield f"link {link['name']}.back: {_direction(link['back'])}"


def _direction(link: Resolved) -> str:
    delay = link["delay"]
    delayed = _replayed(delay) if isinstance(delay, dict) else _steps(delay)
    parts = [_served(link), f"delay {delayed}", f"queue {_queue(link['queue'])}"]
    if link["loss"]:
        parts.append(f"loss {_loss(link['loss'])}")
    return ", ".join(parts)


def _served(link: Resolved) -> str:
    if link.get("trace"):
        return f"trace {_replayed(link['trace'])}"
    return "unlimited rate" if link["rate"] == "unlimited" else _steps(link["rate"])


def _replayed(recording: Resolved) -> str:
    start = recording.get("start")
    begin = "" if start is None else f" from {'a random start' if start == RANDOM else start}"
    return f"{recording['file']}{begin}"


def _loss(loss: Any) -> str:
    if loss["kind"] == "random":
        return _steps(loss["rate"])
    return f"1 in {loss['every']}" if loss["kind"] == "periodic" else str(loss["kind"])


def _steps(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]['value']} ({counted(len(value), 'step')})"
    return str(value)


def _queue(queue: Any) -> str:
    if isinstance(queue, str):
        return queue
    size = queue.get("size")
    if "limit" in queue:
        size = counted(queue["limit"], "packet")
    if size is None:
        return str(queue["kind"])
    return f"{queue['kind']} {'1 packet' if size == '1 packets' else size}"


def _random_parts(resolved: Resolved, engine: Engine) -> Iterator[str]:
    if any(flow["jitter"] != "0 s" for flow in resolved["flow"]):
        yield "start jitter"
    # The Linux backend has none.
    if resolved["send_jitter"] != "0 s" and engine.backend == "sim":
        yield "send jitter"
    links = [link for _, link in keyed_links(resolved)]
    if any(isinstance(link["loss"], dict) and link["loss"]["kind"] != "periodic" for link in links):
        yield "random loss"
    if any(link["jitter"] != "0 s" or link["reorder"] for link in links):
        yield "delay jitter"
    if any(_begins_at_random(link.get(key)) for link in links for key in ("trace", "delay")):
        yield "start of a trace"
    yield from dict.fromkeys(chance for link in links for chance in _chances(link["queue"], engine))
    if _groups(resolved):
        yield "arrivals"


def _begins_at_random(recording: Any) -> bool:
    return isinstance(recording, dict) and recording.get("start") == RANDOM


def _chances(queue: Any, engine: Engine) -> Iterator[str]:
    """Yield the random part of a queue, as its kind declares it."""
    if isinstance(queue, dict):
        chance = catalogue.queue(engine, queue["kind"])["chance"]
        if chance and not queue.get(chance["unless"]):
            yield chance["what"]


def keyed_links(resolved: Resolved) -> Iterator[tuple[str, Resolved]]:
    """Yield all links, access links and return links among them, each with its key in the scenario."""
    links = [(f"link.{index}", link) for index, link in enumerate(resolved["link"])]
    for index, flow in enumerate(resolved["flow"]):
        links += _access_links(f"flow.{index}.access", flow["access"])
    for key, link in links:
        if link:
            yield key, link
            if link["back"]:
                yield f"{key}.back", link["back"]


def _access_links(key: str, access: Any) -> list[tuple[str, Any]]:
    """Return the access link, or those of each path of a multipath connection."""
    if isinstance(access, list):
        return [(f"{key}.{path}", link) for path, link in enumerate(access)]
    return [(key, access)]
