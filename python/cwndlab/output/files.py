"""The files of a result in its folder."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError, OutputError
from cwndlab.system import writing

if TYPE_CHECKING:
    import os

    from cwndlab.results.result import Study

DOCUMENT = "result.json"
# The folder of the weights that flows and subflows learned: one file for each of them and each seed.
WEIGHTS = "weights"
REPORT = "report.html"
TABLES = ("runs", "series", "events", "intervals", "distributions")
# The file names of the figures. A figure without content is not drawn.
FIGURES = (
    "series",
    "recorded",
    "box",
    "cdf",
    "fairness",
    "pareto",
    "harm",
    "heatmap-goodput",
    "heatmap-queue-delay",
)
NAMES = (
    DOCUMENT,
    REPORT,
    "runs.json",
    "runs.csv",
    *(f"{table}.parquet" for table in TABLES),
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("png", "svg", "pdf")),
)


def prepare(folder: Path) -> None:
    """Make the folder and check that it is writable, before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        # If the disk is full, choosing another folder would not help.
        kind = OutputError if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError
        raise kind(f"--out {folder}: cannot be written ({error.strerror})") from None


def save(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    figures: bool = True,
    style: bool = True,
    every_flow: bool = False,
) -> None:
    """Write all files of a result: the document, the tables, the figures and the report."""
    path = Path(folder)
    prepare(path)
    write_tables(study, path, every_flow=every_flow)
    if figures:
        write_figures(study, path, style=style)
    write_report(study, path)


def write_tables(study: Study, folder: Path, *, every_flow: bool = False) -> None:
    """Write the document and the tables.

    Earlier files are deleted first, figures too, because an old figure would contradict the new numbers.
    """
    from cwndlab.output import data_files

    for name in NAMES:
        writing.remove(folder / name)
    writing.write_text(folder / DOCUMENT, dump(study.to_json(every_flow=every_flow)) + "\n")
    data_files.write(study, folder)
    _write_weights(study, folder / WEIGHTS)


def _write_weights(study: Study, folder: Path) -> None:
    from urllib.parse import quote

    from cwndlab.output.kinds import kind_of

    for stale in folder.glob("*.safetensors"):
        writing.remove(stale)
    for (flow, seed), file in kind_of(study).weights(study).items():
        writing.make_folder(folder)
        # The name of a flow need not be a valid file name.
        writing.write_bytes(folder / f"{quote(flow, safe='')}-seed-{seed}.safetensors", file)


def write_figures(study: Study, folder: Path, *, style: bool = True) -> None:
    """Draw all figures that have content, as PNG, SVG and PDF."""
    from cwndlab.output.drawing.style import save as save_figure
    from cwndlab.output.kinds import kind_of, plot

    for name, (figure, measure) in kind_of(study).figure_files(study).items():
        save_figure(plot(study, figure, measure, styled=style), folder, name, styled=style)


def write_report(study: Study, folder: Path) -> None:
    """Write the report: one HTML file that works offline."""
    from cwndlab.output.html import write
    from cwndlab.output.kinds import kind_of

    write(kind_of(study).report(study), folder / REPORT)


def dump(document: dict[str, Any]) -> str:
    """Format a JSON document. A NaN in it would be a bug, so it raises an error."""
    # `json.dumps` keeps every number and comma as a separate string until the end: ten times the memory.
    text = io.StringIO()
    json.dump(document, text, indent=2, ensure_ascii=False, allow_nan=False)
    return text.getvalue()
