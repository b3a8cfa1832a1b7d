"""`cwndlab reproduce`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import (
    AsJson,
    BackendName,
    Formats,
    Fresh,
    OnCluster,
    Out,
    Replace,
    Threads,
    as_name,
)
from cwndlab.errors import INTERRUPTED, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.reproducing.reproduction import Reproduction
    from cwndlab.running.on import On

    Planned = Sequence[Sequence[Reading]]


class Extent(TypedDict):
    """How much is tried."""

    quick: bool
    full: bool
    defaults_only: bool
    asked: Sequence[str]
    alternative_seeds: int | None


DEFAULT_SEEDS = "20"
QUICK_SEEDS = "3"


def reproduce(
    papers: Annotated[
        list[str],
        typer.Argument(
            metavar="[PAPER]...", parser=as_name, help="The papers. Default: all.", show_default=False
        ),
    ] = [],  # noqa: B006 (typer copies it)
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS", help="The number of seeds, a range or a list. Default: 20, or 3 with --quick."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Use few seeds, skip the alternatives and the runs that only our findings need, and cut "
            "the longest runs.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Try every alternative to what the papers leave open, with all seeds."),
    ] = False,
    defaults: Annotated[
        bool,
        typer.Option(
            "--defaults",
            help="Try no alternatives but those of --try, and with --explain what it finds.",
        ),
    ] = False,
    asked: Annotated[
        list[str],
        typer.Option(
            "--try",
            metavar="ANSWER",
            help="Try this alternative for all claims: an open point (B12) or one answer to it "
            "('B12: HyStart'), as the paper's page names it. Can be repeated.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 (typer copies it)
    alternative_seeds: Annotated[
        int | None,
        typer.Option(
            "--alternative-seeds",
            metavar="N",
            min=1,
            help="Try alternatives with the first N seeds at most. Default: as many as the defaults have.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Search the combinations of answers: what moves which number, and what comes closest.",
        ),
    ] = False,
    backend: Annotated[
        BackendName,
        typer.Option(
            help="Where experiments run: in the simulator, in Linux in place of their stack, or in both."
        ),
    ] = BackendName.SIM,
    threads: Threads = None,
    on: OnCluster = None,
    out: Out = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
    replace: Replace = False,
    figure_formats: Formats = "png",
) -> None:
    """Repeat the papers' experiments and judge their claims.

    Writes a report that compares each number of the papers with ours, and gives a verdict for each claim.
    Finished runs are reused, so after an interruption the same command continues. A refuted claim is a
    result, not an error.
    """
    from cwndlab.commands.deliver import completing, prepared
    from cwndlab.output.drawing.formats import formats
    from cwndlab.papers import files
    from cwndlab.papers.explaining.effects import library
    from cwndlab.results.request import Request
    from cwndlab.running.on import On
    from cwndlab.scenarios.seeds import parse_seeds
    from cwndlab.statistics.numbers import counted

    kinds = formats(figure_formats)
    if quick and (full or explain):
        raise InputError("--quick cannot be combined with --full or --explain")
    if defaults and (quick or full):
        raise InputError("--defaults cannot be combined with --quick or --full")
    if asked and (quick or full):
        raise InputError("--try cannot be combined with --quick (tries none) or --full (tries all)")
    if alternative_seeds is not None and (quick or (defaults and not asked)):
        raise InputError("--alternative-seeds cannot be combined with --quick or --defaults")
    if explain and backend is BackendName.LINUX:
        raise InputError("--explain searches in the simulator: expected --backend sim or both, found linux")
    if explain:
        library()
    where = On.parse(on, threads)
    chosen = parse_seeds(seeds or (QUICK_SEEDS if quick else DEFAULT_SEEDS))
    if alternative_seeds is not None and alternative_seeds > len(chosen):
        expected = f"at most {counted(len(chosen), 'seed')}, as the defaults have"
        raise InputError(f"--alternative-seeds: expected {expected}, found {alternative_seeds}")
    extent: Extent = {
        "quick": quick,
        "full": full,
        "defaults_only": defaults,
        "asked": asked,
        "alternative_seeds": alternative_seeds,
    }
    planned, in_linux = _plan(papers, chosen, backend, extent)
    request = Request.of("reproduce", [papers, chosen, extent, explain, backend])
    folder = prepared(out, backend.folder("reproduce"), request, replace=replace)
    reproduction = _run(
        planned,
        in_linux,
        chosen,
        threads,
        where,
        extent,
        backend=backend,
        fresh=fresh,
        explained=explain,
    )
    with completing(folder):
        files.write_tables(reproduction, folder, request)
    try:
        _print(reproduction, as_json=as_json)
    finally:
        # If the reader of the output goes away (`| head`), the report and the figures are still written.
        typer.echo("writing the report ...", err=True)
        with completing(folder):
            files.write_report(reproduction, folder, kinds)
        typer.echo(f"report in {folder / files.REPORT}", err=as_json)
        # A pipe would get it after the figures.
        sys.stdout.flush()
        _draw(reproduction, folder, kinds, threads)
    if reproduction.interrupted:
        raise typer.Exit(INTERRUPTED)


def _plan(
    papers: Sequence[str], seeds: Sequence[int], backend: BackendName, extent: Extent
) -> tuple[Planned, Planned]:
    """Return the readings of each paper, and with both backends those in Linux besides.

    Says what the runs in Linux will cost.
    """
    from cwndlab.papers.contents.backends import cost
    from cwndlab.papers.reproducing.reproduce import plan

    both = backend is BackendName.BOTH
    planned = plan(papers, seeds, backend=BackendName.SIM if both else backend, **extent)
    in_linux = plan(papers, seeds, backend=BackendName.LINUX, **extent) if both else []
    for each in in_linux if both else planned if backend is BackendName.LINUX else ():
        typer.echo(cost(each), err=True)
    return planned, in_linux


def _run(
    planned: Planned,
    in_linux: Planned,
    seeds: Sequence[int],
    threads: int | None,
    on: On | None,
    extent: Extent,
    *,
    explained: bool,
    backend: str,
    fresh: bool,
) -> Reproduction:
    from cwndlab.papers.reproducing.reproduce import reproduce as run_papers
    from cwndlab.running.on import executor_of
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.out_of_memory import require_least
    from cwndlab.system.progress import progress

    require_least()
    count = sum(reading.most_runs for each in (*planned, *in_linux) for reading in each)
    began = time.perf_counter()
    with executor_of(on, threads) as executor, progress(counted(count, "run")) as watch:
        reproduction = run_papers(
            planned,
            seeds,
            in_linux=in_linux,
            **extent,
            explained=explained,
            backend=backend,
            threads=threads,
            executor=executor,
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


def _draw(reproduction: Reproduction, folder: Path, kinds: Sequence[str], threads: int | None) -> None:
    """Draw the figures. Their progress, and how long they took, go to standard error."""
    from cwndlab.papers import files
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.progress import progress

    began = time.perf_counter()
    with progress("figures") as watch:
        count = files.write_figures(reproduction, folder, kinds, threads, watch)
    if count:
        typer.echo(f"{counted(count, 'figure')} in {time.perf_counter() - began:.1f} s", err=True)


def _print(reproduction: Reproduction, *, as_json: bool) -> None:
    from cwndlab.papers.reproducing.document import document
    from cwndlab.papers.table import print_reproduction
    from cwndlab.system.terminal import output

    if as_json:
        print_document(document(reproduction))
    else:
        print_reproduction(output(), reproduction)
