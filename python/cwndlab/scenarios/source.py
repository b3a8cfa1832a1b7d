"""Converts scenarios and values from the arguments of programs."""

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
    """Return a scenario from a path, a text or a dictionary. Raises `InputError` if it cannot be read."""
    changes = written_overrides(overrides)
    if isinstance(source, Mapping):
        return scenario.from_mapping(source, changes)
    if isinstance(source, str) and "\n" in source:
        return scenario.Scenario(source.encode(), "<text>", changes)
    return scenario.load(Path(source), changes)


def written_overrides(overrides: Overrides | None) -> tuple[scenario.Override, ...]:
    """Return overrides in the form of `--set`."""
    return tuple((key, written(value)) for key, value in (overrides or {}).items())


def written(value: Any) -> str:
    """Return a value in the form of `--set`."""
    return value if isinstance(value, str) else _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    # JSON and TOML write these alike.
    return json.dumps(value)
