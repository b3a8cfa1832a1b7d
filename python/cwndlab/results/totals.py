"""One row of measures for a whole run: what all flows got together, and what the queue of one link cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.results.summary import Component
from cwndlab.statistics.measure import measure
from cwndlab.statistics.pareto import Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cwndlab.results.result import Result
    from cwndlab.scenarios.scenario import Scenario

    Outcome = Mapping[str, Any]

LINK_MEASURES = ("utilisation", "queue_delay_ms", "queue_delay_p95_ms")


def total(outcome: Outcome, link: str | None) -> dict[str, float | None]:
    """The totals of one seed; the queue is that of `link`.

    Flows and groups make up the whole as the declaration of each measure says: as a sum, or as a mean.
    """
    senders = [*outcome["flows"], *(outcome.get("groups") or [])]
    watched: Outcome = next((each for each in outcome["links"] if each["name"] == link), {})
    return {
        "goodput_mbps": _together("flow", senders, "goodput_mbps"),
        "rtt_ms": _together("flow", outcome["flows"], "rtt_ms"),
        **{key: watched.get(key) for key in LINK_MEASURES},
        "retransmitted_packets": _together("flow", senders, "retransmitted_packets"),
        "timeouts": _together("flow", senders, "timeouts"),
        "completion_p95_ms": _together("group", outcome.get("groups") or [], "completion_p95_ms"),
        "jain": outcome.get("jain"),
    }


def total_of(result: Result, link: str | None) -> Component:
    """The totals of a result, over its seeds."""
    rows = [total(run.outcome, link) for run in result.runs]
    keys = rows[0] if rows else {}
    return Component("all", None, False, {key: measure(row[key] for row in rows) for key in keys})


def checked_link(scenario: Scenario, link: str | None) -> str | None:
    """The link of this name; raises `InputError` if the scenario has none."""
    known = [
        name
        for each in scenario.resolved["link"]
        for name in (each["name"], *([f"{each['name']}.back"] if each["back"] else []))
    ]
    if link is not None and link not in known:
        raise InputError(f"--link {link}: no such link; there are: {', '.join(known)}")
    return link


def busiest_link(results: Sequence[Result]) -> str | None:
    """The link whose queue delayed packets most, on average over all runs of all results."""
    delays: dict[str, list[float]] = {}
    for link in (link for result in results for run in result.runs for link in run.outcome["links"]):
        if link["queue_delay_ms"] is not None:
            delays.setdefault(link["name"], []).append(link["queue_delay_ms"])
    return max(delays, key=lambda name: sum(delays[name]) / len(delays[name]), default=None)


def tradeoff(settings: Mapping[str, str], total: Component) -> Point:
    """What is weighed against each other: queueing delay and goodput.

    A figure has a colour for each value of the first setting and a marker for those of the others.
    """
    first, *others = settings.values()
    label = ", ".join(settings.values())
    measures = total.measures
    return Point(label, first, ", ".join(others), measures["queue_delay_ms"], measures["goodput_mbps"])


def _values(components: Iterable[Outcome], key: str) -> list[float]:
    return [component[key] for component in components if component.get(key) is not None]


def _together(kind: str, components: Iterable[Outcome], key: str) -> float | None:
    """One value of all components that have one."""
    values = _values(components, key)
    if SHIPPED.measures[kind][key]["together"] == "sum":
        return sum(values)
    return sum(values) / len(values) if values else None
