"""`cwndlab reproduce`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cwndlab.commands.options import AsJson, BackendName, Fresh, Out, Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.reproducing.reproduction import Reproduction

DEFAULT_SEEDS = "20"
QUICK_SEEDS = "3"


def reproduce(
    papers: Annotated[
        list[str],
        typer.Argument(metavar="[PAPER]...", help="The papers. Default: all.", show_default=False),
    ] = [],  # noqa: B006 (typer copies it)
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS", help="The number of seeds, a range or a list. Default: 20, or 3 with --quick."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Use few seeds, skip the alternatives and cut runs to 60 s.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Try every alternative to what the papers leave open, with all seeds."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Search the combinations of answers: what moves which number, and what comes closest.",
        ),
    ] = False,
    backend: Annotated[
        BackendName,
        typer.Option(help="Where experiments run: in the simulator, or in Linux in place of their stack."),
    ] = BackendName.SIM,
    threads: Threads = None,
    out: Out = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> None:
    """Repeat the papers' experiments and judge their claims.

    Writes a report that compares each number of the papers with ours, and gives a verdict for each claim.
    Finished runs are reused, so after an interruption the same command continues. A refuted claim is a
    result, not an error.
    """
    from cwndlab.commands.deliver import INTERRUPTED, prepared
    from cwndlab.errors import InputError
    from cwndlab.papers import files
    from cwndlab.papers.explaining.effects import library
    from cwndlab.papers.reproducing.reproduce import plan
    from cwndlab.scenarios.seeds import parse_seeds

    if quick and (full or explain):
        raise InputError("--quick cannot be combined with --full or --explain")
    if backend is BackendName.BOTH:
        raise InputError("--backend: expected sim or linux, found both; reproduce on each in turn")
    if explain and backend is not BackendName.SIM:
        raise InputError("--explain searches in the simulator; leave out --backend")
    if explain:
        library()
    chosen = parse_seeds(seeds or (QUICK_SEEDS if quick else DEFAULT_SEEDS))
    planned = plan(papers, chosen, quick=quick, full=full, backend=backend)
    folder = prepared(out, "reproduce")
    extent = {"quick": quick, "full": full, "explained": explain}
    reproduction = _run(planned, chosen, threads, backend=backend, fresh=fresh, **extent)
    files.write_tables(reproduction, folder)
    try:
        _print(reproduction, as_json=as_json)
    finally:
        # If the reader of the output goes away (`| head`), the figures and the report are still written.
        typer.echo("writing the report ..." if quick else "writing figures and the report ...", err=True)
        files.write_figures(reproduction, folder, threads)
        files.write_report(reproduction, folder)
    typer.echo(f"report in {folder / files.REPORT}", err=as_json)
    if reproduction.interrupted:
        raise typer.Exit(INTERRUPTED)


def _run(
    planned: Sequence[Sequence[Reading]],
    seeds: Sequence[int],
    threads: int | None,
    *,
    quick: bool,
    full: bool,
    explained: bool,
    backend: str,
    fresh: bool,
) -> Reproduction:
    from cwndlab.papers.reproducing.reproduce import reproduce as run_papers
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.out_of_memory import require_least
    from cwndlab.system.progress import progress

    require_least()
    count = sum(reading.most_runs for each in planned for reading in each)
    began = time.perf_counter()
    with progress(counted(count, "run")) as watch:
        reproduction = run_papers(
            planned,
            seeds,
            quick=quick,
            full=full,
            explained=explained,
            backend=backend,
            threads=threads,
            fresh=fresh,
            watch=watch,
        )
    made = [run for result in reproduction.results for run in result.runs]
    reused = sum(run.reused for run in made)
    took = time.perf_counter() - began
    typer.echo(f"{counted(len(made) - reused, 'new run')}, {reused} reused, in {took:.1f} s", err=True)
    if reproduction.interrupted:
        note = "repeat the command to continue"
        typer.echo(f"interrupted: {len(made)} of {count} runs finished; {note}", err=True)
    return reproduction


def _print(reproduction: Reproduction, *, as_json: bool) -> None:
    from cwndlab.output.files import dump
    from cwndlab.papers.reproducing.document import document
    from cwndlab.papers.table import print_reproduction
    from cwndlab.system.terminal import output

    if as_json:
        typer.echo(dump(document(reproduction)))
    else:
        print_reproduction(output(), reproduction)
