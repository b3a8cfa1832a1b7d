"""Finds flows that wait for an agent outside, which only an environment has: a run would break off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.scenarios.scenario import Scenario

# The parameter that decides who decides, and its value for an agent outside; together as canonical JSON.
POLICY = "policy"
OUTSIDE = "outside"
WRITTEN = f'"{POLICY}":"{OUTSIDE}"'
WHY = (
    f'expected {POLICY} = "play" or "learn", found "{OUTSIDE}": '
    "an agent outside decides only in an environment (cwndlab list environments)"
)


def waiting(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """Yield an entry of the checker for each such flow of a scenario without errors.

    The Linux backend has no agents in a run, so its checker knows where these flows are written.
    """
    if WRITTEN not in scenario.canonical:
        return
    keys = {
        f"flow.{place}.cc" for place, flow in enumerate(scenario.resolved["flow"]) if _waits(scenario, flow)
    }
    report = scenario.engine.check(scenario.text, scenario.file, list(scenario.overrides), "linux")
    for entry in json.loads(report)["problems"]:
        if entry["key"] in keys and entry["severity"] == "error":
            text = entry["text"].replace(entry["message"], WHY)
            yield {**entry, "message": WHY, "text": text}


def _waits(scenario: Scenario, flow: dict[str, Any]) -> bool:
    # A controller in Python decides by itself, whatever it calls its parameters.
    cc = flow["cc"]
    return cc.get(POLICY) == OUTSIDE and cc["name"].rpartition(":")[2] not in scenario.engine.in_python()
