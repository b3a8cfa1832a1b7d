"""A scenario in one line."""

from __future__ import annotations

from typing import Any


def outline(resolved: dict[str, Any]) -> str:
    """Say how much a resolved scenario holds."""
    links, flows = resolved.get("links") or [], resolved.get("flows") or []
    return f"{len(flows)} flows, {len(links)} links"
