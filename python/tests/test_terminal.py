"""Standard output that is closed, full, or of no interest any more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Command

FULL = "error: standard output: cannot be written (No space left on device)\n"
# Each way to write to standard output: a line, a table, a document, and before any command is known.
COMMANDS = (["check", "two.toml"], ["show", "cubic"], ["show", "cubic", "--json"], ["--help"])


def shell(
    cwndlab: Command, arguments: list[str], redirection: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command with what a shell writes behind it."""
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$@" {redirection}', "bash", *cwndlab.line(*arguments)],
        cwd=cwndlab.folder,
        env=cwndlab.environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_standard_output(cwndlab: Command, scenario: Path, arguments: list[str]) -> None:
    assert scenario.is_file()
    for environment in ({}, {"PYTHONUNBUFFERED": "1"}):
        answer = shell(cwndlab, arguments, ">/dev/full", **environment)
        assert (answer.returncode, answer.stderr) == (1, FULL)


def test_a_closed_standard_output(cwndlab: Command, scenario: Path) -> None:
    answer = shell(cwndlab, ["run", scenario.name, "--seeds", "1"], ">&-")
    assert (answer.returncode, answer.stderr) == (1, "error: standard output: is closed\n")
    # Before any work: nothing was run, nothing written.
    assert [path.name for path in cwndlab.folder.iterdir()] == [scenario.name]


def test_a_reader_that_goes_away(cwndlab: Command, scenario: Path) -> None:
    assert scenario.is_file()
    for arguments in COMMANDS:
        answer = shell(cwndlab, arguments, "| true")
        assert (answer.returncode, answer.stderr) == (0, "")


def test_a_width_of_zero_is_an_unknown_one(cwndlab: Command, scenario: Path) -> None:
    words = ("run", scenario.name, "--seeds", "1", "--no-figure")
    plain, zero = cwndlab(*words), cwndlab(*words, COLUMNS="0")
    assert zero.stdout == plain.stdout
    assert "Mbit/s" in zero.stdout


def test_a_full_standard_output_costs_no_file(cwndlab: Command, scenario: Path) -> None:
    # The document is larger than a buffer.
    for form in (["--json"], []):
        words = ["run", scenario.name, "--seeds", "1", "--no-figure", "--out", "out", *form]
        answer = shell(cwndlab, words, ">/dev/full")
        assert answer.returncode == 1
        *said, last = answer.stderr.splitlines(keepends=True)
        assert last == FULL
        assert all("new run" in line for line in said)
        assert (cwndlab.folder / "out" / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>&1 >/dev/null | true"])
def test_remarks_that_nobody_can_read_cost_nothing(
    cwndlab: Command, scenario: Path, redirection: str
) -> None:
    answer = shell(cwndlab, ["check", scenario.name, "--set", "duration=2 days"], redirection)
    assert answer.returncode == 2
    # A warning, and the answer.
    told = shell(cwndlab, ["check", scenario.name, "--set", "link.0.delay=11 s"], redirection)
    assert told.returncode == 0
    assert ("ok: 2 s" in told.stdout) is ("null" not in redirection)
