"""The files that a result leaves in its folder."""

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
    from collections.abc import Callable
    from typing import TypeAlias

    from matplotlib.figure import Figure

    from cwndlab.results.comparison import Comparison
    from cwndlab.results.result import Result
    from cwndlab.results.sweep import Sweep

    Saved: TypeAlias = Result | Comparison | Sweep

DOCUMENT = "result.json"
# What learning flows and subflows of a run had learned, a file each and seed.
WEIGHTS = "weights"
REPORT = "report.html"
TABLES = ("runs", "series", "events", "intervals", "distributions")
# Figures by the names of their files; each is drawn where there is something to draw.
FIGURES = ("series", "box", "cdf", "fairness", "pareto", "heatmap-goodput", "heatmap-queue-delay")
NAMES = (
    DOCUMENT,
    REPORT,
    "runs.json",
    "runs.csv",
    *(f"{table}.parquet" for table in TABLES),
    *(f"{figure}.{kind}" for figure in FIGURES for kind in ("png", "svg", "pdf")),
)


def prepare(folder: Path) -> None:
    """Make the folder, before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        # Another folder on a full disk would be no better.
        kind = OutputError if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError
        raise kind(f"--out {folder}: cannot be written ({error.strerror})") from None


def save(
    result: Saved,
    folder: str | os.PathLike[str],
    *,
    figures: bool = True,
    style: bool = True,
    every_flow: bool = False,
) -> None:
    """Write all files of a result: document, tables, figures and report."""
    path = Path(folder)
    prepare(path)
    write_tables(result, path, every_flow=every_flow)
    if figures:
        write_figures(result, path, style=style)
    write_report(result, path)


def write_tables(result: Saved, folder: Path, *, every_flow: bool = False) -> None:
    """Write the document and the tables.

    Earlier files go first, the figures too: a stale figure beside new numbers would lie.
    """
    from cwndlab.output import saved

    for name in NAMES:
        writing.remove(folder / name)
    writing.write_text(folder / DOCUMENT, dump(result.to_json(every_flow=every_flow)) + "\n")
    saved.write(result, folder)
    _write_weights(result, folder / WEIGHTS)


def _write_weights(result: Saved, folder: Path) -> None:
    from urllib.parse import quote

    from cwndlab.results.result import Result

    for stale in folder.glob("*.safetensors"):
        writing.remove(stale)
    learned = result.weights if isinstance(result, Result) else {}
    for (flow, seed), file in learned.items():
        writing.make_folder(folder)
        # A flow may be called what no file may.
        writing.write_bytes(folder / f"{quote(flow, safe='')}-seed-{seed}.safetensors", file)


def write_figures(result: Saved, folder: Path, *, style: bool = True) -> None:
    """Draw what there is to draw, each figure as PNG, SVG and PDF."""
    from cwndlab.output.drawing.style import save as save_figure

    for name, draw in _figures(result, style=style).items():
        save_figure(draw(), folder, name, styled=style)


def write_report(result: Saved, folder: Path) -> None:
    """Write the report: one HTML file that works offline."""
    from cwndlab.output.html import write
    from cwndlab.output.report import report_of

    write(report_of(result), folder / REPORT)


def dump(document: dict[str, Any]) -> str:
    """Format a JSON document; a NaN in it would be a mistake of ours and is refused."""
    # `json.dumps` keeps every number and comma as a text of its own until the end: ten times the memory.
    text = io.StringIO()
    json.dump(document, text, indent=2, ensure_ascii=False, allow_nan=False)
    return text.getvalue()


def _figures(result: Saved, *, style: bool) -> dict[str, Callable[[], Figure]]:
    from cwndlab.output.figures import of_comparison, of_result
    from cwndlab.results.result import Result
    from cwndlab.results.sweep import Sweep

    if isinstance(result, Sweep):
        return _sweep_figures(result, style=style)
    results = [result] if isinstance(result, Result) else result.results
    drawn: dict[str, Callable[[], Figure]] = {}

    def of(kind: str) -> Figure:
        if isinstance(result, Result):
            return of_result(result, kind, None, styled=style)
        return of_comparison(result, kind, None, styled=style)

    if isinstance(result, Result) and result.recorded:
        drawn["series"] = lambda: of("series")
    if len(result.seeds) > 1:
        drawn["box"] = lambda: of("box")
    if any(
        each.measure == "rtt_ms" for one in results for run in one.runs for each in run.detail.distributions
    ):
        drawn["cdf"] = lambda: of("cdf")
    if any(run.detail.has_fairness for one in results for run in one.runs):
        drawn["fairness"] = lambda: of("fairness")
    if not isinstance(result, Result):
        drawn["pareto"] = lambda: of("pareto")
    return drawn


def _sweep_figures(sweep: Sweep, *, style: bool) -> dict[str, Callable[[], Figure]]:
    from cwndlab.output.figures import of_sweep

    drawn: dict[str, Callable[[], Figure]] = {"pareto": lambda: of_sweep(sweep, "pareto", "", styled=style)}
    if len(sweep.axes) > 1:
        drawn["heatmap-goodput"] = lambda: of_sweep(sweep, "heatmap", "goodput_mbps", styled=style)
        drawn["heatmap-queue-delay"] = lambda: of_sweep(sweep, "heatmap", "queue_delay_ms", styled=style)
    return drawn
