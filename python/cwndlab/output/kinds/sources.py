"""A scenario in `runs.json`, and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cwndlab.engine.origins import Origin
from cwndlab.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


def described(scenario: Scenario) -> dict[str, Any]:
    """The scenario as it was given, and all that was in force.

    Its traces, and its controllers in Python, may be gone when it is read.
    """
    return {
        "file": scenario.file,
        "text": scenario.text.decode(),
        "overrides": scenario.overrides,
        "canonical": scenario.canonical,
        "controllers": [asdict(each) for each in scenario.controllers],
    }


def restored(source: Mapping[str, Any]) -> Scenario:
    """The scenario; neither the simulator nor this process is asked about it."""
    overrides = tuple((key, value) for key, value in source["overrides"])
    scenario = Scenario(source["text"].encode(), source["file"], overrides)
    # In the place of cached properties.
    scenario.__dict__["canonical"] = source["canonical"]
    controllers = [Origin(**each) for each in source.get("controllers", [])]
    scenario.__dict__["controllers"] = controllers
    return scenario
