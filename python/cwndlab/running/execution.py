"""Runs checked scenarios, for the commands and for the functions of the API."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING

from cwndlab.errors import CacheWarning
from cwndlab.results.recording import Record
from cwndlab.results.result import Result
from cwndlab.running.cache import Cache, default_folder, prune
from cwndlab.running.pool import Work, available_cores, run_works
from cwndlab.system.process import changed_since_start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from pathlib import Path

    from cwndlab.running.exports import Exports
    from cwndlab.scenarios.scenario import Scenario


def execute(
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
    *,
    record: Record = Record.FIRST,
    threads: int | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    exports: Exports | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> list[Result]:
    """Run each scenario with each seed and return a result per scenario, in order. Finished runs are reused.

    The scenarios have been checked. A run that writes exports is always made. `executor` makes the runs, or
    threads of this process without one. After Ctrl-C, the results contain the finished runs and are marked as
    interrupted. Raises `RunFailedError` if a run breaks off, and `OutputError` if an export cannot be
    written.
    """
    jobs = [(scenario, seeds) for scenario in scenarios]
    results = execute_each(
        jobs, record=record, threads=threads, executor=executor, fresh=fresh, exports=exports, watch=watch
    )
    prune(default_folder())
    return results


def execute_each(
    jobs: Sequence[tuple[Scenario, Sequence[int]]],
    *,
    record: Record = Record.FIRST,
    threads: int | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    exports: Exports | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> list[Result]:
    """Run each scenario with its own seeds, as `execute` does, but do not prune the cache afterwards."""
    folder = default_folder()
    works = [
        Work(scenario, seeds, _cache(folder, scenario, fresh=fresh), record, weight(scenario), exports)
        for scenario, seeds in jobs
    ]
    with _opened(executor, threads) as chosen:
        batches = run_works(works, chosen, watch=watch)
    _warn_of(folder, [work.cache for work in works])
    return [
        Result(scenario, batch.runs, batch.interrupted, len(seeds))
        for (scenario, seeds), batch in zip(jobs, batches, strict=True)
    ]


def _opened(executor: Executor | None, threads: int | None) -> AbstractContextManager[Executor]:
    """Return the caller's executor, which stays open, or threads that end with the runs."""
    if executor is not None:
        return nullcontext(executor)
    return ThreadPoolExecutor(threads or available_cores(), thread_name_prefix="run")


def _warn_of(folder: Path, caches: Sequence[Cache]) -> None:
    failure = next((cache.failure for cache in caches if cache.failure), None)
    if failure is not None:
        text = f"{folder}: finished runs cannot be kept ({failure}); they will be made again"
        warnings.warn(text, CacheWarning, stacklevel=1)


def weight(scenario: Scenario) -> float:
    """Return the duration of a run relative to those of other scenarios."""
    return max(1.0, scenario.packets_expected) * scenario.engine.relative_cost


def _cache(folder: Path, scenario: Scenario, *, fresh: bool) -> Cache:
    # A build since the start of this process: the file's hash may not be that of the loaded simulator.
    rebuilt = changed_since_start(scenario.engine.file)
    return Cache(
        folder,
        _meaning(scenario),
        scenario.engine.sha256,
        fresh=fresh or rebuilt,
        holds=lambda: not rebuilt and scenario.has_code_as_before(),
    )


def _meaning(scenario: Scenario) -> str:
    """Return what decides a run besides seed and build: its settings and the code of its controllers."""
    return "\n".join(
        [scenario.canonical, *(f"{each.name} {each.code_sha256}" for each in scenario.controllers)]
    )
