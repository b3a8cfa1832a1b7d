"""Makes runs with the workers of a Dask cluster.

Beyond what any executor does: all workers are checked before the first run, a content reaches each worker
once, short runs share a job, series stay at their worker until they are asked for, and Ctrl-C also ends the
runs that have begun.
"""

from __future__ import annotations

import math
import time
import weakref
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

from cwndlab.errors import CwndlabError, InputError
from cwndlab.results.recording import DistantRecording
from cwndlab.running.build import Build
from cwndlab.running.elsewhere import Elsewhere
from cwndlab.running.job import simulate
from cwndlab.running.worker import kept, refusals, stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Executor

    from cwndlab.results.recording import Recording
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.running.cache import CachedRun
    from cwndlab.running.task import Task
    from cwndlab.running.worker import Answer
    from cwndlab.scenarios.scenario import Scenario

# Jobs that wait for each thread of a worker, so that none is idle until the next one arrives.
WAITING = 3
# How long the runs of a job take together. The cluster needs about 1 ms for a job, whatever is in it.
JOB_S = 1.0
# How often the number of workers is asked. It changes while a batch system starts them.
COUNTED_S = 2.0
# How many workers that cannot be used are shown.
SHOWN = 5


@dataclass
class _Speed:
    """What is known of a cluster's speed: the weight of the finished runs, and the time that they took."""

    weight: float = 0.0
    took_s: float = 0.0


_speeds: weakref.WeakKeyDictionary[Any, _Speed] = weakref.WeakKeyDictionary()
# The engines for which the workers of each cluster have been checked, with the addresses of these workers.
_checked: weakref.WeakKeyDictionary[Any, set[tuple[Any, ...]]] = weakref.WeakKeyDictionary()


def client_of(executor: Executor) -> Any:
    """Return the client of Dask behind an executor, or None if it is another's.

    Raises `CwndlabError` if the client was closed.
    """
    if type(executor).__module__ != "distributed.cfexecutor":
        return None
    client = executor._client  # type: ignore[attr-defined]
    if client.status != "running":
        raise CwndlabError(
            f"the executor: expected a client of Dask that runs, found one that is {client.status}"
        )
    return client


class OnDask(Elsewhere):
    """Makes runs with the workers of a Dask cluster.

    Raises `InputError` if a worker is of another build, lacks the kernel that the runs need, or cannot load
    the controllers of one of the scenarios.
    """

    def __init__(self, executor: Executor, scenarios: Iterable[Scenario]) -> None:
        super().__init__(executor, scenarios)
        self._client = client_of(executor)
        self._sent: dict[str, Any] = {}
        self._threads, self._counted_s = 1, 0.0
        self._speed = _speeds.setdefault(self._client, _Speed())
        self._check()

    @property
    def at_once(self) -> int:
        """How many jobs may be submitted and not finished: some for each thread of the workers."""
        now = time.monotonic()
        if now > self._counted_s + COUNTED_S:
            self._counted_s = now
            self._check_newcomers()
            # Even without a worker, a job may wait for the first.
            self._threads = max(1, sum(self._client.nthreads().values()))
        return (1 + WAITING) * self._threads

    def batch(self, task: Task, left: int) -> int:
        """Return how many runs make one job: about `JOB_S`, but enough jobs for all threads to the end."""
        if not self._speed.weight:
            return 1
        run_s = task.weight * self._speed.took_s / self._speed.weight
        fair = math.ceil(left / ((1 + WAITING) * self._threads))
        return max(1, min(fair, int(JOB_S / run_s)))

    def stop(self) -> None:
        """Cancel the runs that have not begun, and end those that have."""
        unfinished = bool(self._futures)
        super().stop()
        if unfinished:
            # A worker that has gone has nothing to stop.
            with suppress(OSError, RuntimeError, ValueError):
                self._client.run(stop, self._session, on_error="ignore")

    def reason(self, error: Exception) -> str:
        """Return what is wrong, as the end of a message."""
        if type(error).__name__ == "KilledWorker":
            return "the worker process ended each time that it was tried: too little memory, or no cwndlab?"
        if "Cancelled" in type(error).__name__:
            return "the cluster cancelled it; has its scheduler ended?"
        return super().reason(error)

    def _check(self, *, late: bool = False) -> None:
        """Check the workers that were not checked before. A late one without an answer may be gone again."""
        engines = {(each.engine, each.backend, each.engine_sha256) for each in self._luggage.needs.values()}
        known = _checked.setdefault(self._client, set())
        addresses = list(self._client.nthreads())
        new = [each for each in addresses if any((each, *engine) not in known for engine in engines)]
        if not new:
            return
        caller = astuple(Build.here())
        found = self._client.run(refusals, caller, sorted(engines), workers=new, on_error="return")
        answers = {address: found[address] for address in new if address in found}
        if late:
            answers = {address: each for address, each in answers.items() if not _is_gone(each)}
        lines = [f"worker {address}: {why}" for address, each in answers.items() for why in _reasons(each)]
        if lines:
            more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
            raise InputError("\n".join([*lines[:SHOWN], *more]))
        known.update((address, *engine) for address in answers for engine in engines)

    def _check_newcomers(self) -> None:
        """Check the workers that came since. That the scheduler has gone shows elsewhere."""
        with suppress(OSError, RuntimeError, ValueError):
            self._check(late=True)

    def _key(self, task: Task) -> str | None:
        return task.cache.key(task.job.seed, record=True) if task.job.record else None

    def _sendable(self, sha256: str) -> Any:
        """Return a future of Dask: its content goes to each worker once, from worker to worker.

        It is a task, so it is made again if all workers that have it are gone.
        """
        if sha256 not in self._sent:
            content = self._luggage.content(sha256)
            self._sent[sha256] = self._client.submit(bytes, content, key=f"cwndlab-{sha256}")
        return self._sent[sha256]

    def _note(self, tasks: Sequence[Task], answer: Answer) -> None:
        self._speed.took_s += answer.took_s
        self._speed.weight += sum(task.weight for task in tasks)

    def _completed(self, task: Task, made: CachedRun, run: SeedRun, address: str | None) -> SeedRun:
        if not task.job.record or made.recording is not None:
            return run
        recording = DistantRecording(lambda: _fetched(self._client, str(address), task, made))
        return replace(run, recording=recording)


def _lacks_cwndlab(answer: BaseException) -> bool:
    # Dask hands on the error of an import as a text.
    return "'cwndlab" in str(answer)


def _is_gone(answer: list[str] | BaseException) -> bool:
    return isinstance(answer, BaseException) and not _lacks_cwndlab(answer)


def _reasons(answer: list[str] | BaseException) -> list[str]:
    if not isinstance(answer, BaseException):
        return answer
    if _lacks_cwndlab(answer):
        return [f"it has no cwndlab, or another version ({answer})"]
    return [f"it cannot be checked ({type(answer).__name__}: {answer})"]


def _fetched(client: Any, address: str, task: Task, made: CachedRun) -> Recording:
    """Return a recording from its worker. If that is gone, the run is made again, which gives the same."""
    key = task.cache.key(task.job.seed, record=True)
    held = None
    # Whatever the reason is, the run can be made again.
    with suppress(Exception):
        if client.status == "running" and address in client.nthreads():
            held = client.run(kept, key, workers=[address]).get(address)
    if held is None:
        engine = task.scenario.engine
        held = simulate(task.job, engine, engine.RunToken())
    if held.recording is None:
        raise CwndlabError(f"seed {task.job.seed}: its series cannot be made again")
    task.keep(replace(made, recording=held.recording))
    return held.recording
