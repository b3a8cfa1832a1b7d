"""`cwndlab sweep`."""

from __future__ import annotations

from typing import Annotated

import typer

from cwndlab.commands.options import (
    AsJson,
    Backend,
    BackendName,
    Controllers,
    EveryFlow,
    File,
    Fresh,
    Link,
    NoFigure,
    NoStyle,
    Out,
    Overrides,
    Seeds,
    Threads,
)


def sweep(
    file: File,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE,VALUE",
            help="A key and its values, as in flow.*.cc=cubic,vegas. Repeat the option for a grid.",
        ),
    ],
    seeds: Seeds = "5",
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
    backend: Backend = BackendName.SIM,
    link: Link = None,
    threads: Threads = None,
    out: Out = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
    every_flow: EveryFlow = False,
    no_figure: NoFigure = False,
    no_style: NoStyle = False,
) -> None:
    """Run a scenario for every combination of the values of some keys.

    Prints one row for each combination, and marks those that no other beats in both goodput and queueing
    delay. Writes tables, a Pareto figure, heat maps and a report into a folder. Finished runs are reused, so
    after an interruption the same command continues.
    """
    from cwndlab.commands.deliver import (
        INTERRUPTED,
        Delivery,
        deliver,
        prepared,
        print_new_problems,
        read_scenario,
        run_all,
    )
    from cwndlab.results.recording import Record
    from cwndlab.results.sweep import collect
    from cwndlab.results.totals import checked_link
    from cwndlab.scenarios.grid import grid, parse_axis
    from cwndlab.scenarios.seeds import parse_seeds

    chosen = parse_seeds(seeds)
    axes = [parse_axis(text) for text in over]
    experiment = read_scenario(file, overrides, controllers, backend)
    points = grid(experiment, axes)
    scenarios = [point.scenario for point in points]
    print_new_problems(experiment, scenarios)
    checked_link(experiment, link)
    folder = prepared(out, backend.folder(f"{experiment.stem}-sweep"))
    results = run_all(scenarios, chosen, threads, Record.NONE, fresh=fresh)
    swept = collect(experiment, axes, points, results, link)
    if not swept.points:
        raise typer.Exit(INTERRUPTED)
    delivery = Delivery(folder, as_json, not no_figure, not no_style, every_flow)
    deliver(swept, delivery)
