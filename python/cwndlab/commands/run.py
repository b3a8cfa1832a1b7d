"""`cwndlab run`."""

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
    Formats,
    Fresh,
    NoFigure,
    NoStyle,
    OnCluster,
    Out,
    Overrides,
    Replace,
    Seeds,
    Threads,
)
from cwndlab.errors import INTERRUPTED, InputError
from cwndlab.results.recording import Record


def run(
    file: File,
    seeds: Seeds = "5",
    overrides: Overrides = [],  # noqa: B006 (typer copies it)
    controllers: Controllers = [],  # noqa: B006
    backend: Backend = BackendName.SIM,
    threads: Threads = None,
    on: OnCluster = None,
    out: Out = None,
    record: Annotated[Record, typer.Option(help="The seeds whose time series are recorded.")] = Record.FIRST,
    qlog: Annotated[
        bool, typer.Option("--qlog", help="Write qlog for qvis into the folder qlog: one file for each flow.")
    ] = False,
    pcap: Annotated[
        bool,
        typer.Option(
            "--pcap",
            help="Write captures for Wireshark into the folder pcap: one file for all senders, one for all "
            "receivers, and two for each link.",
        ),
    ] = False,
    fresh: Fresh = False,
    as_json: AsJson = False,
    every_flow: EveryFlow = False,
    replace: Replace = False,
    figure_formats: Formats = "png",
    no_figure: NoFigure = False,
    no_style: NoStyle = False,
) -> None:
    """Run a scenario over several seeds.

    Prints means with their 95 % intervals, and writes tables, figures and a report into a folder. Earlier
    runs are reused, except for exports. Ctrl-C keeps the finished runs.
    """
    from cwndlab.commands.deliver import (
        Delivery,
        deliver,
        prepared,
        read_looks,
        read_scenario,
        run_all,
    )
    from cwndlab.results.request import planned
    from cwndlab.running.exports import Exports
    from cwndlab.running.on import On
    from cwndlab.scenarios.seeds import parse_seeds

    chosen = parse_seeds(seeds)
    where = On.parse(on, threads)
    looks = read_looks(
        figure_formats, as_json=as_json, no_figure=no_figure, no_style=no_style, every_flow=every_flow
    )
    Exports("qlog" if qlog else None, "pcap" if pcap else None).require(backend)
    if where is not None and (qlog or pcap):
        raise InputError("--on and --qlog or --pcap: expected one of the two; this process writes exports")
    if backend is BackendName.BOTH:
        from cwndlab.beside.both import Both
        from cwndlab.beside.study import Pairs
        from cwndlab.commands.both import deliver_both, read_on_both, request_on_both, run_on_both

        pairs = Pairs.of([read_on_both(file, overrides, controllers)])
        request = request_on_both("run", pairs, chosen, record)
        folder = prepared(out, backend.folder(file.stem), request, replace=replace)
        [sim], [linux] = run_on_both(pairs, chosen, threads, record, fresh=fresh, on=where)
        deliver_both(Both(sim, linux), Delivery(folder, request, looks))
        return
    experiment = read_scenario(file, overrides, controllers, backend)
    request = planned("run", [({}, experiment)], chosen, record)
    folder = prepared(out, backend.folder(experiment.stem), request, replace=replace)
    exports = Exports.into(folder / "qlog" if qlog else None, folder / "pcap" if pcap else None)
    [result] = run_all([experiment], chosen, threads, record, fresh=fresh, exports=exports, on=where)
    if not result.runs:
        raise typer.Exit(INTERRUPTED)
    deliver(result, Delivery(folder, request, looks))
