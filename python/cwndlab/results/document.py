"""The components of a scenario in the JSON documents of runs, comparisons and sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.results.crowd import crowds
from cwndlab.results.summary import is_of_a_flow

if TYPE_CHECKING:
    from cwndlab.results.summary import Summary

# A document lists at most this many flows and subflows, unless the user asks for every flow: the tables hold
# the same in a hundredth of the time and a tenth of the space.
MOST_LISTED = 10_000


def is_listed(summary: Summary, *, every_flow: bool) -> bool:
    """Whether a document lists the flows of a scenario one by one."""
    return every_flow or summary.senders <= MOST_LISTED


def measured(summary: Summary, *, every_flow: bool = False) -> dict[str, Any]:
    """Return every component with its measures. If there are too many flows, crowds replace them."""
    listed = is_listed(summary, every_flow=every_flow)
    return {
        **({"flows": [flow.to_json() for flow in summary.flows]} if listed else _left_out(summary)),
        "groups": [group.to_json() for group in summary.groups],
        "links": [link.to_json() for link in summary.links if listed or not is_of_a_flow(link.name)],
        "changes": [change.to_json() for change in summary.changes],
        "jain": summary.jain.to_json(),
        "jain_over_time": summary.jain_over_time.to_json(),
    }


def _left_out(summary: Summary) -> dict[str, Any]:
    return {
        "flows": None,
        "flows_left_out": summary.flow_count,
        "algorithms": [crowd.to_json() for crowd in crowds(summary.outcomes)],
    }
