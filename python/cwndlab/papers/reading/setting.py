"""The value that a scenario has for a key, in the unit in which a paper prints it."""

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
    """The number that a scenario has for a key such as `link.bottleneck.rate`, in the paper's unit.

    Raises `InputError` if there is no such key, or if it holds no single number.
    """
    value = value_of(scenario.resolved, key)
    if isinstance(value, dict) and "rate" in value:
        value = value["rate"]
    match = re.fullmatch(r"([\d.e+-]+) ?(\S*)", str(value))
    if match is None:
        raise InputError(f"{key} = {value!r} is no single number")
    return float(match[1]) * _size(match[2]) / _size(unit)


def value_of(resolved: Mapping[str, Any], key: str) -> Any:
    """Follow a dotted key; a part is a key, the name of an entry, or its place.

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
    """What may follow in a key: of a list the names of its entries, then their places."""
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
