"""Scenarios and values as programs give them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.scenarios import scenario

if TYPE_CHECKING:
    import os

    # A path, the text of a scenario (anything with a line break), or a dictionary with its keys.
    Source = str | os.PathLike[str] | Mapping[str, Any]
    Overrides = Mapping[str, Any]


def loaded(source: Source, overrides: Overrides | None = None) -> scenario.Scenario:
    """The scenario that a program means."""
    changes = written_overrides(overrides)
    if isinstance(source, Mapping):
        return scenario.from_mapping(source, changes)
    if isinstance(source, str) and "\n" in source:
        return scenario.Scenario(source.encode(), "<text>", changes)
    return scenario.load(Path(source), changes)


def written_overrides(overrides: Overrides | None) -> tuple[scenario.Override, ...]:
    """Overrides as `--set` takes them."""
    return tuple((key, written(value)) for key, value in (overrides or {}).items())


def written(value: Any) -> str:
    """A value as `--set` takes it; the forms of JSON are those of TOML here."""
    return value if isinstance(value, str) else json.dumps(value)
