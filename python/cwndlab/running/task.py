"""A requested run: found among the finished ones, or to be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import RunFailedError
from cwndlab.results.seed_run import SeedRun

if TYPE_CHECKING:
    from cwndlab.running.cache import Cache, CachedRun
    from cwndlab.running.job import Job
    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Task:
    """A job, its scenario, and the cache for its run.

    `weight` is the duration of the run relative to those of other tasks.
    """

    job: Job
    scenario: Scenario
    cache: Cache
    weight: float

    def kept(self) -> SeedRun | None:
        """Return the run from the cache, or None. A run that writes exports has to be made."""
        if self.job.exports is not None:
            return None
        cached = self.cache.load(self.job.seed, record=self.job.record)
        return None if cached is None else self._finished(cached, reused=True)

    def keep(self, made: CachedRun, archive: bytes | None = None) -> SeedRun:
        """Keep a run that was just made, and return it. `archive` is that of `Cache.save`."""
        self.cache.save(self.job.seed, made, archive)
        return self._finished(made, reused=False)

    def failure(self, reason: str) -> RunFailedError:
        """Return the error for a run that broke off."""
        return RunFailedError(self.job.seed, reason, self.scenario.setting)

    def _finished(self, cached: CachedRun, *, reused: bool) -> SeedRun:
        # The recording of an earlier call must not appear in the files of this one.
        recording = cached.recording if self.job.record else None
        return SeedRun(self.job.seed, cached.outcome, cached.detail, recording, reused)
