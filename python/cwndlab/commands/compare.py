"""`cwndlab compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from cwndlab.commands.options import (
    Across,
    AsJson,
    Backend,
    BackendName,
    Best,
    Controllers,
    EveryFlow,
    File,
    Formats,
    Fresh,
    Limits,
    Link,
    NoFigure,
    NoStyle,
    OnCluster,
    Out,
    Overrides,
    Replace,
    Seeds,
    Threads,
)
from cwndlab.errors import INTERRUPTED


def compare(
    file: File,
    algorithms: Annotated[
        list[str],
        typer.Option(
            "--cc",
            metavar="NAME,NAME",
            help="The algorithms; the first is the baseline. Set parameters as in {name='cubic', C=1.2}. "
            "May be repeated.",
        ),
    ],
    flows: Annotated[
        list[str],
        typer.Option(
            "--flow",
            metavar="NAME",
            help="A flow that runs them; the harm to the other flows is reported. May be repeated. "
            "Default: all flows.",
        ),
    ] = [],  # noqa: B006 (typer copies it)
    across: Across = [],  # noqa: B006
    seeds: Seeds = "5",
    overrides: Overrides = [],  # noqa: B006
    controllers: Controllers = [],  # noqa: B006
    backend: Backend = BackendName.SIM,
    link: Link = None,
    best: Best = None,
    limits: Limits = [],  # noqa: B006
    threads: Threads = None,
    on: OnCluster = None,
    out: Out = None,
    fresh: Fresh = False,
    as_json: AsJson = False,
    every_flow: EveryFlow = False,
    replace: Replace = False,
    figure_formats: Formats = "png",
    no_figure: NoFigure = False,
    no_style: NoStyle = False,
) -> None:
    """Compare algorithms in one scenario, paired by seed.

    Every algorithm runs with the same random numbers, so `compare` takes the difference within each seed. A
    95 % interval that excludes zero shows an effect. Writes tables, figures and a report into a folder.
    With --across, the algorithms are compared in each condition and over all of them, as `sweep` does with
    its choices: the result is that of a sweep, without harm.
    """
    from cwndlab.scenarios.axis import split_values

    names = split_values(",".join(algorithms), f"--cc {','.join(algorithms)}")
    if across:
        from cwndlab.commands.sweep import sweep
        from cwndlab.scenarios.contest import as_choices

        key, values = as_choices(names, flows)
        sweep(
            file,
            [f"{key}={','.join(values)}"],
            across,
            seeds=seeds,
            overrides=overrides,
            controllers=controllers,
            backend=backend,
            link=link,
            best=best,
            limits=limits,
            threads=threads,
            on=on,
            out=out,
            fresh=fresh,
            as_json=as_json,
            every_flow=every_flow,
            replace=replace,
            figure_formats=figure_formats,
            no_figure=no_figure,
            no_style=no_style,
        )
        return
    from cwndlab.beside.both import Both
    from cwndlab.beside.study import Pairs, StudyOnBoth, contests
    from cwndlab.commands.both import deliver_both, read_on_both, request_on_both, run_on_both
    from cwndlab.commands.deliver import (
        Delivery,
        deliver,
        prepared,
        print_new_problems,
        read_looks,
        read_scenario,
        read_wanted,
        run_all,
    )
    from cwndlab.output.answers.goal import require_totals
    from cwndlab.results.comparison import collect, named
    from cwndlab.results.recording import Record
    from cwndlab.results.request import planned
    from cwndlab.results.totals import checked_link
    from cwndlab.running.on import On
    from cwndlab.scenarios.contest import contest
    from cwndlab.scenarios.seeds import parse_seeds

    chosen = parse_seeds(seeds)
    where = On.parse(on, threads)
    asked = read_wanted(best, limits, backend)
    looks = read_looks(
        figure_formats, as_json=as_json, no_figure=no_figure, no_style=no_style, every_flow=every_flow
    )
    if backend is BackendName.BOTH:
        given = read_on_both(file, overrides, controllers)
        sim, linux = contests(given, names, flows)
        checked_link(sim.scenario, link)
        pairs = Pairs(tuple(sim.scenarios), tuple(linux.scenarios))
        request = request_on_both("compare", pairs, chosen, Record.FIRST)
        folder = prepared(out, backend.folder(f"{given.stem}-compare"), request, replace=replace)
        ours, theirs = run_on_both(pairs, chosen, threads, Record.FIRST, fresh=fresh, on=where)
        beside = [Both(*pair) for pair in zip(ours, theirs, strict=True)]
        # What is left over is the run without the flows that are compared.
        variants = list(zip(linux.algorithms, beside, strict=False))
        both = StudyOnBoth(collect(sim, ours, link), collect(linux, theirs, link), variants)
        deliver_both(both, Delivery(folder, request, looks))
        return
    experiment = read_scenario(file, overrides, controllers, backend, varied=True)
    plan = contest(experiment, names, flows)
    print_new_problems(experiment, plan.scenarios)
    checked_link(experiment, link)
    require_totals(asked, None, plan.variants)
    request = planned("compare", named(plan), chosen, Record.FIRST)
    folder = prepared(out, backend.folder(f"{experiment.stem}-compare"), request, replace=replace)
    results = run_all(plan.scenarios, chosen, threads, Record.FIRST, fresh=fresh, on=where)
    comparison = collect(plan, results, link, asked)
    if not comparison.seeds:
        raise typer.Exit(INTERRUPTED)
    deliver(comparison, Delivery(folder, request, looks))
