"""Whatever fails while files are written, none is left half-written under its name."""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import cwndlab as cl
from cwndlab.cli import app
from cwndlab.errors import InputError, OutputError
from cwndlab.output import place
from cwndlab.output.drawing import style
from cwndlab.running.cache import Cache, CachedRun
from cwndlab.system import table_files, writing
from tests.samples import flow, outcome, recording, result

Content = dict[str, bytes]


def content(folder: Path) -> Content:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class FullDisk:
    """Counts the writes to the system; from the n-th on the disk is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.full_at: int | None = None
        disk = self

        class Raw(writing._Raw):
            def write(self, data: Any) -> int:
                disk.count += 1
                if disk.full_at is not None and disk.count >= disk.full_at:
                    # What the system itself says of a full disk.
                    full = os.open("/dev/full", os.O_WRONLY)
                    os.dup2(full, self.fileno())
                    os.close(full)
                return super().write(data)

        monkeypatch.setattr(writing, "_Raw", Raw)


def table() -> pl.DataFrame:
    return pl.DataFrame({"name": ["a", "b"] * 5000, "value": np.arange(10_000.0)})


def figure() -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(2, 1))
    drawn.subplots().plot([0, 1], [1, 0])
    return drawn


# Every kind of file that there is.
def save_result(folder: Path) -> None:
    made = result([outcome([flow("a", 1), flow("b", 2)])] * 2, recording(samples=20))
    made.runs[0].detail.weights["a"] = b"what was learned"
    made.save(folder, figures=False)


def save_figures(folder: Path) -> None:
    style.save(figure(), folder, "figure")


def save_tables(folder: Path) -> None:
    table_files.write_csv(table(), folder / "table.csv")
    table_files.write_parquet(table(), folder / "table.parquet")


def save_array(folder: Path) -> None:
    with writing.whole(folder / "run.npz", durable=False) as file:
        np.savez_compressed(file, zeros=np.zeros(1000), random=np.random.default_rng(1).random(10_000))


SAVED: dict[str, Callable[[Path], None]] = {
    "result": save_result,
    "figures": save_figures,
    "tables": save_tables,
    "kept run": save_array,
}


@pytest.mark.parametrize("kind", SAVED)
def test_whichever_write_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    disk = FullDisk(monkeypatch)
    whole = tmp_path / "whole"
    whole.mkdir()
    SAVED[kind](whole)
    expected, count = content(whole), disk.count
    assert expected
    # Of an SVG with its many small writes some must do.
    for at in sorted({*range(1, count + 1, max(1, count // 15)), count}):
        folder = tmp_path / str(at)
        folder.mkdir()
        disk.count, disk.full_at = 0, at
        with pytest.raises(OutputError, match=r"cannot be written \(No space left on device\)$") as told:
            SAVED[kind](folder)
        assert "\n" not in str(told.value)
        left = content(folder)
        assert left == {name: expected[name] for name in left}
        assert len(left) < len(expected)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes: a real failure of the system."""
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))


@pytest.mark.parametrize("kind", SAVED)
def test_the_system_refuses_a_write(tmp_path: Path, kind: str) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    SAVED[kind](whole)
    expected = content(whole)
    for size in (0, max(map(len, expected.values())) - 1):
        folder = tmp_path / str(size)
        folder.mkdir()
        with largest_file(size), pytest.raises(OutputError, match=r"cannot be written \(File too large\)$"):
            SAVED[kind](folder)
        left = content(folder)
        assert left == {name: expected[name] for name in left}


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with largest_file(2), pytest.raises(OutputError):
        writing.write_text(file, "newer")
    assert content(tmp_path) == {"file": b"old"}
    with pytest.raises(ZeroDivisionError), writing.whole(file) as opened:
        opened.write(bytes(1 // 0))
    assert content(tmp_path) == {"file": b"old"}
    writing.write_text(file, "newer")
    assert content(tmp_path) == {"file": b"newer"}


def test_files_have_the_permissions_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    writing.write_text(tmp_path / "ours", "text")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_that_takes_no_files(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="file: cannot be written"):
        writing.write_text(tmp_path / "missing" / "file", "text")
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OutputError, match="folder: cannot be written"):
        writing.write_text(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_full_disk_is_no_wrong_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def touch(_: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "touch", touch)
    with pytest.raises(OutputError, match="No space left on device") as told:
        place.prepare(tmp_path)
    assert not isinstance(told.value, InputError)


@pytest.mark.filterwarnings("ignore::cwndlab.errors.CacheWarning")
@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_a_full_disk_ends_a_command(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    options = {"run": [], "compare": ["--cc", "cubic,reno"], "sweep": ["--over", "link.0.delay=9 ms,10 ms"]}
    arguments = [command, str(scenario), *options[command], "--seeds", "1", "--out", "out", "--no-figure"]
    with largest_file(3000):
        answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 1
    told = [line for line in answer.stderr.splitlines() if not line.endswith(" s")]
    assert told == ["error: out/result.json: cannot be written (File too large)"]
    assert set(content(tmp_path / "out")) == {"about.json"}
    # Nor is there half of a kept run.
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_kept_run_that_cannot_be_written_costs_the_reuse_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FullDisk(monkeypatch).full_at = 1
    [run] = result([outcome([flow("a", 1)])]).runs
    kept = Cache(tmp_path, "scenario", "extension")
    kept.save(1, CachedRun(run.outcome, run.detail, None))
    assert kept.load(1, record=False) is None
    assert content(tmp_path) == {}


def test_all_files_are_written_by_one_writer() -> None:
    package = Path(cl.__file__).parent
    homes = {"writing.py", "table_files.py"}
    # `io` files are in memory; the report reads its own assets.
    writes = re.compile(
        r"\.write_text\(|\.write_bytes\(|\.write_(parquet|csv|ipc)\(|open\(\"[wax]|\.save(z|txt)?\("
    )
    ours = re.compile(
        r"writing\.|np\.savez_compressed\(file|os\.devnull|self\.cache\.save\(|def save|files\.save\("
    )
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in package.rglob("*.py")
        if path.name not in homes
        for line in path.read_text().splitlines()
        if writes.search(line) and not ours.search(line)
    ]
    assert found == []
