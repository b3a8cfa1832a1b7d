"""Refuses settings under which a flow never asks its agent: the agent would learn nothing, without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.scenarios.scenario import from_mapping
from cwndlab.scenarios.waiting import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.engine import Engine
    from cwndlab.scenarios.overrides import Override
    from cwndlab.scenarios.scenario import Scenario


def refuse_silent(
    engine: Engine, environment: str, given: Scenario | None, agents: Sequence[str], own: Sequence[Override]
) -> None:
    """Raise `InputError` if the user's own overrides take the decisions away from one of the agents.

    An environment gives its flows the algorithm and then applies the overrides; so does this, with all flows.
    `given` is the user's scenario, if there is one.
    """
    if not any(".cc" in key for key, _ in own):
        return
    entries = engine.read_catalogue()["environments"]
    algorithm = next(entry["algorithm"] for entry in entries if entry["name"] == environment)
    steering = (("flow.*.cc", algorithm), ("flow.*.cc.policy", OUTSIDE))
    try:
        flows = replace(given or _drawn(agents), overrides=(*steering, *own)).resolved["flow"]
    except ValueError:
        # Another flow is one that only Linux has, or that cannot have this algorithm.
        return
    # A subflow has an agent of its own: `a/1`.
    steered = {agent.partition("/")[0] for agent in agents}
    for place, flow in enumerate(flows):
        if steered.intersection(flow["names"]) and not _asks(flow["cc"], algorithm):
            raise InputError(
                f'flow.{place}.cc: expected {algorithm} with policy = "{OUTSIDE}", which asks the agent, '
                f"found {_told(flow['cc'])}"
            )


def _drawn(agents: Sequence[str]) -> Scenario:
    """Return a scenario with the flows of a drawn episode."""
    link = {"name": "bottleneck", "rate": "1 Mbit/s", "delay": "1 ms"}
    flow = [{"name": agent, "cc": "reno", "path": ["bottleneck"]} for agent in agents]
    return from_mapping({"duration": "10 s", "link": [link], "flow": flow})


def _asks(cc: dict[str, Any], algorithm: str) -> bool:
    return bool(cc["name"].rpartition(":")[2] == algorithm and cc["policy"] == OUTSIDE)


def _told(cc: dict[str, Any]) -> str:
    return f'{cc["name"]} with policy = "{cc["policy"]}"' if "policy" in cc else str(cc["name"])
