"""The cache of finished runs."""

from __future__ import annotations

import io
import json
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab as cl
from cwndlab.errors import CacheWarning
from cwndlab.running import cache as cache_
from cwndlab.running.cache import Cache, CachedRun, prune
from tests.conftest import SCENARIO, Command
from tests.damage import changed, json_values
from tests.same import assert_detail_is, assert_recording_is
from tests.samples import detail, flow, outcome, recording

PLAIN = CachedRun(outcome([flow("a", 1.25)]), detail(["a"]), None)


def assert_same(found: CachedRun | None, saved: CachedRun) -> None:
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
    cache = Cache(tmp_path, "scenario", "extension")
    assert cache.load(1, record=False) is None
    cache.save(1, PLAIN)
    assert_same(cache.load(1, record=False), PLAIN)
    assert cache.load(2, record=False) is None


def test_recording_comes_back_whole(tmp_path: Path) -> None:
    saved = CachedRun(PLAIN.outcome, PLAIN.detail, recording())
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, saved)
    found = cache.load(1, record=True)
    assert_same(found, saved)


def test_a_recorded_run_serves_as_a_plain_one_but_not_the_reverse(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, CachedRun(PLAIN.outcome, PLAIN.detail, recording()))
    cache.save(2, PLAIN)
    assert cache.load(1, record=False) is not None
    assert cache.load(2, record=True) is None


@pytest.mark.parametrize(("canonical", "extension"), [("other", "extension"), ("scenario", "other")])
def test_another_scenario_or_build_is_not_reused(tmp_path: Path, canonical: str, extension: str) -> None:
    Cache(tmp_path, "scenario", "extension").save(1, PLAIN)
    assert Cache(tmp_path, canonical, extension).load(1, record=False) is None


def test_fresh_ignores_but_still_saves(tmp_path: Path) -> None:
    fresh = Cache(tmp_path, "scenario", "extension", fresh=True)
    fresh.save(1, PLAIN)
    assert fresh.load(1, record=False) is None
    assert_same(Cache(tmp_path, "scenario", "extension").load(1, record=False), PLAIN)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, Path, bytes]:
    """A cache, the file of its only run, and what is in it."""
    folder = tmp_path_factory.mktemp("kept")
    cache = Cache(folder, "scenario", "extension")
    cache.save(1, CachedRun(PLAIN.outcome, PLAIN.detail, recording(1, 20)))
    (entry,) = entries(folder)
    return cache, entry, entry.read_bytes()


def test_a_file_with_any_byte_changed_or_cut_off_is_not_used(kept: tuple[Cache, Path, bytes]) -> None:
    cache, entry, whole = kept
    entry.write_bytes(whole)
    with entry.open("r+b", buffering=0) as file:
        for position, byte in enumerate(whole):
            os.pwrite(file.fileno(), bytes([byte ^ (1 + position % 255)]), position)
            assert cache.load(1, record=True) is None, position
            os.pwrite(file.fileno(), bytes([byte]), position)
        assert cache.load(1, record=True) is not None
        for length in reversed(range(len(whole))):
            file.truncate(length)
            assert cache.load(1, record=True) is None, length
    entry.write_bytes(whole + b"\0")
    assert cache.load(1, record=True) is None


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_content_of_another_kind_is_no_error(kept: tuple[Cache, Path, bytes], data: st.DataObject) -> None:
    """Only what knows the hash could write it, such as another version."""
    cache, entry, whole = kept
    with np.load(io.BytesIO(whole[: -cache_.SEAL_BYTES])) as archive:
        arrays = dict(archive)
    content = changed(data, json.loads(arrays["content"].tobytes()))
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), np.uint8)
    if data.draw(st.booleans()):
        del arrays[data.draw(st.sampled_from(sorted(arrays)))]
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    cache_.write_run(entry, file.getvalue())
    cache.load(1, record=True)


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_garbage_is_no_error(kept: tuple[Cache, Path, bytes], garbage: bytes) -> None:
    cache, entry, _ = kept
    for content in (garbage, garbage + cache_._seal(entry, garbage)):
        entry.write_bytes(content)
        assert cache.load(1, record=True) is None


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


IN_ITS_PLACE: dict[str, Callable[[Path], Any]] = {
    "nothing": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("[1]"),
    "an archive of something else": lambda path: np.savez(path, other=np.zeros(3)),
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("put", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE)
def test_what_stands_in_the_place_of_a_run_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], Any]
) -> None:
    # The name of a socket may not be long.
    monkeypatch.chdir(tmp_path)
    cache = Cache(Path(), "scenario", "extension")
    cache.save(1, PLAIN)
    (entry,) = entries(Path())
    entry.unlink()
    put(entry)
    assert cache.load(1, record=False) is None
    cache.save(1, PLAIN)
    assert cache.failure is None
    assert_same(cache.load(1, record=False), PLAIN)
    assert entries(tmp_path) == [entry.resolve()]


def test_the_run_of_another_seed_is_not_taken_for_it(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, PLAIN)
    (entry,) = entries(tmp_path)
    cache.save(2, PLAIN)
    (other,) = set(entries(tmp_path)) - {entry}
    other.replace(entry)
    assert cache.load(1, record=False) is None


def test_ctrl_c_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, PLAIN)

    def interrupted(_archive: bytes) -> CachedRun:
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_, "_decoded", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.load(1, record=False)


def refused(*_arguments: Any, **_options: Any) -> Any:
    """What a system call answers on a disk that is mounted read-only; root is not stopped by permissions."""
    raise OSError(30, "Read-only file system")


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let nothing be written from here on."""

    def seal() -> None:
        for name in ("utime", "replace", "unlink", "mkdir"):
            monkeypatch.setattr(os, name, refused)
        for name in ("touch", "replace", "unlink", "mkdir"):
            monkeypatch.setattr(Path, name, refused)
        for name in ("mkstemp", "NamedTemporaryFile"):
            monkeypatch.setattr(tempfile, name, refused)

    return seal


def test_a_read_only_cache_is_reused(tmp_path: Path, read_only: Callable[[], None]) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, PLAIN)
    read_only()
    assert_same(cache.load(1, record=False), PLAIN)
    cache.save(2, PLAIN)
    assert cache.failure == "Read-only file system"
    prune(tmp_path, max_bytes=0)
    assert_same(cache.load(1, record=False), PLAIN)


def test_that_runs_cannot_be_kept_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: Callable[[], None]
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path))
    cl.run(SCENARIO, seeds=1)
    read_only()
    with pytest.warns(CacheWarning, match=r"cannot be kept \(Read-only file system\)") as told:
        result = cl.run(SCENARIO, seeds=3)
    assert [run.reused for run in result.runs] == [True, False, False]
    assert len(told) == 1


def test_the_command_tells_it_in_one_line(cwndlab: Command, scenario: Path) -> None:
    run = ("run", scenario.name, "--seeds", "2", "--no-figure")
    answer = cwndlab(*run, CWNDLAB_CACHE=scenario.name)
    assert answer.returncode == 0
    [line] = [line for line in answer.stderr.splitlines() if "kept" in line]
    assert (
        line == "warning: two.toml: finished runs cannot be kept (Not a directory); they will be made again"
    )


def test_no_parts_are_left_behind(tmp_path: Path) -> None:
    Cache(tmp_path, "scenario", "extension").save(1, PLAIN)
    assert [path.suffix for path in entries(tmp_path)] == [".npz"]


def test_an_unusable_folder_costs_only_the_reuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file", "scenario", "extension")
    cache.save(1, PLAIN)
    assert cache.load(1, record=False) is None


def test_prune_goes_on_past_what_it_cannot_delete(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    cache.save(1, PLAIN)
    (entry,) = entries(tmp_path)
    folder = tmp_path / "00" / "old.npz"
    folder.mkdir(parents=True)
    os.utime(folder, (0, 0))
    prune(tmp_path, max_bytes=0)
    assert not entry.exists()


def test_prune_deletes_what_was_used_longest_ago(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "scenario", "extension")
    for seed in range(4):
        cache.save(seed, PLAIN)
    paths = entries(tmp_path)
    for age, path in enumerate(paths):
        os.utime(path, (1000 - age, 1000 - age))
    size = paths[0].stat().st_size
    prune(tmp_path, max_bytes=2 * size + size // 2)
    assert entries(tmp_path) == paths[:2]
