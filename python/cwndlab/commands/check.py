"""`cwndlab check`."""

from __future__ import annotations

import typer

from cwndlab.commands.options import Controllers, File, Overrides


def check(
    file: File,
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
) -> None:
    """Tell every mistake in a scenario.

    Each is told with its line and what is allowed there.
    """
    from cwndlab.commands.deliver import read_scenario
    from cwndlab.outline import outline

    experiment = read_scenario(file, overrides, controllers)
    head, *links = outline(experiment.resolved)
    typer.echo(f"{file}: ok: {head}")
    for link in links:
        typer.echo(f"  {link}")
