"""Memory that is not enough ends a command with one line and exit status 1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cwndlab import _native
from cwndlab.cli import app
from cwndlab.system import out_of_memory
from tests.conftest import Command

# The simulator itself runs out: thousands of flows, in little more memory than Python has taken.
SIMULATE = """
import resource
import sys
from pathlib import Path

import numpy

from cwndlab import _native

taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 20_000_000, -1))
text = sys.stdin.buffer.read()
_native.run_seed(text, "x.toml", [("flow.0.count", "300000")], 1, False, _native.RunToken())
"""


def limited(cwndlab: Command, kilobytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell whose address space is limited."""
    return subprocess.run(
        ["bash", "-c", f'ulimit -v {kilobytes}; exec "$@"', "bash", *cwndlab.line(*arguments)],
        cwd=cwndlab.folder,
        env=cwndlab.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("command", [["run"], ["compare", "--cc", "cubic,reno"]])
def test_a_limit_that_leaves_no_room_for_the_libraries(
    cwndlab: Command, scenario: Path, command: list[str]
) -> None:
    name, *options = command
    answer = limited(cwndlab, 500_000, name, scenario.name, *options)
    assert answer.returncode == 1
    assert answer.stderr == (
        "error: not enough memory: `ulimit -v` allows 512 MB of address space; "
        "the libraries of a run need 1200 to 1900 MB\n"
    )


def test_the_simulator_runs_out(scenario: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", SIMULATE],
        input=scenario.read_bytes(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 1
    said = answer.stderr.decode()
    assert said.startswith("error: not enough memory: the simulator needs ")
    assert said.endswith(" MB more than it can have\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "error: not enough memory"),
        (
            MemoryError("Unable to allocate 8.00 GiB for an array"),
            "error: not enough memory (Unable to allocate 8.00 GiB for an array)",
        ),
        (
            ImportError("x.so: failed to map\nsegment from shared object: Cannot allocate memory"),
            "error: not enough memory (ImportError: x.so: failed to map segment from shared object: "
            "Cannot allocate memory)",
        ),
        (OSError(12, "Cannot allocate memory"), "error: not enough memory (OSError: [Errno 12] Cannot allo"),
    ],
)
def test_python_runs_out(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def check(*_: object) -> None:
        raise error

    monkeypatch.setattr(_native, "check", check)
    answer = CliRunner().invoke(app, ["check", str(scenario)])
    assert answer.exit_code == 1
    assert answer.stderr.startswith(said)
    assert answer.stderr.count("\n") == 1


def test_another_error_is_none_of_memory() -> None:
    assert not out_of_memory.ran_out(ValueError("no"))


def test_the_cause_counts() -> None:
    error = RuntimeError("a library could not be loaded")
    error.__cause__ = MemoryError()
    assert out_of_memory.ran_out(error)
