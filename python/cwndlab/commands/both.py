"""Steps of the commands that run scenarios on both backends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import BackendName
from cwndlab.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cwndlab.beside.both import Both
    from cwndlab.beside.study import Pairs, StudyOnBoth
    from cwndlab.commands.deliver import Delivery
    from cwndlab.results.recording import Record
    from cwndlab.results.request import Request
    from cwndlab.results.result import Result
    from cwndlab.running.on import On
    from cwndlab.scenarios.scenario import Scenario


def read_on_both(
    file: Path, overrides: Sequence[str], controllers: Sequence[str], *, runs: bool = True
) -> Scenario:
    """Read a scenario that may name the kernel's algorithms and check it for Linux; return it for either.

    A kernel is needed if the scenario is to be run.
    """
    from cwndlab.commands.deliver import read_scenario
    from cwndlab.engine import in_use

    return replace(read_scenario(file, overrides, controllers, BackendName.LINUX, runs=runs), engine=in_use())


def run_on_both(
    pairs: Pairs, seeds: Sequence[int], threads: int | None, record: Record, *, fresh: bool, on: On | None
) -> tuple[list[Result], list[Result]]:
    """Run every pair with every seed; return the results of the simulator and those of Linux."""
    from cwndlab.beside.study import parted
    from cwndlab.commands.deliver import run_all

    results = run_all(pairs.all, seeds, threads, record, fresh=fresh, on=on)
    if any(len(result.runs) < len(seeds) for result in results):
        raise typer.Exit(INTERRUPTED)
    return parted(results)


def request_on_both(
    kind: str, pairs: Pairs, seeds: Sequence[int], record: Record, across: Sequence[str] | None = None
) -> Request:
    """Return the request for these pairs; `across` are the keys of a sweep that are conditions."""
    from cwndlab.results.request import planned

    return planned(
        f"{kind} on both", [({}, scenario) for scenario in pairs.all], seeds, record, across=across
    )


def deliver_both(both: Both | StudyOnBoth, delivery: Delivery) -> None:
    """Write the study of each backend into a folder of its own, and print the differences."""
    from cwndlab.beside.table import print_both
    from cwndlab.commands.deliver import completing, draw
    from cwndlab.output import about, files
    from cwndlab.output.place import prepare
    from cwndlab.results.request import request_of
    from cwndlab.system import writing
    from cwndlab.system.terminal import output

    document = both.to_json()
    looks, folder = delivery.looks, delivery.folder
    parts = ((folder / "sim", both.sim), (folder / "linux", both.linux))
    with completing(folder):
        about.write(about.about(both.linux, delivery.request), folder)
        writing.write_text(folder / "differences.json", files.dump(document))
        for part, study in parts:
            prepare(part)
            files.write_tables(study, part, request_of(study))
            files.write_report(study, part)
    if looks.as_json:
        print_document(document)
    else:
        print_both(output(), both.linux, [*both.variants])
    typer.echo(f"results in {' and '.join(str(part) for part, _ in parts)}", err=looks.as_json)
    if looks.formats:
        for part, study in parts:
            draw(study, part, looks)
