"""The value that a scenario has for a key, in the unit in which a paper prints it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from cwndlab.scenario import Scenario

# What one of each unit is in the unit that all of its kind are compared in: s, bit/s, packets or bytes.
_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "min": 60,
    "bit/s": 1,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "B/s": 8,
    "kB/s": 8e3,
    "MB/s": 8e6,
    "bytes": 1,
    "B": 1,
    "kB": 1e3,
    "MB": 1e6,
    "packets": 1,
}
_PRINTED = {
    "Mbps": "Mbit/s",
    "Gbps": "Gbit/s",
    "KBps": "kB/s",
    "MBps": "MB/s",
    "KB": "kB",
    "segments": "packets",
}


def in_force(scenario: Scenario, key: str, unit: str) -> float:
    """The number that a scenario has for a key such as `link.bottleneck.rate`, in the paper's unit.

    Raises `InputError` if there is no such key, or if it holds no single number.
    """
    value = _value(scenario.resolved, key)
    if isinstance(value, dict) and "rate" in value:
        value = value["rate"]
    match = re.fullmatch(r"([\d.e+-]+) ?(\S*)", str(value))
    if match is None:
        raise InputError(f"{key} = {value!r} is no single number")
    number = float(match[1]) * _UNITS.get(match[2], 1)
    if unit == "%":
        return 100 * number
    return number / _UNITS.get(_PRINTED.get(unit, unit), 1)


def _value(resolved: Any, key: str) -> Any:
    """Follow a dotted key; a part is a key, the name of an entry, or its place."""
    found = resolved
    for part in key.split("."):
        if isinstance(found, list):
            named = [each for each in found if part in (each.get("name"), *each.get("names", ()))]
            found = named[0] if named else found[int(part)] if part.isdecimal() else None
        else:
            found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            raise InputError(f"the scenario has no {key}")
    return found
