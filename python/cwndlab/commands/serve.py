"""`cwndlab serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cwndlab.commands.options import as_path


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", parser=as_path, help="The folder with results.")
    ] = Path("out"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="The port; 0 takes any that is free.")
    ] = 8000,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write the list into DIR/index.html, which needs no server, and end."),
    ] = False,
) -> None:
    """List all results in a folder, with search, and open their reports in a browser.

    Serves this machine only, and only the files in the folder. Ctrl-C ends it.
    """
    from cwndlab.output import serving, shelf

    if write:
        typer.echo(shelf.write(folder))
        return
    with serving.server(folder, port) as server:
        typer.echo(f"{folder} is at http://{serving.HOST}:{server.server_port}/ until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("", err=True)
