"""One row of measures for a whole run: the totals of all flows, and the queue of one link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.results.summary import Component
from cwndlab.statistics.measure import Measure, measure
from cwndlab.statistics.pareto import Point

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cwndlab.results.result import Result
    from cwndlab.scenarios.scenario import Scenario

    Outcome = Mapping[str, Any]

LINK_MEASURES = ("utilisation", "queue_delay_ms", "queue_delay_p95_ms")
# The measures of `total`.
TOTALS = (
    "goodput_mbps",
    "rtt_ms",
    *LINK_MEASURES,
    "retransmitted_packets",
    "timeouts",
    "completion_p95_ms",
    "jain",
)
# More of these is better, less of the others.
MORE_IS_BETTER = ("goodput_mbps", "utilisation", "jain")
# Totals that some scenarios do not have: the kind of component that they need, how many of it, in words.
_NEEDED = {
    "rtt_ms": ("flow", 1, "a scenario with a flow that has no arrivals"),
    "completion_p95_ms": ("group", 1, "a scenario with a group (a flow with arrivals)"),
    "jain": ("flow", 2, "a scenario with two flows or more"),
}


def total(outcome: Outcome, link: str | None) -> dict[str, float | None]:
    """Return the totals of one seed, with the queue of `link`.

    The declaration of each measure determines whether its total is a sum or a mean over flows and groups.
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


def total_of(result: Result, link: str | None, looks: int = 1) -> Component:
    """Return the totals of a result over its seeds, with intervals that hold after so many looks at them."""
    rows = [total(run.outcome, link) for run in result.runs]
    keys = rows[0] if rows else {}
    return Component(
        "all", None, False, {key: measure(row[key] for row in rows).widened(looks) for key in keys}
    )


def checked_link(scenario: Scenario, link: str | None) -> str | None:
    """Return the link with this name. Raises `InputError` if there is none."""
    known = [
        name
        for each in scenario.resolved["link"]
        for name in (each["name"], *([f"{each['name']}.back"] if each["back"] else []))
    ]
    if link is not None and link not in known:
        raise InputError(f"--link {link}: no such link; expected one of: {', '.join(known)}")
    return link


def require_total(key: str, where: str, scenarios: Iterable[Scenario]) -> None:
    """Raise `InputError`, with `where` before the message, if no run of these scenarios has this total."""
    if key not in _NEEDED:
        return
    kind, count, expected = _NEEDED[key]
    most = max(len(scenario.components[kind]) for scenario in scenarios)
    if most < count:
        raise InputError(f"{where}: expected {expected}, found {most or 'none'}")


def busiest_link(results: Sequence[Result]) -> str | None:
    """Return the link with the largest mean queueing delay over all runs of all results."""
    delays: dict[str, list[float]] = {}
    for link in (link for result in results for run in result.runs for link in run.outcome["links"]):
        if link["queue_delay_ms"] is not None:
            delays.setdefault(link["name"], []).append(link["queue_delay_ms"])
    return max(delays, key=lambda name: sum(delays[name]) / len(delays[name]), default=None)


def tradeoff(settings: Mapping[str, str], totals: Mapping[str, Measure], label: str) -> Point:
    """Return a point of the trade-off between queueing delay and goodput.

    In a figure, the first setting (or the label, without settings) chooses the colour, and the other settings
    choose the marker.
    """
    first, *others = settings.values() or [label]
    return Point(label, first, ", ".join(others), totals["queue_delay_ms"], totals["goodput_mbps"])


def _values(components: Iterable[Outcome], key: str) -> list[float]:
    return [component[key] for component in components if component.get(key) is not None]


def _together(kind: str, components: Iterable[Outcome], key: str) -> float | None:
    """Return the total over the components that have a value."""
    values = _values(components, key)
    if SHIPPED.measures[kind][key]["together"] == "sum":
        return sum(values)
    return sum(values) / len(values) if values else None
