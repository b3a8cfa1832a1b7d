"""Makes runs with any executor of `concurrent.futures`: in other processes, or on other machines.

Only this process reads and writes the cache of finished runs.
"""

from __future__ import annotations

import pickle
import secrets
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from cwndlab.errors import CwndlabError
from cwndlab.running.asked import Asked
from cwndlab.running.build import Build
from cwndlab.running.needs import Luggage
from cwndlab.running.worker import Answer, Broken, Errand, Made, Order, name_of, work

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from cwndlab.results.seed_run import SeedRun
    from cwndlab.running.cache import CachedRun
    from cwndlab.running.task import Task
    from cwndlab.scenarios.scenario import Scenario

# An executor does not say how many workers it has. This many runs wait in it or are made at the same time.
AT_ONCE = 1000
# How much is shown of what is no answer.
SHOWN = 40


class Elsewhere:
    """Makes runs with the workers of an executor.

    Raises `InputError` if a worker could not load the controllers of one of these scenarios.
    """

    def __init__(self, executor: Executor, scenarios: Iterable[Scenario]) -> None:
        self._executor = executor
        self._luggage = Luggage.of(scenarios)
        self._session = secrets.token_hex(16)
        # The name of the errand of each.
        self._futures: dict[Future[Any], str] = {}
        self._asked = Asked()
        self._stopped = False

    @property
    def at_once(self) -> int:
        """How many jobs may be submitted and not finished."""
        return AT_ONCE

    def batch(self, task: Task, left: int) -> int:
        """Return how many runs make one job, where this task is the next of so many."""
        del task, left
        return 1

    def kept(self, task: Task) -> SeedRun | None:
        """Return the run from the cache, or None."""
        return task.kept()

    def submit(self, tasks: Sequence[Task]) -> Future[Answer]:
        """Submit a job to the workers: these tasks, one after the other.

        Raises `CwndlabError` if the executor refuses it.
        """
        return self._send(tasks, {})

    def collect(
        self, tasks: Sequence[Task], future: Future[Answer]
    ) -> Sequence[SeedRun | None] | Future[Answer]:
        """Return the finished runs, after keeping them in the cache.

        If the worker lacked something, submit the job again with that, and return its future; after `stop`,
        there are no runs. Raises `RunFailedError` if a run failed, and `CwndlabError` if this is no answer to
        the job.
        """
        errand = self._futures.pop(future)
        try:
            answer = future.result()
        except CwndlabError:
            raise
        except (RuntimeError, ValueError) as error:
            raise tasks[0].failure(str(error)) from None
        except Exception as error:
            raise tasks[0].failure(self.reason(error)) from None
        _require_answer(answer, errand, tasks[0])
        if answer.lacking and self._stopped:
            return [None for _ in tasks]
        if answer.lacking:
            return self._send(tasks, {each: self._sendable(each) for each in answer.lacking})
        self._note(tasks, answer)
        # The others of a job that broke off were not made.
        return [self._finished(*pair, answer) for pair in zip(tasks, answer.runs, strict=False)]

    def progress(self, tasks: Sequence[Task]) -> float:
        """Return 0: the progress of a job on a worker is not known."""
        del tasks
        return 0.0

    def poll(self) -> None:
        """Ask for the results that do not come by themselves."""
        self._asked.poll()

    def stop(self) -> None:
        """Cancel the runs that have not begun. The others cannot be reached."""
        self._stopped = True
        for future in list(self._futures):
            future.cancel()
        self._asked.cancel()

    def reason(self, error: Exception) -> str:
        """Return what is wrong, as the end of a message."""
        return f"{type(error).__name__}: {error}"

    def _key(self, task: Task) -> str | None:
        """Return the key under which the recording of a run stays at the worker; None if it comes back."""
        del task
        return None

    def _sendable(self, sha256: str) -> Any:
        """Return a content in the form in which this executor takes it."""
        return self._luggage.content(sha256)

    def _note(self, tasks: Sequence[Task], answer: Answer) -> None:
        """Learn from an answer."""

    def _completed(self, task: Task, made: CachedRun, run: SeedRun, address: str | None) -> SeedRun:
        """Return a run that was kept as its user gets it."""
        del task, made, address
        return run

    def _send(self, tasks: Sequence[Task], contents: Mapping[str, Any]) -> Future[Answer]:
        needs = self._luggage.needs
        orders = [Order(needs[task.scenario], task.job, self._key(task)) for task in tasks]
        packed = pickle.dumps(Errand(self._session, orders))
        try:
            submitted = self._executor.submit(work, astuple(Build.here()), packed, contents)
        except RuntimeError as error:
            raise CwndlabError(f"the executor accepts no run: {error}") from None
        if not all(callable(getattr(submitted, name, None)) for name in ("done", "result", "cancel")):
            raise CwndlabError(f"the executor: expected a future from submit, found {_shown(submitted)}")
        if submitted in self._futures:
            raise CwndlabError("the executor: expected a future for each run, found the same one twice")
        future = self._asked.future(submitted)
        self._futures[future] = name_of(packed)
        return future

    def _finished(self, task: Task, made: Made | Broken, answer: Answer) -> SeedRun:
        if isinstance(made, Broken):
            raise task.failure(made.reason)
        return self._completed(task, made.run, task.keep(made.run, made.archive), answer.address)


def _shown(value: Any) -> str:
    return repr(value)[:SHOWN]


def _require_answer(answer: Any, errand: str, task: Task) -> None:
    """Raise `CwndlabError` unless this answers the errand: another run must not be kept in its place."""
    found = None
    if not isinstance(answer, Answer):
        found = _shown(answer)
    elif answer.errand != errand:
        found = "the answer to another job"
    if found is not None:
        raise CwndlabError(f"the executor: expected the run of seed {task.job.seed}, found {found}")
