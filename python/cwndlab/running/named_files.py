"""The files that a scenario names (traces, delays, weights), and the same scenario with files elsewhere."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.scenarios.source import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cwndlab.running.job import Job
    from cwndlab.scenarios.overrides import Override
    from cwndlab.scenarios.scenario import Scenario

# Traces that ship, which every build has.
SHIPPED = "synthetic:"
# Keys whose values are names of other things, and never of a file.
NAMES = ("name", "path")


def named_files(resolved: Any) -> dict[str, str]:
    """Return the hash of each file of a resolved scenario, by the name that the scenario gives it."""
    return {name: sha256 for name, sha256 in _named(resolved) if not name.startswith(SHIPPED)}


def content(scenario: Scenario, name: str, sha256: str) -> bytes:
    """Return the content of a file of a scenario. Raises `InputError` if it has changed since it was read."""
    for path in (Path(scenario.file).parent / name, Path(name)):
        try:
            found = path.read_bytes()
        except OSError:
            continue
        if hashlib.sha256(found).hexdigest() == sha256:
            return found
    raise InputError(f"{name}: this file has changed since the scenario was read")


def meaning(canonical: str) -> str:
    """Return a hash of a resolved scenario in which files count by their content, not by their names."""

    def anonymous(value: Any) -> Any:
        if isinstance(value, dict):
            kept = value.keys() - ({"file"} if _is_file(value) else ())
            return {key: anonymous(value[key]) for key in kept}
        return [anonymous(each) for each in value] if isinstance(value, list) else value

    text = json.dumps(anonymous(json.loads(canonical)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def moved(job: Job, places: Mapping[str, Path]) -> Job:
    """Return the job with its files in these places. `places` has them by the names in the scenario."""
    import tomli_w

    def place(text: str) -> str:
        return str(places[text]) if text in places else text

    text = tomli_w.dumps(_with_texts(tomllib.loads(job.text.decode()), place))
    overrides = tuple(_moved(override, place) for override in job.overrides)
    return replace(job, text=text.encode(), overrides=overrides)


def _moved(override: Override, place: Callable[[str], str]) -> Override:
    key, value = override
    if key.rpartition(".")[2] in NAMES:
        return override
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        # Text needs no quotes here.
        return key, place(value)
    found = _with_texts(parsed, place)
    return override if found == parsed else (key, written(found, key))


def _with_texts(value: Any, place: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: each if key in NAMES else _with_texts(each, place) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each, place) for each in value]
    return place(value) if isinstance(value, str) else value


def _named(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if _is_file(value):
            yield value["file"], value["sha256"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _named(each)


def _is_file(value: Mapping[str, Any]) -> bool:
    return {"file", "sha256"} <= value.keys()
