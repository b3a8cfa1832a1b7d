"""Remarks of the checker, printed as compilers do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.scenario import Problem

COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}


def print_problems(file: str, problems: Sequence[Problem]) -> None:
    """Print each problem on standard error, with the line it is about."""
    for problem in problems:
        place = ":".join(str(part) for part in (file, problem.line, problem.column) if part)
        print_message(problem.severity, f"{place}: {{}}: {problem.message}")
        if problem.text:
            typer.echo(f"    {problem.text.expandtabs(1)}", err=True)
            if problem.column:
                typer.echo(" " * (problem.column + 3) + "^", err=True)


def print_message(severity: str, template: str) -> None:
    """Print a line on standard error with the severity, coloured for a terminal, in place of `{}`."""
    colour = None if os.environ.get("NO_COLOR") else COLOURS[severity]
    before, _, after = template.partition("{}")
    typer.echo(before + typer.style(severity, fg=colour, bold=colour is not None) + after, err=True)
