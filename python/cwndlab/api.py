"""`cwndlab.run`: what the command does, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab import scenario
from cwndlab import seeds as seeds_
from cwndlab.errors import InputError
from cwndlab.manifest import extension_hash
from cwndlab.result import Result
from cwndlab.runner import run_seeds
from cwndlab.store import Store, default_folder

if TYPE_CHECKING:
    import os

    Source = str | os.PathLike[str] | Mapping[str, Any]


def run(
    source: Source,
    seeds: int | Iterable[int] = 5,
    overrides: Mapping[str, Any] | None = None,
    threads: int | None = None,
    *,
    fresh: bool = False,
) -> Result:
    """Run a scenario and return its result.

    `source` is a path, the text of a scenario (anything with a line break), or a dictionary with the keys of
    a scenario file. `seeds` is how many (1 to that) or which. `overrides` maps keys such as `flow.0.cc` to
    values: numbers, true or false, lists of them, or texts as `--set` takes them. Finished runs are reused
    unless `fresh`.

    Raises `cwndlab.scenario.ScenarioError` with all problems if the scenario has any, and
    `cwndlab.errors.RunFailedError` if a run breaks off. Ctrl-C keeps the runs that are finished.
    """
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads: expected at least 1")
    experiment = _scenario(source, tuple((key, _shown(value)) for key, value in (overrides or {}).items()))
    experiment.validate()
    chosen = seeds_.counted(seeds) if isinstance(seeds, int) else seeds_.listed(seeds)
    store = Store(default_folder(), experiment.canonical, extension_hash(), fresh=fresh)
    batch = run_seeds(experiment, chosen, store, threads=threads)
    if batch.interrupted:
        raise KeyboardInterrupt
    return Result(experiment, batch.runs)


def _shown(value: Any) -> str:
    """A value as `--set` takes it; the forms of JSON are those of TOML here."""
    return value if isinstance(value, str) else json.dumps(value)


def _scenario(source: Source, overrides: tuple[scenario.Override, ...]) -> scenario.Scenario:
    if isinstance(source, Mapping):
        return scenario.from_mapping(source, overrides)
    if isinstance(source, str) and "\n" in source:
        return scenario.Scenario(source.encode(), "<text>", overrides)
    return scenario.load(Path(source), overrides)
