"""`cwndlab check`."""

from __future__ import annotations

import typer

from cwndlab.commands.options import Controllers, File, Overrides

# As many as `cwndlab run` takes by default.
SEEDS = 5


def check(
    file: File,
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
) -> None:
    """Tell every mistake in a scenario.

    Each is told with its line and what is allowed there. Warns of runs that need more than half of the
    memory.
    """
    from cwndlab.commands.deliver import read_scenario
    from cwndlab.commands.problems import print_memory
    from cwndlab.outline import outline
    from cwndlab.recording import Record

    experiment = read_scenario(file, overrides, controllers)
    print_memory([experiment], SEEDS, Record.FIRST, None)
    head, *links = outline(experiment.resolved)
    typer.echo(f"{file}: ok: {head}")
    for link in links:
        typer.echo(f"  {link}")
