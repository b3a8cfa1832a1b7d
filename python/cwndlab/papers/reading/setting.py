"""The value of a scenario's key, in the unit that a paper prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.papers.language.place import expected_one_of
from cwndlab.papers.language.units import UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.scenarios.scenario import Scenario


def in_force(scenario: Scenario, key: str, unit: str) -> float:
    """Return the number of a scenario's key, such as `link.bottleneck.rate`, in the paper's unit.

    Raises `InputError` if there is no such key, or if its value is not a single number.
    """
    value = value_of(scenario.resolved, key)
    if isinstance(value, dict) and "rate" in value:
        value = value["rate"]
    match = re.fullmatch(r"([\d.e+-]+) ?(\S*)", str(value))
    if match is None:
        raise InputError(f"{key}: expected a single number, found {value!r}")
    return float(match[1]) * _size(match[2]) / _size(unit)


def value_of(resolved: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted key. Each part is a key, or the name or index of an entry in a list.

    Raises `InputError` if there is no such key.
    """
    found: Any = resolved
    for part in key.split("."):
        inside = _entries(found)
        if part not in inside:
            raise InputError(f"key {key}: {expected_one_of(inside, part)}")
        found = inside[part]
    return found


def _entries(found: Any) -> dict[str, Any]:
    """Return the possible next parts of a key. For a list, these are the names and indices of its entries."""
    if isinstance(found, list):
        named = {
            name: each
            for each in reversed(found)
            if isinstance(each, dict)
            for name in (each.get("name"), *each.get("names", ()))
            if isinstance(name, str)
        }
        return {**{str(place): each for place, each in enumerate(found)}, **named}
    return dict(found) if isinstance(found, dict) else {}


def _size(unit: str) -> float:
    return UNITS[unit].size if unit in UNITS else 1
