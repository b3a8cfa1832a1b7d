"""`cwndlab plot`: draws a figure of a stored result."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cwndlab.commands.options import Labels, NoStyle, ResultFolder, as_path


class FigureFormat(StrEnum):
    """The format of a file with a figure."""

    PDF = "pdf"
    SVG = "svg"
    PNG = "png"


class FigureWidth(StrEnum):
    """The width of a figure."""

    COLUMN = "column"
    PAGE = "page"


def plot(
    folder: ResultFolder,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="series, recorded, cdf, box, pareto, harm, fairness, convergence, heatmap, sensitivity, "
            "over-KEY or pareto-CONDITION, as far as the result has it. Default: series of a run, box of a "
            "comparison, pareto of a sweep.",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option(metavar="MEASURE", help="The measure to draw, as in rtt_ms.")
    ] = None,
    width: Annotated[
        FigureWidth, typer.Option(help="One column (3.5 inches) or the page of a paper (7.16 inches).")
    ] = FigureWidth.PAGE,
    labels: Labels = [],  # noqa: B006 (typer copies it)
    title: Annotated[
        str | None,
        typer.Option(metavar="TITLE", help="The title. Default: the scenario's name; an empty one: none."),
    ] = None,
    format_: Annotated[
        FigureFormat | None, typer.Option("--format", help="Default: the end of --out, or pdf.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=as_path,
            help="Default: KIND, with the measure if one is given, in the folder.",
        ),
    ] = None,
    no_style: NoStyle = False,
) -> None:
    """Draw a figure of a result that run, compare or sweep wrote into a folder."""
    from cwndlab.commands.deliver import parsed_labels
    from cwndlab.output import loading
    from cwndlab.output.drawing.style import save_as
    from cwndlab.output.kinds import kind_of, plot

    study = loading.load(folder)
    names = parsed_labels(labels)
    chosen = kind or kind_of(study).default_figure(study)
    stem = f"{chosen}-{measure}" if measure else chosen
    file = _file(out, format_, folder / stem)
    figure = plot(study, chosen, measure, styled=not no_style, labels=names, width=width.value, title=title)
    save_as(figure, file, styled=not no_style)
    typer.echo(f"figure in {file}")


def _file(out: Path | None, format_: FigureFormat | None, default: Path) -> Path:
    """Return the file of the figure. Raises `InputError` if its name and the format disagree."""
    from cwndlab.errors import InputError

    if out is None:
        return default.with_name(f"{default.name}.{format_ or FigureFormat.PDF}")
    ending = out.suffix.removeprefix(".").lower()
    if format_ is not None and ending and ending != format_:
        raise InputError(f"--out {out}: expected the ending .{format_} of --format, found .{ending}")
    if ending and ending not in list(FigureFormat):
        raise InputError(f"--out {out}: expected .pdf, .svg or .png, found .{ending}")
    return out if ending else out.with_name(f"{out.name}.{format_ or FigureFormat.PDF}")
