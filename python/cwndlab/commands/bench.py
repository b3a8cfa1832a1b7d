"""`cwndlab bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cwndlab.commands.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLES = {
    "packets": "packets",
    "events_per_packet": "events per\npacket",
    "cpu_s": "CPU time\ns",
    "ns_per_packet": "CPU per packet\nns",
    "x_real_time": "x real\ntime",
    "peak_rss_mb": "memory\nMB",
    "us_per_op": "CPU per step\nus",
}


def bench(
    case: Annotated[
        list[str], typer.Option(metavar="NAME", help="Measure only this case. May be repeated.")
    ] = [],  # noqa: B006 (typer copies it)
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Report the best of N repeats.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of the simulator.

    Prints the CPU time per data packet for each case, the best of several repeats.
    """
    from cwndlab.benchmark.cases import chosen, measure
    from cwndlab.output import files
    from cwndlab.system.progress import progress

    names = chosen(case)
    cases = []
    with progress("bench") as watch:
        for index, name in enumerate(names):
            cases.append(measure(name, repeats))
            watch((index + 1) / len(names))
    if as_json:
        typer.echo(files.dump({"schema": 1, "cases": cases}))
    else:
        _print(cases)


def _print(cases: Sequence[dict[str, Any]]) -> None:
    from rich.table import Table

    from cwndlab.system.terminal import output

    shown = [key for key in TITLES if any(key in case for case in cases)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("case", no_wrap=True)
    for key in shown:
        table.add_column(TITLES[key], justify="right")
    for case in cases:
        table.add_row(case["name"], *(_cell(case.get(key)) for key in shown))
    output().print(table)


def _cell(value: float | None) -> str:
    from cwndlab.statistics.numbers import MISSING, plain

    return MISSING if value is None else plain(value)
