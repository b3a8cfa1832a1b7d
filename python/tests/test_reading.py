"""Files that a user names: bounded, regular, and never waited for."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cwndlab.cli import app
from cwndlab.errors import InputError
from cwndlab.system import reading
from tests.conftest import Command

# What is no file, and what it is called. None of them may be waited for, or read to its end.
ODD = ("a pipe", "a device", "a directory", "a socket")
DRIVE = "cwndlab/DqnNewReno-v0"


def odd(kind: str, path: Path) -> Path:
    """Make one of them; what it is called where the path is fixed."""
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    elif kind == "a directory":
        path.mkdir()
    else:
        # The name of a socket must be short.
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(path.name)
        finally:
            os.chdir(here)
    return path


# Every way to name a file to the command line, by the name that the file has.
COMMANDS: dict[str, list[str]] = {
    "odd.toml": ["check", "odd.toml"],
    "odd.py": ["check", "two.toml", "--with", "odd.py"],
    "odd.trace": ["check", "two.toml", "--set", "link.0.trace=odd.trace"],
    "odd.safetensors": [
        "check",
        "two.toml",
        "--set",
        'flow.0.cc={name="dqn-cubic",policy="play",weights="odd.safetensors"}',
    ],
    "from.safetensors": ["train", DRIVE, "--from", "from.safetensors"],
    "scored.safetensors": ["score", DRIVE, "--weights", "scored.safetensors"],
    "checkpoint.safetensors": ["train", DRIVE, "--resume", "."],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_at_once(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    assert scenario.is_file()
    monkeypatch.chdir(tmp_path)
    odd(kind, Path(name))
    answer = CliRunner().invoke(app, COMMANDS[name])
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert name in answer.stderr
    assert any(word in answer.stderr for word in (kind, kind.replace("directory", "folder")))
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("file", ["claims.toml", "paper.toml", "targets.csv"])
def test_the_files_of_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    from cwndlab.papers.reading import library

    shipped = library.folder() / "lim2004"
    paper = tmp_path / "lim2004"
    paper.mkdir()
    for each in shipped.iterdir():
        (paper / each.name).symlink_to(each.resolve())
    monkeypatch.setenv("CWNDLAB_PAPERS", str(tmp_path))
    assert library.read("lim2004").id
    (paper / file).unlink()
    odd("a device", paper / file)
    with pytest.raises(InputError, match=f"{file}:1: expected .*, found a device"):
        library.read("lim2004")


def test_the_limit_holds_while_reading(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.touch()
    for size, limit in ((reading.MIB, reading.MIB), (2 * reading.MIB + 5, 3 * reading.MIB)):
        os.truncate(file, size)
        assert reading.read(file, limit, "zeros") == bytes(size)
    os.truncate(file, 3 * reading.MIB + 1)
    with pytest.raises(InputError, match="large: expected zeros, found more than 3 MiB"):
        reading.read(file, 3 * reading.MIB, "zeros")


def test_a_name_that_is_none() -> None:
    with pytest.raises(InputError, match="not a valid file name"):
        reading.read(Path("a\0b"), 10, "a letter")


def piped(cwndlab: Command, given: Callable[[], subprocess.Popen[bytes]], path: str) -> tuple[int, str]:
    with given() as writer:
        answer = subprocess.run(
            cwndlab.line("check", path),
            cwd=cwndlab.folder,
            env=cwndlab.environment(),
            stdin=writer.stdout,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        writer.kill()
    return answer.returncode, answer.stdout + answer.stderr


def test_a_scenario_through_a_pipe(cwndlab: Command, scenario: Path) -> None:
    # The shell's `cat two.toml | cwndlab check /dev/stdin`.
    status, said = piped(
        cwndlab, lambda: subprocess.Popen(["cat", str(scenario)], stdout=subprocess.PIPE), "/dev/stdin"
    )
    assert status == 0, said
    assert "/dev/stdin: ok: 2 s, 2 flows" in said


def test_a_pipe_without_end(cwndlab: Command) -> None:
    status, said = piped(
        cwndlab, lambda: subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE), "/dev/stdin"
    )
    assert status == 2
    assert said == "error: /dev/stdin: expected a scenario file (.toml), found more than 16 MiB\n"
