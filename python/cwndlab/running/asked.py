"""Futures for jobs that only answer when they are asked, such as those of submitit."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

# How often they are asked. A job of a batch system is asked through files of a shared disk.
EVERY_S = 0.5


class Asked:
    """The jobs that have to be asked for their results."""

    def __init__(self) -> None:
        self._jobs: dict[Future[Any], Any] = {}
        self._last_s = 0.0

    def future(self, submitted: Any) -> Future[Any]:
        """Return a future for what an executor returned: itself, or one that `poll` completes."""
        if isinstance(submitted, Future):
            return submitted
        future: Future[Any] = Future()
        self._jobs[future] = submitted
        return future

    def poll(self) -> None:
        """Complete the futures of the jobs that are done."""
        now = time.monotonic()
        if now < self._last_s + EVERY_S:
            return
        self._last_s = now
        for future, job in list(self._jobs.items()):
            if job.done():
                del self._jobs[future]
                _complete(future, job)

    def cancel(self) -> None:
        """Cancel the jobs that are not done."""
        for future, job in self._jobs.items():
            future.cancel()
            job.cancel()
        self._jobs.clear()


def _complete(future: Future[Any], job: Any) -> None:
    try:
        result = job.result()
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)
