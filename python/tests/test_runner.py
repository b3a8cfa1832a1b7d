"""Running seeds, with a simulator that does as it is told."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cwndlab import _native
from cwndlab.errors import RunFailedError
from cwndlab.runner import run_seeds
from cwndlab.scenario import Scenario
from cwndlab.store import Store

SCENARIO = Scenario(b"name = 'x'", "x.toml")


class Token:
    """A token that can be waited on."""

    def __init__(self) -> None:
        self.progress = 0.0
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        self.cancelled.set()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, "scenario", "extension")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that were simulated. Seed 13 fails; seeds from 100 on run until they are cancelled."""
    seeds: list[int] = []

    def run_seed(
        _text: bytes, _file: str, _overrides: Any, seed: int, record: bool, token: Token
    ) -> tuple[str, dict[str, Any] | None]:
        seeds.append(seed)
        if seed == 13:
            raise RuntimeError("no packet arrived")
        if seed >= 100 and token.cancelled.wait(timeout=60):
            raise InterruptedError
        recorded = {"time_s": [0.0], "tables": []} if record else None
        return json.dumps({"flows": [], "seed": seed}), recorded

    monkeypatch.setattr(_native, "run_seed", run_seed)
    monkeypatch.setattr(_native, "RunToken", Token)
    return seeds


def test_order_of_the_seeds_is_kept(store: Store, simulated: list[int]) -> None:
    batch = run_seeds(SCENARIO, [5, 3, 9], store, threads=2)
    assert [run.seed for run in batch.runs] == [5, 3, 9]
    assert sorted(simulated) == [3, 5, 9]
    assert not batch.interrupted


def test_only_the_first_seed_is_recorded(store: Store, simulated: list[int]) -> None:
    batch = run_seeds(SCENARIO, [5, 3], store)
    assert [run.recording is not None for run in batch.runs] == [True, False]
    assert len(simulated) == 2


def test_finished_runs_are_reused(store: Store, simulated: list[int]) -> None:
    run_seeds(SCENARIO, [1, 2], store)
    batch = run_seeds(SCENARIO, [1, 2, 3], store)
    assert sorted(simulated) == [1, 2, 3]
    assert [run.reused for run in batch.runs] == [True, True, False]


def test_a_failure_names_its_seed_and_ends_the_others(store: Store, simulated: list[int]) -> None:
    with pytest.raises(RunFailedError, match="seed 13: no packet arrived"):
        run_seeds(SCENARIO, [100, 13, 101], store, threads=2)
    assert 13 in simulated


def test_interrupt_keeps_what_is_finished(store: Store, simulated: list[int]) -> None:
    def interrupt() -> None:
        while len(simulated) < 3:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    batch = run_seeds(SCENARIO, [1, 2, 100, 101, 102], store, threads=1)
    assert batch.interrupted
    assert [run.seed for run in batch.runs] == [1, 2]
    assert simulated == [1, 2, 100]
    assert store.load(2, record=False) is not None


def test_progress_ends_at_one(store: Store, simulated: list[int]) -> None:
    shares: list[float] = []
    run_seeds(SCENARIO, [1, 2, 3], store, threads=1, watch=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(simulated) == 3
