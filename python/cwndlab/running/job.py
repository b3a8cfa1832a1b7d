"""A run to be made, as a value, and the function that makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import OutputError
from cwndlab.results.detail import Detail
from cwndlab.results.recording import Recording
from cwndlab.running.cache import CachedRun

if TYPE_CHECKING:
    from cwndlab._native import RunToken
    from cwndlab.engine import Engine
    from cwndlab.running.exports import Exports
    from cwndlab.scenarios.overrides import Override
    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True)
class Job:
    """A scenario, a seed, whether the run is recorded, and what it exports."""

    text: bytes
    file: str
    overrides: tuple[Override, ...]
    seed: int
    record: bool
    exports: Exports | None = None

    @classmethod
    def of(cls, scenario: Scenario, seed: int, *, record: bool, exports: Exports | None = None) -> Job:
        """Return the job of a scenario with a seed."""
        return cls(scenario.text, scenario.file, scenario.overrides, seed, record, exports)


def simulate(job: Job, engine: Engine, token: RunToken) -> CachedRun:
    """Make the run. The token reports its progress, and can cancel it.

    Raises `OutputError` if an export cannot be written.
    """
    exports = {} if job.exports is None else job.exports.folders()
    try:
        outcome, detail, recorded = engine.run_seed(
            job.text, job.file, list(job.overrides), job.seed, job.record, token, **exports
        )
    except InterruptedError:
        raise
    except OSError as error:
        if job.exports is None:
            raise
        raise OutputError(str(error)) from None
    recording = None if recorded is None else Recording.from_native(recorded)
    return CachedRun(json.loads(outcome), Detail.from_native(detail), recording)
