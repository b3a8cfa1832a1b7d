"""Steps shared by the commands that run scenarios: run with progress, print tables, write files."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.recording import Record
    from cwndlab.results.result import Result, Study
    from cwndlab.results.wanted import Wanted
    from cwndlab.scenarios.scenario import Override, Problem, Scenario

INTERRUPTED = 130


@dataclass(frozen=True)
class Delivery:
    """Where results go, and in which form."""

    folder: Path
    as_json: bool
    figures: bool
    style: bool
    every_flow: bool = False


def read_scenario(
    file: Path,
    overrides: Sequence[str],
    controllers: Sequence[str],
    backend: str = "sim",
    *,
    runs: bool = True,
) -> Scenario:
    """Read a scenario that may name these controllers, check it for this backend and print its warnings.

    The Linux backend needs a kernel if the scenario is to be run.
    """
    from cwndlab.commands.problems import print_problems
    from cwndlab.controllers.loading import load
    from cwndlab.linux.backend import engine_of
    from cwndlab.scenarios import scenario

    load(controllers)
    parsed: list[Override] = [scenario.parse_override(text) for text in overrides]
    given = scenario.load(file, parsed)
    experiment = replace(given, engine=engine_of(backend, given.engine, runs=runs))
    print_problems(experiment, experiment.validate())
    return experiment


def read_wanted(best: str | None, limits: Sequence[str], backend: str) -> Wanted:
    """Return what is asked for. Raises `InputError` if a measure or a unit is unknown."""
    from cwndlab.errors import InputError
    from cwndlab.output.answers.goal import goal
    from cwndlab.results.wanted import Wanted

    goal(best, limits)
    asked = Wanted(best, tuple(limits))
    if asked.words and backend == "both":
        option = asked.words[0]
        raise InputError(f"{option}: expected --backend sim or linux; both shows only the differences")
    return asked


def parsed_labels(labels: Sequence[str]) -> dict[str, str]:
    """Read `--label NAME=LABEL`. A name may contain `=` itself, as in `{name='cubic'}`; a label may not."""
    from cwndlab.errors import InputError

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


def prepared(out: str | None, default: str) -> Path:
    """Create and return the folder for the results, before any work is done."""
    from cwndlab.errors import InputError
    from cwndlab.output import files

    if out == "":
        # A script with an unset variable must not write into the current folder.
        raise InputError("--out: expected the name of a folder, found an empty text")
    folder = Path("out") / default if out is None else Path(out)
    files.prepare(folder)
    return folder


def run_all(
    scenarios: Sequence[Scenario], seeds: Sequence[int], threads: int | None, record: Record, *, fresh: bool
) -> list[Result]:
    """Run every scenario with every seed. Progress and the number of reused runs go to standard error."""
    from cwndlab.commands.problems import print_memory
    from cwndlab.running.execution import execute
    from cwndlab.statistics.numbers import counted
    from cwndlab.system.out_of_memory import require_least
    from cwndlab.system.progress import progress

    print_memory(scenarios, len(seeds), record, threads)
    require_least()
    count = len(scenarios) * len(seeds)
    began = time.perf_counter()
    with progress(counted(count, "run")) as watch:
        results = execute(scenarios, seeds, record=record, threads=threads, fresh=fresh, watch=watch)
    took = time.perf_counter() - began
    runs = [run for result in results for run in result.runs]
    reused = sum(run.reused for run in runs)
    typer.echo(f"{counted(len(runs) - reused, 'new run')}, {reused} reused, in {took:.1f} s", err=True)
    if any(result.interrupted for result in results):
        typer.echo(f"interrupted: {len(runs)} of {count} runs finished", err=True)
    return results


def deliver(study: Study, delivery: Delivery) -> None:
    """Write the files and print the tables. Exit with 130 after an interruption."""
    from cwndlab.output import files
    from cwndlab.statistics.numbers import counted

    folder = delivery.folder
    files.write_tables(study, folder, every_flow=delivery.every_flow)
    try:
        _print(study, delivery)
    finally:
        # If the reader of the output goes away (`| head`), the figures are still drawn. After Ctrl-C the user
        # is waiting, so none are.
        if delivery.figures and not study.interrupted:
            files.write_figures(study, folder, style=delivery.style)
        files.write_report(study, folder)
    if study.flows_left_out and not delivery.every_flow:
        flows = counted(study.flows_left_out, "flow")
        note = f"{flows} left out of the JSON document, all are in runs.parquet; --every-flow includes them"
        typer.echo(note, err=True)
    typer.echo(f"results in {folder}, report in {folder / files.REPORT}", err=delivery.as_json)
    if study.interrupted:
        raise typer.Exit(INTERRUPTED)


def _print(study: Study, delivery: Delivery) -> None:
    from cwndlab.output import files
    from cwndlab.output.kinds import kind_of
    from cwndlab.system.terminal import output

    if delivery.as_json:
        typer.echo(files.dump(study.to_json(every_flow=delivery.every_flow)))
    else:
        kind_of(study).print(output(), study)
