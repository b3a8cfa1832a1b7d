"""`cwndlab linux`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import AsJson, as_name

Crate = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="CRATE",
        parser=as_name,
        help="Build a kernel with the controllers and queues of your own Rust crate (the folder with its "
        "Cargo.toml) in it, and show that. Takes about a minute, if `make linux` was run before.",
    ),
]


def linux(crate: Crate = None, as_json: AsJson = False) -> None:
    """Show the kernel of the Linux backend: its version, what is built into it, and where it is.

    `make linux` builds it, once for each version of these sources. With your crate in it, `run --with
    PACKAGE --backend linux` runs your controllers inside the kernel.
    """
    from cwndlab.linux import building, kernel
    from cwndlab.linux.crate import Crate
    from cwndlab.system import checkout

    if crate is not None:
        checkout.require("--with")
    current = kernel.current() if crate is None else building.build(Crate.at(crate))
    if as_json:
        shown = None if current is None else {"image": str(current.image), **current.about}
        print_document({"schema": 1, "folder": str(kernel.folder()), "kernel": shown})
        return
    if current is None and not checkout.is_there():
        needs = checkout.missing("a kernel for the Linux backend")
        typer.echo(f"{needs}. Everything else runs: the simulator needs neither sources nor a compiler.")
        return
    if current is None:
        older = "only for other versions of these sources" if kernel.built() else "none"
        typer.echo(
            f"no kernel for the Linux backend (in {kernel.folder()}: {older}); build it with: make linux"
        )
        return
    _print(current.about)
    typer.echo(f"image        {current.image}")


def _print(about: dict[str, Any]) -> None:
    typer.echo(f"Linux        {about['version']}, from {about['source']}")
    typer.echo(f"built        {about['built']} with {', '.join(about['compilers'])}")
    typer.echo(f"size         {about['bytes'] / 1e6:.1f} MB, SHA-256 {about['sha256']}")
    typer.echo(f"controllers  {', '.join(f'linux:{each}' for each in about['controllers'])}")
    typer.echo(f"queues       {', '.join(about['queues'])}")
    if about.get("crate"):
        typer.echo(f"crate        {about['crate']['folder']}, for {about['crate']['module']}")
