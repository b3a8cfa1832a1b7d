"""Writes a scenario into `runs.json`, and restores it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cwndlab.engine.origins import Origin
from cwndlab.scenarios.scenario import InForce, Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


def described(scenario: Scenario) -> dict[str, Any]:
    """Return the text of the scenario, and every setting that was in force.

    Its traces and its Python controllers may be gone when it is restored.
    """
    return {
        "file": scenario.file,
        "text": scenario.text.decode(),
        "overrides": scenario.overrides,
        "canonical": scenario.canonical,
        "controllers": [asdict(each) for each in scenario.controllers],
    }


def restored(source: Mapping[str, Any]) -> Scenario:
    """Return the scenario, without checking it in this process or in the simulator."""
    overrides = tuple((key, value) for key, value in source["overrides"])
    controllers = [Origin(**each) for each in source.get("controllers", [])]
    in_force = InForce(source["canonical"], controllers)
    return Scenario(source["text"].encode(), source["file"], overrides, in_force=in_force)
