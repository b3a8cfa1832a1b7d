"""`cwndlab diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import AsJson, as_path

if TYPE_CHECKING:
    from cwndlab.results.result import Study

OTHERS = {
    "reproduce": "the reproduction of papers",
    "both": "results of both backends: name its folder sim or linux",
}


def diff(
    one: Annotated[Path, typer.Argument(metavar="DIR", parser=as_path, help="The folder of a result.")],
    other: Annotated[Path, typer.Argument(metavar="DIR", parser=as_path, help="The folder of another one.")],
    as_json: AsJson = False,
) -> None:
    """Compare two stored results: requests, settings, manifests, and every measure.

    Both must be made by the same command: `run`, `compare` or `sweep`. Differences are paired by seed over
    the seeds that both have. Nothing is run.
    """
    from cwndlab.output.tables.difference import print_difference
    from cwndlab.results.difference import difference
    from cwndlab.system.terminal import output

    studies = _stored(one), _stored(other)
    found = difference((str(one), str(other)), *studies, (_manifest(one), _manifest(other)))
    if as_json:
        print_document(found.to_json())
    else:
        print_difference(output(), found)


def _stored(folder: Path) -> Study:
    from cwndlab.errors import InputError
    from cwndlab.output import about, loading

    held = about.read(folder)
    kind = "" if held is None else held.kind.rpartition(" ")[2]
    if kind in OTHERS:
        raise InputError(f"{folder}: expected the folder of a run, comparison or sweep, found {OTHERS[kind]}")
    return loading.load(folder)


def _manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest that was stored. A loaded study describes the program that loads it."""
    import json

    from cwndlab.errors import InputError
    from cwndlab.output.names import DOCUMENT
    from cwndlab.system.reading import read_regular

    path = folder / DOCUMENT
    try:
        manifest: dict[str, Any] = dict(json.loads(read_regular(path))["manifest"])
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path}: is damaged: expected a JSON document with a manifest") from None
    return manifest
