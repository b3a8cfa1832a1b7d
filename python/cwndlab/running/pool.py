"""Run scenarios over their seeds, several runs at a time.

The simulator releases Python's lock while it runs, so threads are enough; a controller in Python takes it for
each callback. Ctrl-C reaches the main thread, which cancels the runs by their tokens.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from cwndlab.errors import RunFailedError
from cwndlab.results.detail import Detail
from cwndlab.results.recording import Record, Recording
from cwndlab.results.seed_run import SeedRun
from cwndlab.running.cache import Cache, CachedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cwndlab._native import RunToken
    from cwndlab.scenarios.scenario import Scenario

# How often progress is told, and the longest that Ctrl-C waits to be seen.
POLL_S = 0.1

# How long a cancelled run may take to stop before its controller is torn out of what it does.
GRACE_S = 1.0


@dataclass(frozen=True)
class Work:
    """One scenario, the seeds to run it with, and where its finished runs are kept.

    `weight` is how long one of its runs takes beside those of other works.
    """

    scenario: Scenario
    seeds: Sequence[int]
    cache: Cache
    record: Record = Record.FIRST
    weight: float = 1


@dataclass(frozen=True)
class Batch:
    """The runs of one scenario that finished, in the order of their seeds."""

    runs: list[SeedRun]
    interrupted: bool


@dataclass(frozen=True)
class _Job:
    scenario: Scenario
    cache: Cache
    seed: int
    record: bool
    weight: float
    token: RunToken
    # Has the number of the thread that runs it, while it does.
    thread: list[int] = field(default_factory=list)

    def run(self) -> SeedRun | None:
        """Reuse or simulate; None when cancelled."""
        self.thread.append(threading.get_ident())
        try:
            return self._run()
        except InterruptedError:
            return None
        finally:
            self.thread.clear()

    def _run(self) -> SeedRun:
        cached = self.cache.load(self.seed, record=self.record)
        if cached is not None:
            return self._finished(cached, reused=True)
        try:
            cached = self._simulate()
        except (RuntimeError, ValueError) as error:
            raise RunFailedError(self.seed, str(error), self.scenario.setting) from None
        self.cache.save(self.seed, cached)
        return self._finished(cached, reused=False)

    def _finished(self, cached: CachedRun, *, reused: bool) -> SeedRun:
        # A recording that an earlier call asked for must not turn up in this one's files.
        recording = cached.recording if self.record else None
        return SeedRun(self.seed, cached.outcome, cached.detail, recording, reused)

    def _simulate(self) -> CachedRun:
        scenario = self.scenario
        outcome, detail, recorded = scenario.engine.run_seed(
            scenario.text, scenario.file, list(scenario.overrides), self.seed, self.record, self.token
        )
        recording = None if recorded is None else Recording.from_native(recorded)
        return CachedRun(json.loads(outcome), Detail.from_native(detail), recording)


_Futures = dict[Future[SeedRun | None], _Job]


def run_works(
    works: Sequence[Work], *, threads: int | None = None, watch: Callable[[float], None] = lambda _: None
) -> list[Batch]:
    """Run all seeds of all scenarios, one batch for each; tell `watch` the share done, 0 to 1.

    The first failure ends the others and is raised as `RunFailedError`. Ctrl-C ends all batches with what is
    finished.
    """
    jobs = [list(_jobs(work)) for work in works]
    interrupted = False
    batches: list[_Futures] = [{} for _ in jobs]
    with ThreadPoolExecutor(threads or available_cores(), thread_name_prefix="run") as pool:
        try:
            for batch, futures in zip(jobs, batches, strict=True):
                for job in batch:
                    futures[pool.submit(job.run)] = job
            _follow({future: job for futures in batches for future, job in futures.items()}, watch)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            # Of a job that Ctrl-C met while it was submitted there is no future, but it may run.
            for job in chain(*jobs):
                job.token.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            _await_end(list(chain(*jobs)))
    return [Batch(_finished(futures), interrupted) for futures in batches]


def _await_end(jobs: Sequence[_Job]) -> None:
    """Wait for cancelled runs; one that hangs in an endless loop of its controller is torn out of it."""
    while not _have_ended(jobs):
        for job in jobs:
            # Without a controller in Python a run sees its token, be it late.
            for number in job.thread if job.scenario.controllers else ():
                thread = ctypes.c_ulong(number)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(InterruptedError))


def _have_ended(jobs: Sequence[_Job]) -> bool:
    """Whether they have within the time that is granted."""
    deadline = time.monotonic() + GRACE_S
    while any(job.thread for job in jobs):
        if time.monotonic() > deadline:
            return False
        time.sleep(GRACE_S / 100)
    return True


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _jobs(work: Work) -> Iterator[_Job]:
    for index, seed in enumerate(work.seeds):
        record = work.record.holds(index)
        yield _Job(work.scenario, work.cache, seed, record, work.weight, work.scenario.engine.RunToken())


def _finished(futures: _Futures) -> list[SeedRun]:
    runs = (future.result() for future in futures if not future.cancelled())
    return [run for run in runs if run is not None]


def _follow(futures: _Futures, watch: Callable[[float], None]) -> None:
    whole = sum(job.weight for job in futures.values())
    done_weight = 0.0
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=POLL_S, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
            done_weight += futures[future].weight
        running = (futures[future] for future in pending if futures[future].token.progress > 0)
        watch(min(1, (done_weight + sum(job.weight * job.token.progress for job in running)) / whole))
