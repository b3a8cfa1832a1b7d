"""The source checkout that this package is in, if it is in one."""

from __future__ import annotations

from pathlib import Path


def root() -> Path:
    """The folder above `python/`."""
    return Path(__file__).resolve().parents[3]
