"""`cwndlab list`."""

from __future__ import annotations

import textwrap
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import AsJson, Controllers

if TYPE_CHECKING:
    from collections.abc import Iterable


class Part(StrEnum):
    """What can be listed."""

    ALGORITHMS = "algorithms"
    QUEUES = "queues"
    PROFILES = "profiles"
    TRACES = "traces"
    SCENARIOS = "scenarios"
    PAPERS = "papers"
    ENVIRONMENTS = "environments"
    LINUX = "linux"


# Longer summaries continue on the next line.
WIDTH = 80


def list_(
    part: Annotated[Part | None, typer.Argument(help="What to list. Default: everything.")] = None,
    controllers: Controllers = [],  # noqa: B006 (typer copies it)
    as_json: AsJson = False,
) -> None:
    """List algorithms, queues, profiles, traces, example scenarios, papers, environments, and more.

    An example scenario runs by its name: `cwndlab run two-flows`.
    """
    from cwndlab.controllers.loading import load
    from cwndlab.engine import catalogue, in_use
    from cwndlab.scenarios import examples

    load(controllers)
    kernels = catalogue.of_the_kernel(in_use())
    known = {
        **in_use().read_catalogue(),
        Part.SCENARIOS: [{"name": name, "summary": examples.summary(name)} for name in examples.names()],
        Part.PAPERS: _papers(asked=part is Part.PAPERS),
        Part.LINUX: kernels,
    }
    parts = list(Part) if part is None else [part]
    if as_json:
        print_document({"schema": 1, **{name: _brief(known[name]) for name in parts}})
        return
    for index, name in enumerate(parts):
        if index:
            typer.echo()
        typer.echo(f"{name}:")
        _print(known[name])
        if name == Part.ALGORITHMS:
            typer.echo()
            how = "runs the algorithm NAME on each subflow independently"
            typer.echo(f"{catalogue.UNCOUPLED}NAME {how}.")


def _papers(*, asked: bool) -> list[dict[str, Any]]:
    """Return the papers; without a folder of papers there are none, unless they are what was asked for."""
    from cwndlab.errors import InputError
    from cwndlab.papers.reading import library

    try:
        return [{"name": name, "summary": library.title(name)} for name in library.names()]
    except InputError:
        if asked:
            raise
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
