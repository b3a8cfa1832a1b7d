"""`cwndlab check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cwndlab.commands.options import Backend, BackendName, Controllers, Overrides, ScenarioOrPaper

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.scenarios.scenario import Scenario

# The default of `cwndlab run`.
SEEDS = 5


def check(
    file: ScenarioOrPaper,
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
    backend: Backend = BackendName.SIM,
) -> None:
    """Check a scenario, or the folder of a paper, and report every mistake.

    Each mistake is shown with its line and the allowed values. Nothing is run. A warning is printed if the
    runs would need more than half of the memory.
    """
    from cwndlab.beside.both import on_both
    from cwndlab.commands.both import read_on_both
    from cwndlab.commands.deliver import read_scenario
    from cwndlab.commands.problems import print_memory
    from cwndlab.results.recording import Record
    from cwndlab.scenarios.outline import outline
    from cwndlab.system.reading import is_file

    if is_file(file / "paper.toml"):
        _check_paper(file, plain=not (overrides or controllers) and backend is BackendName.SIM)
        return
    checked: tuple[Scenario, ...]
    if backend is BackendName.BOTH:
        checked = on_both(read_on_both(file, overrides, controllers, runs=False), runs=False)
    else:
        checked = (read_scenario(file, overrides, controllers, backend, runs=False),)
    print_memory(checked, SEEDS, Record.FIRST, None)
    head, *links = outline(checked[-1].resolved)
    typer.echo(f"{file}: ok: {head}")
    for link in links:
        typer.echo(f"  {link}")


def _check_paper(folder: Path, *, plain: bool) -> None:
    from cwndlab.errors import InputError
    from cwndlab.papers.reading.library import read_folder
    from cwndlab.statistics.numbers import counted

    if not plain:
        raise InputError(f"{folder}: --set, --with and --backend work with scenarios only, not with a paper")
    paper = read_folder(folder)
    counts = {
        "cell": sum(len(experiment.variants) for experiment in paper.experiments),
        "claim": len(paper.claims),
        "finding": len(paper.findings),
        "number": len(paper.targets),
        "figure": len(paper.figures),
        "open point": len(paper.open_points),
    }
    typer.echo(f"{folder}: ok: {', '.join(counted(count, what) for what, count in counts.items() if count)}")
