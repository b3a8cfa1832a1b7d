"""Steps shared by the commands that run scenarios: run with progress, print tables, write files."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cwndlab.commands.document import print_document
from cwndlab.errors import INTERRUPTED, InputError
from cwndlab.system.interrupting import noticing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.results.recording import Record
    from cwndlab.results.request import Request
    from cwndlab.results.result import Result, Study
    from cwndlab.results.wanted import Wanted
    from cwndlab.running.exports import Exports
    from cwndlab.running.on import On
    from cwndlab.scenarios.scenario import Problem, Scenario


@dataclass(frozen=True)
class Looks:
    """The form in which results are shown."""

    as_json: bool
    # The formats of figures; none if no figures are wanted.
    formats: tuple[str, ...]
    style: bool = True
    every_flow: bool = False


@dataclass(frozen=True)
class Delivery:
    """Where the results of a request go, and in which form."""

    folder: Path
    request: Request
    looks: Looks


def read_looks(
    formats: str, *, as_json: bool, no_figure: bool, no_style: bool, every_flow: bool = False
) -> Looks:
    """Return the form that the options ask for. Raises `InputError` if a format is unknown."""
    from cwndlab.output.drawing.formats import formats as checked

    wanted = checked(formats)
    return Looks(as_json, () if no_figure else wanted, not no_style, every_flow)


def read_scenario(
    file: Path,
    overrides: Sequence[str],
    controllers: Sequence[str],
    backend: str = "sim",
    *,
    runs: bool = True,
    varied: bool = False,
) -> Scenario:
    """Read a scenario that may name these controllers, check it for this backend and print its warnings.

    The Linux backend needs a kernel if the scenario is to be run. Of a `varied` one only variants run.
    """
    from cwndlab.commands.problems import print_problems
    from cwndlab.controllers.loading import load
    from cwndlab.linux.backend import engine_of
    from cwndlab.scenarios import scenario
    from cwndlab.scenarios.overrides import parse_overrides
    from cwndlab.scenarios.overwritten import require_own_set_once

    load(controllers)
    given = scenario.load(file, parse_overrides(overrides))
    experiment = replace(given, engine=engine_of(backend, given.engine, runs=runs))
    print_problems(experiment, experiment.validate(runs=not varied))
    require_own_set_once(experiment)
    return experiment


def read_wanted(
    best: str | None, limits: Sequence[str], backend: str, sensitivity: str | None = None
) -> Wanted:
    """Return what is asked for. Raises `InputError` if a measure or a unit is unknown."""
    from cwndlab.output.answers.goal import goal, sensitive
    from cwndlab.results.wanted import Wanted

    goal(best, limits)
    asked = Wanted(best, tuple(limits), sensitive(sensitivity))
    if asked.words and backend == "both":
        option = asked.words[0]
        raise InputError(f"{option}: expected --backend sim or linux; both shows only the differences")
    return asked


def parsed_labels(labels: Sequence[str]) -> dict[str, str]:
    """Read `--label NAME=LABEL`. A name may contain `=` itself, as in `{name='cubic'}`; a label may not."""
    parts = [label.rpartition("=") for label in labels]
    for label, (name, _, _) in zip(labels, parts, strict=True):
        if not name:
            raise InputError(f"--label {label}: expected NAME=LABEL, found no name")
    return {name: label for name, _, label in parts}


def print_new_problems(base: Scenario, variants: Sequence[Scenario]) -> None:
    """Print each warning of the variants once, without those of the scenario itself."""
    from cwndlab.commands.problems import print_problems

    known = {problem.text for problem in base.problems()}
    for variant in variants:
        new: list[Problem] = [problem for problem in variant.problems() if problem.text not in known]
        known |= {problem.text for problem in new}
        print_problems(variant, new)


def prepared(out: Path | None, default: str, request: Request, *, replace: bool) -> Path:
    """Return the folder for the results of a request. It is made and checked before any work is done.

    Raises `InputError` if `out` holds the result of another request and must not be replaced. If the default
    folder does, the next free one is taken, and a line on standard error says so.
    """
    from cwndlab.output import place

    default_folder = Path("out") / default
    if out is None:
        folder = default_folder if replace else place.free(default_folder, request)
    else:
        folder = out
        if not replace:
            place.require_free(folder, request, "choose another folder, or replace it with --replace")
    place.prepare(folder)
    if out is None and folder != default_folder:
        held = place.held_in(default_folder)
        note = f"{default_folder} holds {held}; results go to {folder} instead (with --replace, to the first)"
        typer.echo(note, err=True)
    return folder


def run_all(
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
    threads: int | None,
    record: Record,
    *,
    fresh: bool,
    exports: Exports | None = None,
    on: On | None = None,
) -> list[Result]:
    """Run every scenario with every seed. Progress and the number of reused runs go to standard error."""
    from cwndlab.commands.problems import print_export_size, print_memory
    from cwndlab.running.execution import execute
    from cwndlab.running.on import executor_of
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.out_of_memory import require_least
    from cwndlab.system.progress import progress

    print_memory(scenarios, len(seeds), record, threads)
    if exports is not None:
        print_export_size(exports, scenarios, len(seeds))
    require_least()
    count = len(scenarios) * len(seeds)
    began = time.perf_counter()
    with executor_of(on, threads) as executor, progress(counted(count, "run")) as watch:
        results = execute(
            scenarios,
            seeds,
            record=record,
            threads=threads,
            executor=executor,
            fresh=fresh,
            exports=exports,
            watch=watch,
        )
        # They go into the files, and the cluster may be gone by then.
        for result in results:
            result.fetch_series()
    took = time.perf_counter() - began
    runs = [run for result in results for run in result.runs]
    reused = sum(run.reused for run in runs)
    typer.echo(f"{counted(len(runs) - reused, 'new run')}, {reused} reused, in {took:.1f} s", err=True)
    if any(result.interrupted for result in results):
        typer.echo(f"interrupted: {len(runs)} of {count} runs finished", err=True)
    return results


def deliver(study: Study, delivery: Delivery) -> None:
    """Write the files, the report first, and print the tables. Exit with 130 after an interruption."""
    from cwndlab.output import names
    from cwndlab.statistics.numbers import counted

    folder, looks = delivery.folder, delivery.looks
    if study.interrupted and _holds_the_whole(delivery):
        _print(study, looks)
        typer.echo(f"{folder} keeps its whole result of the same request", err=True)
        raise typer.Exit(INTERRUPTED)
    with completing(folder):
        # Here, because loading it takes a moment.
        from cwndlab.output import files

        files.write_tables(study, folder, delivery.request, every_flow=looks.every_flow)
        files.write_report(study, folder)
    try:
        _print(study, looks)
        if study.flows_left_out and not looks.every_flow:
            flows = counted(study.flows_left_out, "flow")
            note = (
                f"{flows} left out of the JSON document, all are in runs.parquet; --every-flow includes them"
            )
            typer.echo(note, err=True)
        typer.echo(f"results in {folder}, report in {folder / names.REPORT}", err=looks.as_json)
        # A pipe would get it after the figures.
        sys.stdout.flush()
    finally:
        # If the reader of the output goes away (`| head`), the figures are still drawn. After Ctrl-C the user
        # is waiting, so none are.
        if looks.formats and not study.interrupted:
            draw(study, folder, looks)
    if study.interrupted:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def completing(folder: Path) -> Iterator[None]:
    """Let Ctrl-C wait until the files of a result are written: without some of them, the others are lost too.

    The command then ends with one line and status 130. A second Ctrl-C ends it at once.
    """
    complete = False
    try:
        with noticing():
            yield
            complete = True
    except KeyboardInterrupt:
        state = "is complete" if complete else "was not written to the end; repeat the command"
        typer.echo(f"interrupted: the result in {folder} {state}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _holds_the_whole(delivery: Delivery) -> bool:
    """Whether the folder already holds an uninterrupted result of the request."""
    from cwndlab.output import about, data_files

    held = about.read(delivery.folder)
    # It is written last.
    ended = (delivery.folder / data_files.FILE).exists()
    return ended and held is not None and held.request == delivery.request and not held.interrupted


def draw(study: Study, folder: Path, looks: Looks) -> None:
    """Draw the figures. Their progress, and how long they took, go to standard error."""
    from cwndlab.output import files
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.progress import progress

    began = time.perf_counter()
    with progress("figures") as watch:
        count = files.write_figures(study, folder, looks.formats, style=looks.style, watch=watch)
    typer.echo(f"{counted(count, 'figure')} in {time.perf_counter() - began:.1f} s", err=True)


def _print(study: Study, looks: Looks) -> None:
    from cwndlab.output.kinds import kind_of
    from cwndlab.system.terminal import output

    if looks.as_json:
        print_document(study.to_json(every_flow=looks.every_flow))
    else:
        kind_of(study).print(output(), study)
