"""`cwndlab check`."""

from __future__ import annotations

import typer

from cwndlab.commands.options import File, Overrides


def check(file: File, overrides: Overrides = []) -> None:  # noqa: B006 (typer copies it)
    """Tell every mistake in a scenario.

    Each is told with its line and what is allowed there.
    """
    from cwndlab import scenario
    from cwndlab.commands.problems import print_problems
    from cwndlab.outline import outline

    experiment = scenario.load(file, [scenario.parse_override(text) for text in overrides])
    print_problems(experiment, experiment.validate())
    head, *links = outline(experiment.resolved)
    typer.echo(f"{file}: ok: {head}")
    for link in links:
        typer.echo(f"  {link}")
