"""Runs scenarios over their seeds, several runs at a time."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from cwndlab.results.recording import Record
from cwndlab.running.elsewhere import Elsewhere
from cwndlab.running.job import Job
from cwndlab.running.task import Task
from cwndlab.running.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future

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
    def submit(self, task: Task) -> Future[Any]: ...
    def collect(self, task: Task, future: Future[Any]) -> SeedRun | None: ...
    def progress(self, task: Task) -> float: ...
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
        running.begin(chain(*batches))
        running.follow(watch)
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
    return Elsewhere(executor, [work.scenario for work in works])


def _tasks(work: Work) -> Iterator[Task]:
    for index, seed in enumerate(work.seeds):
        record = work.record.holds(index)
        job = Job.of(work.scenario, seed, record=record, exports=work.exports)
        yield Task(job, work.scenario, work.cache, work.weight)


class _Running:
    """The tasks submitted to a crew, and the runs collected so far."""

    def __init__(self, crew: _Crew) -> None:
        self.crew = crew
        self._tasks: dict[Future[Any], Task] = {}
        self._runs: dict[Task, SeedRun | None] = {}

    def begin(self, tasks: Iterable[Task]) -> None:
        """Submit all tasks."""
        for task in tasks:
            self._tasks[self.crew.submit(task)] = task

    def follow(self, watch: Callable[[float], None]) -> None:
        """Collect runs until all have finished. `watch` gets the share done, 0 to 1."""
        whole = sum(task.weight for task in self._tasks.values())
        pending = set(self._tasks)
        done_weight = 0.0
        while pending:
            done, pending = wait(pending, timeout=POLL_S, return_when=FIRST_EXCEPTION)
            for future in done:
                self._collect(future)
                done_weight += self._tasks[future].weight
            tasks = (self._tasks[future] for future in pending)
            under_way = sum(task.weight * self.crew.progress(task) for task in tasks)
            watch(min(1, (done_weight + under_way) / whole))

    def collect_finished(self) -> None:
        """Collect the runs that finished before the others were cancelled."""
        for future, task in self._tasks.items():
            is_there = future.done() and not future.cancelled() and future.exception() is None
            if is_there and task not in self._runs:
                self._collect(future)

    def runs_of(self, tasks: Iterable[Task]) -> list[SeedRun]:
        """Return the collected runs of these tasks."""
        runs = (self._runs.get(task) for task in tasks)
        return [run for run in runs if run is not None]

    def _collect(self, future: Future[Any]) -> None:
        task = self._tasks[future]
        self._runs[task] = self.crew.collect(task, future)
