"""The units of measures."""

from __future__ import annotations

from functools import cache

from cwndlab.engine import SHIPPED

# The unit at the end of the name of a measure that is not declared.
ENDINGS = {
    "mbps": "Mbit/s",
    "ms": "ms",
    "s": "s",
    "segments": "segments",
    "packets": "packets",
    "bytes": "bytes",
}


@cache
def unit(measure: str) -> str:
    """Return the unit of a measure as it is declared, or else as its name ends; empty if it has none."""
    declared = (measures[measure]["unit"] for measures in SHIPPED.measures.values() if measure in measures)
    return str(next(declared, ENDINGS.get(measure.rpartition("_")[2], "")))
