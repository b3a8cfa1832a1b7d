"""Makes a run in another process, and checks that the worker has what the run needs.

A job contains the text of its scenario. The engine, the scenario's files and its controllers in Python are
not sent: the worker finds its own under the same names, and their hashes must equal the caller's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cwndlab.controllers import loading
from cwndlab.engine.selection import named
from cwndlab.errors import InputError
from cwndlab.linux.backend import engine_of
from cwndlab.running.job import Job, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.engine import Engine
    from cwndlab.engine.origins import Origin, Registration
    from cwndlab.running.cache import CachedRun
    from cwndlab.scenarios.scenario import Scenario

CANNOT_TRAVEL = "a worker cannot load this controller"


@dataclass(frozen=True)
class NeededController:
    """A controller in Python: the hash of its code, and the file or module that registers it."""

    name: str
    sha256: str
    registered_by: str


@dataclass(frozen=True)
class Needs:
    """The needs of a scenario's runs: the engine, the scenario's files, its controllers in Python."""

    engine: str
    backend: str
    engine_sha256: str
    files: tuple[tuple[str, str], ...]
    controllers: tuple[NeededController, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> Needs:
        """Return the needs of a scenario. Raises `InputError` if a worker could not serve it."""
        engine = scenario.engine
        in_python = engine.in_python()
        controllers = tuple(
            _needed(each, in_python[each.name]) for each in scenario.controllers if each.name in in_python
        )
        return cls(engine.name, engine.backend, engine.sha256, tuple(_files(scenario.resolved)), controllers)


def run_in_worker(needs: Needs, job: Job) -> CachedRun:
    """Make a run in the process of a worker. Raises `InputError` if the worker lacks what the run needs."""
    engine = _engine(needs)
    _check_files(needs, job, engine)
    return simulate(job, engine, engine.RunToken())


def _needed(origin: Origin, registration: Registration) -> NeededController:
    if registration.registered_by is None:
        reason = "it is defined in a script or at a prompt; put it into its own file and import that"
        raise InputError(f"{origin.name}: {CANNOT_TRAVEL}: {reason}")
    if registration.sha256() != origin.code_sha256:
        reason = "its code cannot be hashed, because it may execute text that is not in a module"
        raise InputError(f"{origin.name}: {CANNOT_TRAVEL}: {reason}")
    return NeededController(origin.name, origin.code_sha256, registration.registered_by)


def _files(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files of a resolved scenario (traces, delays and weights), each with its hash."""
    if isinstance(value, dict):
        if {"file", "sha256"} <= value.keys():
            yield value["file"], value["sha256"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _files(each)


def _engine(needs: Needs) -> Engine:
    """Return the engine of this process, with the controllers loaded."""
    engine = named(needs.engine)
    try:
        engine = engine_of(needs.backend, engine)
    except InputError as error:
        raise InputError(f"the worker: {error}") from None
    if engine.sha256 != needs.engine_sha256:
        raise InputError(
            f"{needs.engine}: the worker has a different build from the caller; install the same one in both"
        )
    for needed in needs.controllers:
        if not _has(engine, needed):
            loading.load([needed.registered_by])
        if not _has(engine, needed):
            raise InputError(
                f"{needed.name}: {needed.registered_by} has different code on the worker and on the caller"
            )
    return engine


def _has(engine: Engine, needed: NeededController) -> bool:
    registration = engine.in_python().get(needed.name)
    return registration is not None and _sha256(registration) == needed.sha256


@cache
def _sha256(registration: Registration) -> str:
    """Hash the code once per worker, because hashing takes longer than a short run."""
    return registration.sha256()


def _check_files(needs: Needs, job: Job, engine: Engine) -> None:
    if not needs.files:
        return
    try:
        resolved = json.loads(engine.resolve(job.text, job.file, list(job.overrides)))
    except ValueError as error:
        raise InputError(f"the worker cannot read the scenario: {error}") from None
    for name, _ in set(needs.files) - set(_files(resolved)):
        raise InputError(f"{name}: this file differs between the worker and the caller")
