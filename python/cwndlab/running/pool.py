"""Runs scenarios over their seeds, several runs at a time."""

from __future__ import annotations

import os
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any, Protocol

from cwndlab.results.recording import Record
from cwndlab.running.elsewhere import Elsewhere
from cwndlab.running.job import Job
from cwndlab.running.on_dask import OnDask, client_of
from cwndlab.running.task import Task
from cwndlab.running.threads import Threads
from cwndlab.system.interrupting import noticing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from cwndlab.results.seed_run import SeedRun
    from cwndlab.running.cache import Cache
    from cwndlab.running.exports import Exports
    from cwndlab.scenarios.scenario import Scenario

# The interval between progress reports, and the longest delay of Ctrl-C.
POLL_S = 0.1


@dataclass(frozen=True)
class Work:
    """One scenario, the seeds to run it with, and the cache of its finished runs.

    `weight` is the duration of one of its runs relative to those of other works.
    """

    scenario: Scenario
    seeds: Sequence[int]
    cache: Cache
    record: Record = Record.FIRST
    weight: float = 1
    exports: Exports | None = None


@dataclass(frozen=True)
class Batch:
    """The finished runs of one scenario, in the order of their seeds."""

    runs: list[SeedRun]
    interrupted: bool


class _Crew(Protocol):
    @property
    def at_once(self) -> int: ...
    def batch(self, task: Task, left: int) -> int: ...
    def kept(self, task: Task) -> SeedRun | None: ...
    def submit(self, tasks: Sequence[Task]) -> Future[Any]: ...
    # A future is that of the same job, which was submitted again.
    def collect(
        self, tasks: Sequence[Task], future: Future[Any]
    ) -> Sequence[SeedRun | None] | Future[Any]: ...
    def progress(self, tasks: Sequence[Task]) -> float: ...
    def poll(self) -> None: ...
    def stop(self) -> None: ...


def run_works(
    works: Sequence[Work], executor: Executor, *, watch: Callable[[float], None] = lambda _: None
) -> list[Batch]:
    """Run all seeds of all scenarios and return one batch for each. `watch` gets the share done, 0 to 1.

    The first failure cancels the other runs and is raised as `RunFailedError`. After Ctrl-C, the batches have
    the finished runs. The executor is left open.
    """
    batches = [list(_tasks(work)) for work in works]
    running = _Running(_crew(executor, works))
    interrupted = False
    try:
        with noticing() as check:
            running.follow(list(chain(*batches)), watch, check)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        running.crew.stop()
    if interrupted:
        running.collect_finished()
    return [Batch(running.runs_of(batch), interrupted) for batch in batches]


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _crew(executor: Executor, works: Sequence[Work]) -> _Crew:
    # A derived type may run tasks elsewhere, as Python's pool of interpreters does.
    if type(executor) is ThreadPoolExecutor:
        return Threads(executor)
    scenarios = [work.scenario for work in works]
    return Elsewhere(executor, scenarios) if client_of(executor) is None else OnDask(executor, scenarios)


def _tasks(work: Work) -> Iterator[Task]:
    for index, seed in enumerate(work.seeds):
        record = work.record.holds(index)
        job = Job.of(work.scenario, seed, record=record, exports=work.exports)
        yield Task(job, work.scenario, work.cache, work.weight)


class _Running:
    """The jobs submitted to a crew, each with its tasks, and the runs collected so far."""

    def __init__(self, crew: _Crew) -> None:
        self.crew = crew
        self._jobs: dict[Future[Any], Sequence[Task]] = {}
        self._runs: dict[Task, SeedRun | None] = {}
        # Not SimpleQueue: in Python 3.11 its `get` waits for ever if a signal comes while it waits, and the
        # time is over when the thread gets Python's lock again.
        self._done: Queue[Future[Any]] = Queue()
        self._done_weight = 0.0

    def follow(
        self, tasks: Sequence[Task], watch: Callable[[float], None], check: Callable[[], None]
    ) -> None:
        """Submit the tasks, not all at once, and collect their runs.

        `watch` gets the share done, 0 to 1; `check` raises an exception to stop.
        """
        whole = sum(task.weight for task in tasks)
        waiting = deque(tasks)
        reported = 0.0
        while waiting or self._jobs:
            check()
            self._submit(waiting, check)
            self._wait()
            # To ask all jobs takes longer than to collect one.
            if time.monotonic() > reported + POLL_S or not (waiting or self._jobs):
                under_way = sum(self._under_way(job) for job in self._jobs.values())
                watch(min(1, (self._done_weight + under_way) / whole))
                reported = time.monotonic()

    def collect_finished(self) -> None:
        """Collect the runs that finished before the others were cancelled."""
        for future in list(self._jobs):
            if future.done() and not future.cancelled() and future.exception() is None:
                self._collect(future)

    def runs_of(self, tasks: Iterable[Task]) -> list[SeedRun]:
        """Return the collected runs of these tasks."""
        runs = (self._runs.get(task) for task in tasks)
        return [run for run in runs if run is not None]

    def _submit(self, waiting: deque[Task], check: Callable[[], None]) -> None:
        """Submit waiting tasks, up to the limit of the crew. Those that were kept need not be submitted."""
        while waiting and len(self._jobs) < self.crew.at_once:
            check()
            job: list[Task] = []
            size = self.crew.batch(waiting[0], len(waiting))
            while waiting and len(job) < size:
                task = waiting.popleft()
                kept = self.crew.kept(task)
                if kept is None:
                    job.append(task)
                else:
                    self._add([task], [kept])
            if job:
                self._expect(job, self.crew.submit(job))

    def _wait(self) -> None:
        """Collect what is finished, or wait a moment for it."""
        if not self._jobs:
            return
        self.crew.poll()
        with suppress(Empty):
            self._collect(self._done.get(timeout=POLL_S))
            while True:
                self._collect(self._done.get_nowait())

    def _expect(self, tasks: Sequence[Task], future: Future[Any]) -> None:
        self._jobs[future] = tasks
        future.add_done_callback(self._done.put)

    def _collect(self, future: Future[Any]) -> None:
        tasks = self._jobs.pop(future)
        runs = self.crew.collect(tasks, future)
        if isinstance(runs, Future):
            self._expect(tasks, runs)
        else:
            self._add(tasks, runs)

    def _add(self, tasks: Sequence[Task], runs: Sequence[SeedRun | None]) -> None:
        self._runs.update(zip(tasks, runs, strict=True))
        self._done_weight += sum(task.weight for task in tasks)

    def _under_way(self, tasks: Sequence[Task]) -> float:
        return sum(task.weight for task in tasks) * self.crew.progress(tasks)
