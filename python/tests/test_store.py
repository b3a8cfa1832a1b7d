"""The cache of finished runs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cwndlab.store import Store, Stored, prune
from tests.same import assert_detail_is, assert_recording_is
from tests.samples import detail, flow, outcome, recording

PLAIN = Stored(outcome([flow("a", 1.25)]), detail(["a"]), None)


def assert_same(found: Stored | None, saved: Stored) -> None:
    """Equal in all that is kept."""
    assert found is not None
    assert found.outcome == saved.outcome
    assert_detail_is(found.detail, saved.detail)
    assert (found.recording is None) == (saved.recording is None)
    if found.recording is not None and saved.recording is not None:
        assert_recording_is(found.recording, saved.recording)


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_is_saved_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path, "scenario", "extension")
    assert store.load(1, record=False) is None
    store.save(1, PLAIN)
    assert_same(store.load(1, record=False), PLAIN)
    assert store.load(2, record=False) is None


def test_recording_comes_back_whole(tmp_path: Path) -> None:
    saved = Stored(PLAIN.outcome, PLAIN.detail, recording())
    store = Store(tmp_path, "scenario", "extension")
    store.save(1, saved)
    found = store.load(1, record=True)
    assert_same(found, saved)


def test_a_recorded_run_serves_as_a_plain_one_but_not_the_reverse(tmp_path: Path) -> None:
    store = Store(tmp_path, "scenario", "extension")
    store.save(1, Stored(PLAIN.outcome, PLAIN.detail, recording()))
    store.save(2, PLAIN)
    assert store.load(1, record=False) is not None
    assert store.load(2, record=True) is None


@pytest.mark.parametrize(("canonical", "extension"), [("other", "extension"), ("scenario", "other")])
def test_another_scenario_or_build_is_not_reused(tmp_path: Path, canonical: str, extension: str) -> None:
    Store(tmp_path, "scenario", "extension").save(1, PLAIN)
    assert Store(tmp_path, canonical, extension).load(1, record=False) is None


def test_fresh_ignores_but_still_saves(tmp_path: Path) -> None:
    fresh = Store(tmp_path, "scenario", "extension", fresh=True)
    fresh.save(1, PLAIN)
    assert fresh.load(1, record=False) is None
    assert_same(Store(tmp_path, "scenario", "extension").load(1, record=False), PLAIN)


@pytest.mark.parametrize("keep", [0, 10, 100, -1])
def test_damaged_entries_are_ignored_and_rewritten(tmp_path: Path, keep: int) -> None:
    store = Store(tmp_path, "scenario", "extension")
    store.save(1, PLAIN)
    (entry,) = entries(tmp_path)
    entry.write_bytes(entry.read_bytes()[:keep])
    assert store.load(1, record=False) is None
    store.save(1, PLAIN)
    assert_same(store.load(1, record=False), PLAIN)


def test_foreign_content_is_ignored(tmp_path: Path) -> None:
    store = Store(tmp_path, "scenario", "extension")
    store.save(1, PLAIN)
    (entry,) = entries(tmp_path)
    np.savez(entry, other=np.zeros(3))
    assert store.load(1, record=False) is None


def test_no_parts_are_left_behind(tmp_path: Path) -> None:
    Store(tmp_path, "scenario", "extension").save(1, PLAIN)
    assert [path.suffix for path in entries(tmp_path)] == [".npz"]


def test_an_unusable_folder_costs_only_the_reuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file", "scenario", "extension")
    store.save(1, PLAIN)
    assert store.load(1, record=False) is None


def test_prune_deletes_what_was_used_longest_ago(tmp_path: Path) -> None:
    store = Store(tmp_path, "scenario", "extension")
    for seed in range(4):
        store.save(seed, PLAIN)
    paths = entries(tmp_path)
    for age, path in enumerate(paths):
        os.utime(path, (1000 - age, 1000 - age))
    size = paths[0].stat().st_size
    prune(tmp_path, max_bytes=2 * size + size // 2)
    assert entries(tmp_path) == paths[:2]
