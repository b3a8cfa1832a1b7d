"""Errors and warnings, printed in the style of a compiler."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from cwndlab.system.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.recording import Record
    from cwndlab.running.exports import Exports
    from cwndlab.scenarios.scenario import Problem, Scenario

# Exports below this size are not worth a warning.
LARGE_EXPORT_BYTES = 10**9

COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}


def print_problems(scenario: Scenario, problems: Sequence[Problem]) -> None:
    """Print each problem on standard error, with its line of the scenario."""
    lines = scenario.text.decode(errors="replace").splitlines()
    for problem in problems:
        before, _, after = problem.text.partition(f"{problem.severity}: ")
        print_message(problem.severity, after, before)
        if problem.line and problem.line <= len(lines):
            _print_line(lines[problem.line - 1], problem.column)


def print_lines(report: str) -> None:
    """Print the lines of a report of the checker on standard error, each as a message of its severity."""
    for line in report.splitlines():
        severity = "warning" if ": warning: " in line else "error"
        before, sign, after = line.partition(f"{severity}: ")
        print_message(severity, after if sign else line, before if sign else "")


def print_message(severity: str, message: str, before: str = "") -> None:
    """Print one line on standard error; the severity is coloured on a terminal."""
    colour = None if os.environ.get("NO_COLOR") else COLOURS[severity]
    word = typer.style(f"{severity}:", fg=colour, bold=True if colour else None)
    typer.echo(f"{visible(before)}{word} {visible(message)}", err=True)


def print_memory(scenarios: Sequence[Scenario], seeds: int, record: Record, threads: int | None) -> None:
    """Warn on standard error if these runs need too much memory."""
    from cwndlab.running.memory import warning

    message = warning(scenarios, seeds, record, threads)
    if message is not None:
        print_message("warning", message, f"{scenarios[0].file}: ")


def print_export_size(exports: Exports, scenarios: Sequence[Scenario], seeds: int) -> None:
    """Warn on standard error if these runs write large files."""
    expected = exports.expected_bytes(scenarios, seeds)
    if expected >= LARGE_EXPORT_BYTES:
        message = f"the exports of these runs may take about {expected / 1e9:.0f} GB"
        print_message("warning", message, f"{scenarios[0].file}: ")


def _print_line(line: str, column: int | None) -> None:
    """Print a line of the scenario, and point at one character of it."""
    if not line.strip():
        return
    typer.echo(f"    {visible(line).replace(chr(9), ' ')}", err=True)
    if column:
        typer.echo(" " * (column + 3) + "^", err=True)
