"""The files of a result in its folder."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.output import about
from cwndlab.output.drawing.formats import DEFAULT, formats
from cwndlab.output.names import DOCUMENT, REPORT, WEIGHTS, named_as_ours
from cwndlab.output.place import prepare, require_free
from cwndlab.results.request import request_of
from cwndlab.system import writing
from cwndlab.system.given import given_path
from cwndlab.system.interrupting import noticing

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from cwndlab.results.request import Request
    from cwndlab.results.result import Study


def save(
    study: Study,
    folder: str | os.PathLike[str],
    *,
    figures: bool = True,
    style: bool = True,
    every_flow: bool = False,
    chosen: str | Iterable[str] = DEFAULT,
    replace: bool = False,
) -> None:
    """Write all files of a result: the document, the tables, the report, and figures in the chosen formats.

    Raises `InputError` if the folder holds the result of another request, unless it may be replaced.
    """
    path, request = given_path(folder, "folder"), request_of(study)
    kinds = formats(chosen, "formats")
    if not replace:
        require_free(path, request, "choose another folder, or pass replace=True")
    prepare(path)
    # Ctrl-C waits until these are written: without some of them, the others are lost too.
    with noticing():
        write_tables(study, path, request, every_flow=every_flow)
        write_report(study, path)
    if figures:
        write_figures(study, path, kinds, style=style)


def write_tables(study: Study, folder: Path, request: Request, *, every_flow: bool = False) -> None:
    """Write what the folder holds, the document and the tables.

    Earlier files are deleted first, figures too, because an old figure would contradict the new numbers.
    """
    from cwndlab.output import data_files

    for stale in named_as_ours(folder):
        writing.remove(stale)
    about.write(about.about(study, request), folder)
    writing.write_text(folder / DOCUMENT, dump(study.to_json(every_flow=every_flow)) + "\n")
    data_files.write(study, folder)
    _write_weights(study, folder / WEIGHTS)


def _write_weights(study: Study, folder: Path) -> None:
    from urllib.parse import quote

    from cwndlab.output.kinds import kind_of

    for (flow, seed), file in kind_of(study).weights(study).items():
        writing.make_folder(folder)
        # The name of a flow need not be a valid file name.
        writing.write_bytes(folder / f"{quote(flow, safe='')}-seed-{seed}.safetensors", file)


def write_figures(
    study: Study,
    folder: Path,
    kinds: Sequence[str] = DEFAULT,
    *,
    style: bool = True,
    watch: Callable[[float], None] = lambda _: None,
) -> int:
    """Draw all figures that have content, in these formats; return their number.

    `watch` is told the share that is done.
    """
    from cwndlab.output.drawing.style import save as save_figure
    from cwndlab.output.kinds import kind_of, plot

    wanted = kind_of(study).figure_files(study)
    for index, (name, (figure, measure)) in enumerate(wanted.items()):
        save_figure(plot(study, figure, measure, styled=style), folder, name, kinds, styled=style)
        watch((index + 1) / len(wanted))
    return len(wanted)


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
