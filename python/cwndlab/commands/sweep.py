"""`cwndlab sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    Threads,
)
from cwndlab.errors import INTERRUPTED, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.result import Result
    from cwndlab.scenarios.scenario import Scenario


def sweep(
    file: File,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE,VALUE|FILE.csv",
            help="A key and its values to choose from, as in flow.*.cc=cubic,vegas. Repeat the option for a "
            "grid. Keys joined by + vary together. With --sample: lin(A..B UNIT), log(A..B UNIT) or a|b. "
            "Or a CSV file (@FILE without this ending): columns are keys, rows are points.",
        ),
    ] = [],  # noqa: B006 (typer copies it)
    across: Across = [],  # noqa: B006
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Draw N points in place of a grid: evenly over the ranges and choices of all --over.",
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(
            metavar="lhs|sobol",
            help="How --sample draws: a Latin hypercube (default), or a scrambled Sobol' sequence.",
        ),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE",
            help="Show how much each key matters for a total, such as goodput, by Sobol' indices. Needs "
            "--sample N with a power of 2; N times (keys + 2) points are run.",
        ),
    ] = None,
    sample_seed: Annotated[
        int | None, typer.Option(metavar="SEED", help="The seed of the draw of --sample. Default: 1.")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS",
            help="The number of seeds (5 means 1 to 5), a range (1-20) or a list (3,5,8-10). With --until, "
            "the seeds that a point may use. Default: 5; with --until 80.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="PRECISION",
            help='Add seeds to each point until a total is this precise, as in "goodput ±1 %" or '
            '"delay p95 +-2 ms". Intervals are widened for the looks at them.',
        ),
    ] = None,
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
    """Run a scenario for every combination of the values of some keys, or for other points over them.

    Prints one row for each point, and marks those that no other beats in both goodput and queueing delay.
    With --across, it also ranks the choices over the conditions; with --sensitivity, it shows which key
    matters. Writes tables, figures and a report into a folder. Finished runs are reused, so after an
    interruption the same command continues.
    """
    from cwndlab.beside.both import Both
    from cwndlab.beside.study import Pairs, StudyOnBoth, points_on_both
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
    from cwndlab.output.answers.precision import precision
    from cwndlab.results.recording import Record
    from cwndlab.results.request import planned
    from cwndlab.results.sweep import collect
    from cwndlab.results.totals import checked_link
    from cwndlab.results.until import DEFAULT_SEEDS
    from cwndlab.running.looking import run_until
    from cwndlab.running.on import On
    from cwndlab.scenarios.axis import parse_axis
    from cwndlab.scenarios.grid import points
    from cwndlab.scenarios.over import parsed, plan_of
    from cwndlab.scenarios.sampling import sampling
    from cwndlab.scenarios.seeds import DEFAULT_COUNT, parse_seeds

    chosen = parse_seeds(seeds or str(DEFAULT_SEEDS if until else DEFAULT_COUNT))
    aim = None if until is None else precision(until, chosen)
    if aim is not None and backend is BackendName.BOTH:
        raise InputError("--until: expected --backend sim or linux, found both")
    if aim is not None and across:
        raise InputError("--until: expected no --across with it, found one")
    where = On.parse(on, threads)
    asked = read_wanted(best, limits, backend, sensitivity)
    looks = read_looks(
        figure_formats, as_json=as_json, no_figure=no_figure, no_style=no_style, every_flow=every_flow
    )
    varied = [parsed(text) for text in over]
    wanted = sampling(sample, design, sample_seed, mixed=sensitivity is not None)
    if sensitivity is not None and across:
        raise InputError("--sensitivity: expected no --across with it, found one")
    conditions = [parse_axis(text, "--across", file.parent) for text in across]
    keys = [axis.key for axis in conditions]
    if backend is BackendName.BOTH:
        given = read_on_both(file, overrides, controllers)
        plan = plan_of(varied, given, file.parent, wanted)
        sim, linux = points_on_both(given, plan, conditions)
        pairs = Pairs(tuple(each.scenario for each in sim), tuple(each.scenario for each in linux))
        checked_link(pairs.sim[0], link)
        request = request_on_both("sweep", pairs, chosen, Record.NONE, keys)
        folder = prepared(out, backend.folder(f"{given.stem}-sweep"), request, replace=replace)
        ours, theirs = run_on_both(pairs, chosen, threads, Record.NONE, fresh=fresh, on=where)
        named = [", ".join(f"{key}={value}" for key, value in each.settings.items()) for each in linux]
        variants = [(name, Both(*pair)) for name, *pair in zip(named, ours, theirs, strict=True)]
        in_sim = collect(pairs.sim[0], plan, sim, ours, link, across=conditions)
        in_linux = collect(pairs.linux[0], plan, linux, theirs, link, across=conditions)
        both = StudyOnBoth(in_sim, in_linux, variants)
        deliver_both(both, Delivery(folder, request, looks))
        return
    experiment = read_scenario(file, overrides, controllers, backend, varied=True)
    plan = plan_of(varied, experiment, file.parent, wanted)
    found = points(experiment, plan, conditions)
    scenarios = [point.scenario for point in found]
    print_new_problems(experiment, scenarios)
    checked_link(experiment, link)
    require_totals(asked, aim, scenarios)
    settings = [(each.settings, each.scenario) for each in found]
    request = planned("sweep", settings, chosen, Record.NONE, None if aim is None else aim.text, keys)
    folder = prepared(out, backend.folder(f"{experiment.stem}-sweep"), request, replace=replace)

    def make(needed: Sequence[Scenario], some: Sequence[int]) -> list[Result]:
        return run_all(needed, some, threads, Record.NONE, fresh=fresh, on=where)

    if aim is None:
        results = make(scenarios, chosen)
    else:
        results, link = run_until(scenarios, aim, link, make)
    swept = collect(experiment, plan, found, results, link, asked, conditions, aim)
    if not swept.points:
        raise typer.Exit(INTERRUPTED)
    deliver(swept, Delivery(folder, request, looks))
