"""`cwndlab bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.document import print_document
from cwndlab.commands.options import AsJson, as_path
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLES = {
    "packets": "packets",
    "events_per_packet": "events per\npacket",
    "cpu_s": "CPU time\nms",
    "ns_per_packet": "CPU per packet\nns",
    "x_real_time": "x real\ntime",
    "peak_rss_mb": "memory\nMB",
    "us_per_op": "CPU per step\nus",
}
POINT_TITLES = {
    "cpu_s": "CPU time\nms",
    "packets": "packets",
    "events": "events",
    "ns_per_packet": "CPU per packet\nns",
    "ns_per_event": "CPU per event\nns",
    "peak_rss_mb": "memory\nMB",
}


def bench(
    case: Annotated[
        list[str], typer.Option(metavar="NAME", help="Measure only this case. May be repeated.")
    ] = [],  # noqa: B006 (typer copies it)
    curve: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Measure what a run costs as it grows in flows, links or duration, and fit the exponent. "
            "May be repeated.",
        ),
    ] = [],  # noqa: B006
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", parser=as_path, help="Draw the curves into this file (.png, .svg or .pdf)."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Report the best of N repeats.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of the simulator.

    Prints the CPU time per data packet for each case, the best of several repeats. With --curve, prints the
    CPU time and memory of a run of each size, and the power of the size that the CPU time grows with.
    """
    if curve:
        _bench_curves(case, curve, figure, repeats, as_json=as_json)
    elif figure is not None:
        raise InputError("--figure draws curves: expected --curve, found none")
    else:
        _bench_cases(case, repeats, as_json=as_json)


def _bench_cases(wanted: Sequence[str], repeats: int, *, as_json: bool) -> None:
    from cwndlab.benchmark.cases import chosen, measure
    from cwndlab.system.progress import progress

    names = chosen(wanted)
    cases = []
    with progress("bench") as watch:
        for index, name in enumerate(names):
            cases.append(measure(name, repeats))
            watch((index + 1) / len(names))
    if as_json:
        print_document({"schema": 1, "cases": cases})
    else:
        _print("case", TITLES, {case["name"]: case for case in cases})


def _bench_curves(
    cases: Sequence[str], wanted: Sequence[str], figure: Path | None, repeats: int, *, as_json: bool
) -> None:
    from cwndlab.benchmark.curves import chosen, measure
    from cwndlab.output.drawing.formats import formats
    from cwndlab.statistics.numbers import with_interval
    from cwndlab.system.progress import progress
    from cwndlab.system.terminal import output

    if cases:
        raise InputError("--case and --curve: expected one of them, found both")
    axes = chosen(wanted)
    if figure is not None:
        formats([figure.suffix.removeprefix(".")], f"--figure {figure}")
        if not figure.parent.is_dir():
            raise InputError(f"--figure {figure}: expected an existing folder, found no {figure.parent}")
    curves = []
    for axis in axes:
        with progress(axis.name) as watch:
            curves.append(measure(axis, repeats, watch))
    if figure is not None:
        from cwndlab.benchmark.figure import figure_of
        from cwndlab.output.drawing.style import save_as

        save_as(figure_of(curves), figure)
    if as_json:
        print_document({"schema": 1, "curves": [each.to_json() for each in curves]})
        return
    for each in curves:
        _print(each.axis.name, POINT_TITLES, {str(point.size): point.to_json() for point in each.points})
        exponent = with_interval(each.fit.exponent)
        output().print(f"{each.axis.name}: CPU time grows with the power {exponent} of the size\n")


def _print(first: str, titles: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.table import Table

    from cwndlab.system.terminal import output

    shown = [key for key in titles if any(key in row for row in rows.values())]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first, no_wrap=True)
    for key in shown:
        table.add_column(titles[key], justify="right")
    for name, row in rows.items():
        table.add_row(name, *(_cell(key, row.get(key)) for key in shown))
    output().print(table)


def _cell(key: str, value: float | None) -> str:
    from cwndlab.statistics.numbers import MISSING, plain

    if value is None:
        return MISSING
    # The document has seconds, but most runs take milliseconds.
    return plain(value * 1000 if key == "cpu_s" else value)
