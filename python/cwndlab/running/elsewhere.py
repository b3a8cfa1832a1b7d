"""Runs by any executor of `concurrent.futures`: in other processes, or on other machines.

Finished runs are read from the cache, and written to it, in this process only.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from cwndlab.errors import CwndlabError
from cwndlab.results.seed_run import SeedRun
from cwndlab.running.worker import Needs, run_in_worker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from cwndlab.running.cache import CachedRun
    from cwndlab.running.task import Task
    from cwndlab.scenarios.scenario import Scenario

    Made = Future[SeedRun | CachedRun]


class Elsewhere:
    """Lets the workers of an executor make runs.

    Raises `InputError` if a worker could not have what the runs of one of these scenarios need.
    """

    def __init__(self, executor: Executor, scenarios: Iterable[Scenario]) -> None:
        self._executor = executor
        self._needs = {scenario: Needs.of(scenario) for scenario in scenarios}
        self._futures: list[Made] = []

    def submit(self, task: Task) -> Made:
        """Hand a task to the workers, unless its run was made before."""
        kept = task.kept()
        future: Made = Future()
        if kept is not None:
            future.set_result(kept)
            return future
        try:
            future = self._executor.submit(run_in_worker, self._needs[task.scenario], task.job)
        except RuntimeError as error:
            raise CwndlabError(f"the executor takes no run: {error}") from None
        self._futures.append(future)
        return future

    def collect(self, task: Task, future: Made) -> SeedRun:
        """The finished run, which is kept from now on."""
        try:
            made = future.result()
        except CwndlabError:
            raise
        except (RuntimeError, ValueError) as error:
            raise task.failure(str(error)) from None
        except Exception as error:
            raise task.failure(f"{type(error).__name__}: {error}") from None
        return made if isinstance(made, SeedRun) else task.keep(made)

    def progress(self, task: Task) -> float:
        """How far a run is shows only when it has finished."""
        del task
        return 0.0

    def stop(self) -> None:
        """Cancel the runs that have not begun; nothing reaches the others."""
        for future in self._futures:
            future.cancel()
