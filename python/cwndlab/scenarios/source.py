"""Converts scenarios and values from the arguments of programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.scenarios import scenario
from cwndlab.scenarios.axis import WITH, split
from cwndlab.scenarios.overrides import Override, parse_override, require_kept
from cwndlab.system.arguments import TEXT, Kind, require
from cwndlab.system.given import given_path

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    # A path, the text of a scenario (anything with a line break), or a dictionary with its keys.
    Source = str | os.PathLike[str] | Mapping[str, Any]
    Overrides = Mapping[str, Any]


VALUES = TEXT | Kind(
    "a list of values", lambda value: isinstance(value, Iterable) and not isinstance(value, Mapping)
)


def loaded(source: Source, overrides: Overrides | None = None) -> scenario.Scenario:
    """Return a scenario from a path, a text or a dictionary. Raises `InputError` if it cannot be read."""
    changes = written_overrides(overrides)
    if isinstance(source, Mapping):
        return scenario.from_mapping(source, changes)
    if isinstance(source, str) and "\n" in source:
        return scenario.Scenario(source.encode(), "<text>", changes)
    return scenario.load(given_path(source, "source"), changes)


def written_overrides(overrides: Overrides | None) -> tuple[Override, ...]:
    """Return overrides in the form of `--set`, checked like it. Raises `InputError` for what it cannot be."""
    if overrides is not None and not isinstance(overrides, Mapping):
        example = '{"flow.0.cc": "reno"}'
        raise InputError(f"overrides: expected a dictionary such as {example}, found {overrides!r}")
    changes = tuple(_override(key, value) for key, value in (overrides or {}).items())
    require_kept(changes, lambda override: f"overrides[{override[0]!r}]")
    return changes


def _override(key: object, value: Any) -> Override:
    if not isinstance(key, str) or not key.strip():
        raise InputError(f"overrides: expected keys such as 'flow.0.cc', found {key!r}")
    if "=" in key:
        raise InputError(f"overrides: expected a key without `=`, found {key!r}")
    text = written(value, key)
    if not text.strip():
        raise InputError(f"overrides[{key!r}]: expected a value, found an empty text")
    return parse_override(f"{key}={text}")


def written(value: Any, key: str) -> str:
    """Return the value of a key in the form of `--set`. Raises `InputError` if TOML cannot express it."""
    if isinstance(value, str):
        return value
    try:
        return _toml(value)
    except (TypeError, ValueError) as error:
        expected = "a text, a number, true or false, or a list or dictionary of them"
        raise InputError(f"{key}: expected {expected}, found {value!r} ({error})") from None


def written_values(key: str, values: str | Sequence[Any]) -> list[str]:
    """Return the values of a key in the form of `--over`: those of keys that vary together joined by `+`.

    A text is in this form already.
    """
    require(key, values, VALUES)
    if isinstance(values, str):
        return split(values)
    if WITH not in key:
        return [written(value, key) for value in values]
    for value in values:
        require(key, value, VALUES)
    return [
        value if isinstance(value, str) else WITH.join(written(part, key) for part in value)
        for value in values
    ]


def _toml(value: Any) -> str:
    if hasattr(value, "tolist"):
        # A number or an array of numpy.
        return _toml(value.tolist())
    if value is None:
        raise TypeError("TOML has no null: leave the key out")
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(each) for each in value)}]"
    # JSON and TOML write these alike, but for NaN and infinity, which no key takes.
    return json.dumps(value, allow_nan=False)
