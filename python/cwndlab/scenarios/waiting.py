"""Finds flows that wait for an agent outside, which only an environment has: a run would break off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.engine import Engine

# The parameter that decides who decides, and its value for an agent outside; together as canonical JSON.
POLICY = "policy"
OUTSIDE = "outside"
WRITTEN = f'"{POLICY}":"{OUTSIDE}"'
WHY = (
    f'expected {POLICY} = "play" or "learn", found "{OUTSIDE}": '
    "an agent outside decides only in an environment (cwndlab list environments)"
)


def waiting(
    engine: Engine, text: bytes, file: str, overrides: list[tuple[str, str]], canonical: str
) -> Iterator[dict[str, Any]]:
    """Yield an entry of the checker for each such flow of a scenario without errors.

    `canonical` has its settings. The Linux backend has no agents in a run, so its checker knows where these
    flows are written.
    """
    if WRITTEN not in canonical:
        return
    flows = json.loads(canonical)["flow"]
    keys = {f"flow.{place}.cc" for place, flow in enumerate(flows) if _waits(engine, flow["cc"])}
    for entry in json.loads(engine.check(text, file, overrides, "linux"))["problems"]:
        if entry["key"] in keys and entry["severity"] == "error":
            yield {**entry, "message": WHY, "text": entry["text"].replace(entry["message"], WHY)}


def _waits(engine: Engine, cc: dict[str, Any]) -> bool:
    # A controller in Python decides by itself, whatever it calls its parameters.
    return cc.get(POLICY) == OUTSIDE and cc["name"].rpartition(":")[2] not in engine.in_python()
