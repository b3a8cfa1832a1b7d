"""`cwndlab run`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cwndlab.commands.options import AsJson, File, Overrides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.result import Result
    from cwndlab.runner import Batch
    from cwndlab.scenario import Scenario

INTERRUPTED = 130


def run(
    file: File,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="SEEDS", help="How many (5: seeds 1 to 5), a range (1-20) or a list (3,5,8-10)."
        ),
    ] = "5",
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Seeds run at a time; default: all cores.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder for the results; default: out/NAME-OF-FILE.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run anew what was run before.")] = False,
    as_json: AsJson = False,
    no_figure: Annotated[bool, typer.Option("--no-figure", help="Draw nothing.")] = False,
) -> None:
    """Run a scenario over several seeds.

    Prints means with their 95 % intervals, and writes tables, recorded series and a figure into a folder.
    Runs that were made before are reused. Ctrl-C keeps the seeds that are finished.
    """
    from cwndlab import files, scenario
    from cwndlab.commands.problems import print_problems
    from cwndlab.errors import InputError
    from cwndlab.seeds import parse_seeds

    if out == "":
        # An unset variable of a script must not put the results where the caller stands.
        raise InputError("--out: the name of a folder is missing")
    chosen = parse_seeds(seeds)
    experiment = scenario.load(file, [scenario.parse_override(text) for text in overrides])
    print_problems(experiment, experiment.validate())
    folder = Path("out") / experiment.stem if out is None else Path(out)
    files.prepare(folder)

    batch = _run(experiment, chosen, threads, fresh=fresh)
    if batch.runs:
        _report(experiment, batch, folder, as_json=as_json, figure=not no_figure)
    if batch.interrupted:
        typer.echo(f"interrupted: {len(batch.runs)} of {len(chosen)} seeds finished", err=True)
        raise typer.Exit(INTERRUPTED)


def _run(experiment: Scenario, seeds: Sequence[int], threads: int | None, *, fresh: bool) -> Batch:
    from cwndlab.manifest import extension_hash
    from cwndlab.numbers import counted
    from cwndlab.progress import progress
    from cwndlab.runner import run_seeds
    from cwndlab.store import Store, default_folder, prune

    store = Store(default_folder(), experiment.canonical, extension_hash(), fresh=fresh)
    began = time.perf_counter()
    with progress(counted(len(seeds), "seed")) as watch:
        batch = run_seeds(experiment, seeds, store, threads=threads, watch=watch)
    took = time.perf_counter() - began
    reused = sum(run.reused for run in batch.runs)
    typer.echo(f"{counted(len(batch.runs) - reused, 'seed')} run, {reused} reused, in {took:.1f} s", err=True)
    prune(default_folder())
    return batch


def _report(experiment: Scenario, batch: Batch, folder: Path, *, as_json: bool, figure: bool) -> None:
    from cwndlab import files
    from cwndlab.result import Result

    result = Result(experiment, batch.runs, batch.interrupted)
    files.write_tables(result, folder)
    try:
        _print(result, as_json=as_json)
    finally:
        # A reader that goes away (`| head`) costs no figure. Whoever pressed Ctrl-C is waiting: no pictures.
        if figure and not batch.interrupted:
            files.write_figures(result, folder)
    typer.echo(f"results in {folder}", err=as_json)


def _print(result: Result, *, as_json: bool) -> None:
    from cwndlab import files

    if as_json:
        typer.echo(files.dump(result.to_json()))
        return

    from cwndlab.table import print_result
    from cwndlab.terminal import output

    print_result(output(), result)
