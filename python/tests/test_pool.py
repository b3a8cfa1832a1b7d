"""Running seeds, with a simulator that does as it is told."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cwndlab import _native
from cwndlab.errors import RunFailedError
from cwndlab.results.recording import Record
from cwndlab.running.cache import Cache
from cwndlab.running.pool import Batch, Work, run_works
from cwndlab.scenarios.scenario import Scenario

SCENARIO = Scenario(b"name = 'x'", "x.toml")


DETAIL: dict[str, Any] = {
    "end_s": [],
    "flows": [],
    "subflows": [],
    "groups": [],
    "jain": ([], []),
    "distributions": [],
    "weights": [],
}


def run_seeds(seeds: Sequence[int], cache: Cache, record: Record = Record.FIRST, **options: Any) -> Batch:
    """Run one scenario."""
    [batch] = run_in_threads([Work(SCENARIO, seeds, cache, record)], **options)
    return batch


def run_in_threads(works: Sequence[Work], threads: int = 2, **options: Any) -> list[Batch]:
    with ThreadPoolExecutor(threads) as executor:
        return run_works(works, executor, **options)


class Token:
    """A token that can be waited on."""

    def __init__(self) -> None:
        self.progress = 0.0
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        self.cancelled.set()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path, "scenario", "extension")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that were simulated. Seed 13 fails; seeds from 100 on run until they are cancelled."""
    seeds: list[int] = []

    def run_seed(
        _text: bytes, _file: str, _overrides: Any, seed: int, record: bool, token: Token
    ) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        seeds.append(seed)
        if seed == 13:
            raise RuntimeError("no packet arrived")
        if seed >= 100 and token.cancelled.wait(timeout=60):
            raise InterruptedError
        recorded = {"time_s": [0.0], "tables": []} if record else None
        return json.dumps({"flows": [], "seed": seed}), DETAIL, recorded

    monkeypatch.setattr(_native, "run_seed", run_seed)
    monkeypatch.setattr(_native, "RunToken", Token)
    return seeds


def test_order_of_the_seeds_is_kept(cache: Cache, simulated: list[int]) -> None:
    batch = run_seeds([5, 3, 9], cache, threads=2)
    assert [run.seed for run in batch.runs] == [5, 3, 9]
    assert sorted(simulated) == [3, 5, 9]
    assert not batch.interrupted


def test_only_the_first_seed_is_recorded(cache: Cache, simulated: list[int]) -> None:
    batch = run_seeds([5, 3], cache)
    assert [run.recording is not None for run in batch.runs] == [True, False]
    assert len(simulated) == 2


def test_all_seeds_or_none_may_be_recorded(cache: Cache, simulated: list[int]) -> None:
    everyone = run_seeds([5, 3], cache, Record.ALL)
    assert [run.recording is not None for run in everyone.runs] == [True, True]
    no_one = run_seeds([7, 8], cache, Record.NONE)
    assert [run.recording is not None for run in no_one.runs] == [False, False]
    assert len(simulated) == 4


def test_what_an_earlier_call_recorded_does_not_turn_up(cache: Cache, simulated: list[int]) -> None:
    run_seeds([7, 8], cache, Record.ALL)
    batch = run_seeds([7, 8], cache, Record.FIRST)
    assert sorted(simulated) == [7, 8]
    assert [run.recording is not None for run in batch.runs] == [True, False]


def test_finished_runs_are_reused(cache: Cache, simulated: list[int]) -> None:
    run_seeds([1, 2], cache)
    batch = run_seeds([1, 2, 3], cache)
    assert sorted(simulated) == [1, 2, 3]
    assert [run.reused for run in batch.runs] == [True, True, False]


def test_a_failure_names_its_seed_and_ends_the_others(cache: Cache, simulated: list[int]) -> None:
    with pytest.raises(RunFailedError, match="seed 13: no packet arrived"):
        run_seeds([100, 13, 101], cache, threads=2)
    assert 13 in simulated


def test_interrupt_keeps_what_is_finished(cache: Cache, simulated: list[int]) -> None:
    def interrupt() -> None:
        while len(simulated) < 3:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    batch = run_seeds([1, 2, 100, 101, 102], cache, threads=1)
    assert batch.interrupted
    assert [run.seed for run in batch.runs] == [1, 2]
    assert simulated == [1, 2, 100]
    assert cache.load(2, record=False) is not None


def test_interrupt_while_the_runs_are_handed_out(
    cache: Cache, simulated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = ThreadPoolExecutor.submit

    def interrupted(pool: Any, run: Any) -> Any:
        submit(pool, run)
        while not simulated:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    batch = run_seeds([100, 101], cache)
    assert (batch.interrupted, batch.runs, simulated) == (True, [], [100])


def test_progress_ends_at_one(cache: Cache, simulated: list[int]) -> None:
    shares: list[float] = []
    run_seeds([1, 2, 3], cache, threads=1, watch=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(simulated) == 3


def test_several_scenarios_share_the_cores(tmp_path: Path, simulated: list[int]) -> None:
    other = Scenario(b"name = 'y'", "y.toml", (("flow.0.cc", "reno"),))
    caches = [Cache(tmp_path, name, "extension") for name in "xy"]
    works = [Work(SCENARIO, [1, 2], caches[0]), Work(other, [3], caches[1])]
    batches = run_in_threads(works, threads=2)
    assert [[run.seed for run in batch.runs] for batch in batches] == [[1, 2], [3]]
    assert sorted(simulated) == [1, 2, 3]


def test_a_failure_names_the_variant(cache: Cache, simulated: list[int]) -> None:
    other = Scenario(b"name = 'y'", "y.toml", (("flow.0.cc", "reno"),))
    with pytest.raises(RunFailedError, match=r"seed 13 \(flow.0.cc=reno\): no packet"):
        run_in_threads([Work(other, [13], cache)])
    assert simulated == [13]


def test_progress_is_weighted(tmp_path: Path, simulated: list[int]) -> None:
    works = [
        Work(SCENARIO, [1], Cache(tmp_path, "light", "e")),
        Work(SCENARIO, [2], Cache(tmp_path, "heavy", "e"), weight=3),
    ]
    shares: list[float] = []
    run_in_threads(works, threads=1, watch=shares.append)
    assert shares[-1] == 1
    assert set(shares) <= {0, 0.25, 1}
    assert len(simulated) == 2
