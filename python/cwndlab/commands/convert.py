"""`cwndlab convert`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cwndlab.commands.options import as_path


class Format(StrEnum):
    """The formats of traces."""

    MAHIMAHI = "mahimahi"
    CSV = "csv"


def convert(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", parser=as_path, help="What was measured: pcap, iperf3, flent or CSV."),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", parser=as_path, help="The trace to write. It must not exist yet.")
    ],
    to: Annotated[
        Format | None,
        typer.Option(help="Format of the trace. Default: csv for a name that ends so."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Windows of CSV. Default: the file's own; of packets 100 ms."),
    ] = None,
    series: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of flent's series, the one to convert.")
    ] = None,
    scale: Annotated[
        float, typer.Option(metavar="FACTOR", help="Multiply the rates, such as for headers.")
    ] = 1.0,
) -> None:
    """Convert a measurement to a trace that a link can replay.

    Reads packet captures of a bulk transfer (pcap, pcapng), the JSON of iperf3 (`iperf3 --json`), the data
    files of flent (.flent.gz), and CSV with lines of seconds,bytes. A measurement shows what was carried,
    not what the link could have carried.
    """
    from cwndlab.commands.problems import print_message
    from cwndlab.engine import in_use
    from cwndlab.errors import InputError
    from cwndlab.output import replay
    from cwndlab.system.writing import write_text
    from cwndlab.traces.measured import NOT_CAPACITY
    from cwndlab.traces.reading import read

    csv = to is Format.CSV or (to is None and out.suffix == ".csv")
    if every is not None and not csv:
        raise InputError("--every: only a CSV trace has windows; use --to csv, or leave it out")
    if not 1e-3 <= scale <= 1e3:
        raise InputError(f"--scale {scale:g}: expected a factor from 0.001 to 1000")
    if out.exists():
        raise InputError(f"--out {out}: already exists; give another name, or delete it")
    every_s = None if every is None else replay.seconds_of("--every", every)
    measured = read(in_use(), file, series)
    for warning in (*measured.warnings, NOT_CAPACITY):
        print_message("warning", warning)
    write_text(out, measured.csv(every_s, scale) if csv else measured.mahimahi(scale))
    typer.echo(f"{file}: {measured.what}, {measured.length_s:.4g} s")
    for line in replay.describe(in_use(), str(out)).lines():
        typer.echo(line)
