"""Run the seeds of a scenario, several at a time.

The simulator releases Python's lock while it runs, so threads are enough. Ctrl-C reaches the main thread,
which cancels the seeds that run by their tokens.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab import _native
from cwndlab.errors import RunFailedError
from cwndlab.recording import Recording
from cwndlab.store import Store, Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab.scenario import Scenario

# How often progress is told, and the longest that Ctrl-C waits to be seen.
POLL_S = 0.1


@dataclass(frozen=True)
class SeedRun:
    """The finished run of one seed; `reused` if it was not simulated now."""

    seed: int
    outcome: dict[str, Any]
    recording: Recording | None
    reused: bool


@dataclass(frozen=True)
class Batch:
    """The runs that finished, in the order of their seeds."""

    runs: list[SeedRun]
    interrupted: bool


@dataclass(frozen=True)
class _Job:
    scenario: Scenario
    store: Store
    seed: int
    record: bool
    token: _native.RunToken

    def run(self) -> SeedRun | None:
        """Reuse or simulate; None when cancelled."""
        stored = self.store.load(self.seed, record=self.record)
        if stored is not None:
            return SeedRun(self.seed, stored.outcome, stored.recording, reused=True)
        try:
            stored = self._simulate()
        except InterruptedError:
            return None
        except (RuntimeError, ValueError) as error:
            raise RunFailedError(self.seed, str(error)) from None
        self.store.save(self.seed, stored)
        return SeedRun(self.seed, stored.outcome, stored.recording, reused=False)

    def _simulate(self) -> Stored:
        scenario = self.scenario
        outcome, recorded = _native.run_seed(
            scenario.text, scenario.file, list(scenario.overrides), self.seed, self.record, self.token
        )
        recording = None if recorded is None else Recording.from_native(recorded)
        return Stored(json.loads(outcome), recording)


def run_seeds(
    scenario: Scenario,
    seeds: Sequence[int],
    store: Store,
    *,
    threads: int | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> Batch:
    """Run the seeds, the first of them with recording; tell `watch` the share done, 0 to 1.

    The first failure ends the others and is raised as `RunFailedError`. Ctrl-C ends the batch with what is
    finished.
    """
    jobs = [_Job(scenario, store, seed, index == 0, _native.RunToken()) for index, seed in enumerate(seeds)]
    interrupted = False
    with ThreadPoolExecutor(threads or available_cores(), thread_name_prefix="seed") as pool:
        futures = {pool.submit(job.run): job for job in jobs}
        try:
            _follow(futures, watch)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            for job in jobs:
                job.token.cancel()
            pool.shutdown(wait=True, cancel_futures=True)
    finished = (future.result() for future in futures if not future.cancelled())
    return Batch([run for run in finished if run is not None], interrupted)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _follow(futures: dict[Future[SeedRun | None], _Job], watch: Callable[[float], None]) -> None:
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_S, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        finished = len(futures) - len(pending)
        watch((finished + sum(futures[future].token.progress for future in pending)) / len(futures))
