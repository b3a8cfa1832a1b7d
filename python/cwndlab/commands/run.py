"""`cwndlab run`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cwndlab.commands.options import (
    AsJson,
    Backend,
    BackendName,
    Controllers,
    EveryFlow,
    File,
    Fresh,
    NoFigure,
    NoStyle,
    Out,
    Overrides,
    Seeds,
    Threads,
)
from cwndlab.results.recording import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cwndlab.beside.both import Both


def run(
    file: File,
    seeds: Seeds = "5",
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
    backend: Backend = BackendName.SIM,
    threads: Threads = None,
    out: Out = None,
    record: Annotated[Record, typer.Option(help="The seeds whose time series are recorded.")] = Record.FIRST,
    fresh: Fresh = False,
    as_json: AsJson = False,
    every_flow: EveryFlow = False,
    no_figure: NoFigure = False,
    no_style: NoStyle = False,
) -> None:
    """Run a scenario over several seeds.

    Prints means with their 95 % intervals, and writes tables, figures and a report into a folder. Earlier
    runs are reused. Ctrl-C keeps the finished runs.
    """
    from cwndlab.commands.deliver import INTERRUPTED, Delivery, deliver, prepared, read_scenario, run_all
    from cwndlab.scenarios.seeds import parse_seeds

    chosen = parse_seeds(seeds)
    if backend is BackendName.BOTH:
        both = _on_both(file, overrides, controllers, chosen, threads, record, fresh=fresh)
        _deliver_both(both, prepared(out, backend.folder(file.stem)), as_json, not no_figure, not no_style)
        return
    experiment = read_scenario(file, overrides, controllers, backend)
    folder = prepared(out, backend.folder(experiment.stem))
    [result] = run_all([experiment], chosen, threads, record, fresh=fresh)
    if not result.runs:
        raise typer.Exit(INTERRUPTED)
    delivery = Delivery(folder, as_json, not no_figure, not no_style, every_flow)
    deliver(result, delivery)


def _on_both(
    file: Path,
    overrides: Sequence[str],
    controllers: Sequence[str],
    seeds: Sequence[int],
    threads: int | None,
    record: Record,
    *,
    fresh: bool,
) -> Both:
    """Run a scenario that names the kernel's algorithms in Linux, and in the simulator with ours."""
    from cwndlab.beside.both import Both, on_both
    from cwndlab.commands.deliver import INTERRUPTED, read_scenario, run_all
    from cwndlab.engine import in_use

    given = read_scenario(file, overrides, controllers, BackendName.LINUX)
    in_sim = replace(given, engine=in_use())
    sim, linux = run_all(list(on_both(in_sim)), seeds, threads, record, fresh=fresh)
    if len(sim.runs) < len(seeds) or len(linux.runs) < len(seeds):
        raise typer.Exit(INTERRUPTED)
    return Both(sim, linux)


def _deliver_both(both: Both, folder: Path, as_json: bool, figures: bool, style: bool) -> None:
    """Write the results of each backend into a folder of its own, and print the differences."""
    from cwndlab.beside.table import print_both
    from cwndlab.output import files
    from cwndlab.system import writing
    from cwndlab.system.terminal import output

    document = both.to_json()
    for name, result in (("sim", both.sim), ("linux", both.linux)):
        files.prepare(folder / name)
        files.save(result, folder / name, figures=figures, style=style)
    writing.write_text(folder / "differences.json", files.dump(document))
    if as_json:
        typer.echo(files.dump(document))
    else:
        print_both(output(), both)
    typer.echo(f"results in {folder / 'sim'} and {folder / 'linux'}", err=as_json)
