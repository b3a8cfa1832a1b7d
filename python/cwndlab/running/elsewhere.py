"""Makes runs with any executor of `concurrent.futures`: in other processes, or on other machines.

Only this process reads and writes the cache of finished runs.
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
    """Makes runs with the workers of an executor.

    Raises `InputError` if a worker could not load the controllers of one of these scenarios.
    """

    def __init__(self, executor: Executor, scenarios: Iterable[Scenario]) -> None:
        self._executor = executor
        self._needs = {scenario: Needs.of(scenario) for scenario in scenarios}
        self._futures: list[Made] = []

    def submit(self, task: Task) -> Made:
        """Submit a task to the workers, unless its run is in the cache.

        Raises `CwndlabError` if the executor refuses it.
        """
        kept = task.kept()
        future: Made = Future()
        if kept is not None:
            future.set_result(kept)
            return future
        try:
            future = self._executor.submit(run_in_worker, self._needs[task.scenario], task.job)
        except RuntimeError as error:
            raise CwndlabError(f"the executor accepts no run: {error}") from None
        self._futures.append(future)
        return future

    def collect(self, task: Task, future: Made) -> SeedRun:
        """Return the finished run, after keeping it in the cache. Raises `RunFailedError` if it failed."""
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
        """Return 0: the progress of a run on a worker is not known."""
        del task
        return 0.0

    def stop(self) -> None:
        """Cancel the runs that have not begun. The others cannot be reached."""
        for future in self._futures:
            future.cancel()
