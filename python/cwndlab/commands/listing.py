"""`cwndlab list`."""

from __future__ import annotations

import textwrap
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.options import AsJson, Controllers

if TYPE_CHECKING:
    from collections.abc import Iterable


class Part(StrEnum):
    """What can be listed."""

    ALGORITHMS = "algorithms"
    QUEUES = "queues"
    PROFILES = "profiles"
    TRACES = "traces"
    PAPERS = "papers"
    ENVIRONMENTS = "environments"


# Summaries go on in the next line.
WIDTH = 80


def list_(
    part: Annotated[Part | None, typer.Argument(help="Which; default: all.")] = None,
    controllers: Controllers = [],  # noqa: B006 (typer copies it)
    as_json: AsJson = False,
) -> None:
    """List what there is: algorithms, queues, profiles, ..."""
    from cwndlab.controllers.loading import load
    from cwndlab.engine import catalogue, in_use
    from cwndlab.output import files

    load(controllers)
    known = {**in_use().read_catalogue(), Part.PAPERS: _papers()}
    parts = list(Part) if part is None else [part]
    if as_json:
        typer.echo(files.dump({"schema": 1, **{name: _brief(known[name]) for name in parts}}))
        return
    for index, name in enumerate(parts):
        if index:
            typer.echo()
        typer.echo(f"{name}:")
        _print(known[name])
        if name == Part.ALGORITHMS:
            typer.echo()
            how = "runs one on each subflow of a connection as if it were alone"
            typer.echo(f"{catalogue.UNCOUPLED}NAME {how}.")


def _papers() -> list[dict[str, Any]]:
    """The papers of a source checkout; none where there is no such checkout."""
    from cwndlab.errors import InputError
    from cwndlab.papers.reading import library

    try:
        return [{"name": name, "summary": library.title(name)} for name in library.names()]
    except InputError:
        return []


def _brief(entries: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"name": entry["name"], "summary": entry.get("summary") or ""} for entry in entries]


def _print(entries: list[dict[str, Any]]) -> None:
    width = max((len(entry["name"]) for entry in entries), default=0)
    for entry in _brief(entries):
        first, *rest = textwrap.wrap(entry["summary"], WIDTH - width - 4) or [""]
        typer.echo(f"  {entry['name']:{width}}  {first}".rstrip())
        for line in rest:
            typer.echo(f"  {'':{width}}  {line}")
