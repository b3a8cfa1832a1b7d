"""The components of a scenario in the JSON documents of runs, comparisons and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.results.crowd import crowds
from cwndlab.results.summary import is_of_a_flow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cwndlab.results.summary import Component, Summary

# A document lists at most this many flows and subflows, unless the user asks for every flow: the tables hold
# the same in a hundredth of the time and a tenth of the space.
MOST_LISTED = 10_000


def is_listed(summary: Summary, *, every_flow: bool) -> bool:
    """Whether a document lists the flows of a scenario one by one."""
    return every_flow or summary.senders <= MOST_LISTED


def measured(summary: Summary, *, every_flow: bool = False, looks: int = 1) -> dict[str, Any]:
    """Return every component with its measures. If there are too many flows, crowds replace them.

    The intervals of components hold after this number of `looks` at the seeds.
    """
    listed = is_listed(summary, every_flow=every_flow)

    def shown(components: Iterable[Component]) -> list[dict[str, Any]]:
        return [each.widened(looks).to_json() for each in components]

    return {
        **({"flows": shown(summary.flows)} if listed else _left_out(summary)),
        "groups": shown(summary.groups),
        "links": shown(link for link in summary.links if listed or not is_of_a_flow(link.name)),
        "changes": shown(summary.changes),
        "jain": summary.jain.widened(looks).to_json(),
        "jain_over_time": summary.jain_over_time.widened(looks).to_json(),
    }


def _left_out(summary: Summary) -> dict[str, Any]:
    return {
        "flows": None,
        "flows_left_out": summary.flow_count,
        "algorithms": [crowd.to_json() for crowd in crowds(summary.outcomes)],
    }
