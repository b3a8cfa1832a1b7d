"""`cwndlab copy`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cwndlab.commands.options import as_path
from cwndlab.system.shipped import Shipped


def copy(
    what: Annotated[Shipped, typer.Argument(help="What to copy.")],
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=as_path,
            help="The new folder. Default: scenarios, or papers.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Copy the example scenarios, or the papers with their experiments, into a new folder.

    They come with cwndlab and run by their names; copy them to change them.
    """
    from cwndlab.system import shipped

    folder = to or Path(what)
    shipped.copy(what, folder)
    typer.echo(f"{what} are in {folder}")
