"""Makes runs in threads of this process.

The simulator releases Python's lock while it runs, so threads are enough. A controller in Python takes the
lock for each callback. Ctrl-C reaches the main thread, which cancels the runs through their tokens.
"""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cwndlab.errors import CwndlabError
from cwndlab.running.job import simulate
from cwndlab.system.interrupting import interrupt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

    from cwndlab._native import RunToken
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.running.task import Task

# How long a cancelled run may take to stop before an exception is raised in its controller.
GRACE_S = 1.0


class Threads:
    """Makes runs in an executor's threads, which share their tokens with this thread."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self._executor = executor
        self._running: dict[Task, _Running] = {}
        self._futures: list[Future[SeedRun | None]] = []

    @property
    def at_once(self) -> int:
        """No limit: a task that waits for a thread takes no more memory here than anywhere."""
        return sys.maxsize

    def batch(self, task: Task, left: int) -> int:
        """Return 1: each run has a thread of its own."""
        del task, left
        return 1

    def kept(self, task: Task) -> None:
        """Return None: the threads look into the cache, at the same time."""
        del task

    def submit(self, tasks: Sequence[Task]) -> Future[SeedRun | None]:
        """Submit a task to the threads. Raises `CwndlabError` if they accept none."""
        [task] = tasks
        # If Ctrl-C comes during the submission, there is no future, but the run may begin.
        running = self._running[task] = _Running(task, task.scenario.engine.RunToken())
        try:
            future = self._executor.submit(running.run)
        except RuntimeError as error:
            raise CwndlabError(f"the executor accepts no run: {error}") from None
        self._futures.append(future)
        return future

    def collect(self, tasks: Sequence[Task], future: Future[SeedRun | None]) -> list[SeedRun | None]:
        """Return the finished run, or None if it was cancelled. Raises `RunFailedError` if it failed."""
        del tasks
        return [future.result()]

    def progress(self, tasks: Sequence[Task]) -> float:
        """Return the share of a run that is done, 0 to 1."""
        [task] = tasks
        return self._running[task].token.progress

    def poll(self) -> None:
        """Threads answer without being asked."""

    def stop(self) -> None:
        """Cancel the unfinished runs, and wait for those that have begun."""
        for running in self._running.values():
            running.token.cancel()
        begun = [future for future in self._futures if not future.cancel()]
        _await_end(self._running.values())
        wait(begun)


@dataclass(frozen=True, eq=False)
class _Running:
    task: Task
    token: RunToken
    # The number of the thread that runs it, while it runs.
    thread: list[int] = field(default_factory=list)

    def run(self) -> SeedRun | None:
        """Reuse or simulate the run. Return None if it was cancelled."""
        self.thread.append(threading.get_ident())
        try:
            return self.task.kept() or self._make()
        except InterruptedError:
            return None
        finally:
            self.thread.clear()

    def _make(self) -> SeedRun:
        try:
            made = simulate(self.task.job, self.task.scenario.engine, self.token)
        except (RuntimeError, ValueError) as error:
            raise self.task.failure(str(error)) from None
        return self.task.keep(made)


def _await_end(runs: Iterable[_Running]) -> None:
    """Wait for cancelled runs. A controller that hangs in an endless loop is ended by an exception."""
    while not _have_ended(runs):
        for running in runs:
            # A run without a controller in Python always sees its token, at worst late.
            for number in running.thread if running.task.scenario.controllers else ():
                interrupt(number)


def _have_ended(runs: Iterable[_Running]) -> bool:
    """Return whether all runs ended within the grace period."""
    deadline = time.monotonic() + GRACE_S
    while any(running.thread for running in runs):
        if time.monotonic() > deadline:
            return False
        time.sleep(GRACE_S / 100)
    return True
