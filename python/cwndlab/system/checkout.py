"""The source checkout that contains this package, if there is one."""

from __future__ import annotations

from pathlib import Path


def root() -> Path:
    """Return the folder above `python/`."""
    return Path(__file__).resolve().parents[3]
