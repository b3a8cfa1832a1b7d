"""Figures of papers: draws their values and writes their files."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from cwndlab.output.drawing.bands import SeedLine
from cwndlab.output.drawing.panels import LinePanel, draw_panels
from cwndlab.output.drawing.settings import SettingLine, SettingPoint, draw_settings
from cwndlab.output.drawing.style import METADATA, save
from cwndlab.papers.judging.figure_values import DrawnTime
from cwndlab.running.pool import available_cores

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from cwndlab.papers.judging.figure_values import Drawn, DrawnPanel, DrawnSettings

FOLDER = "figures"
KINDS = tuple(METADATA)

# Starting a process takes as long as drawing two or three figures.
LEAST_PER_PROCESS = 4


def stem(paper: str, drawn: Drawn) -> str:
    """Return the name of the figure's files, without the extension."""
    return f"{paper}-{drawn.figure.id}"


def file_names(paper: str, drawn: Drawn) -> list[str]:
    """Return the figure's files, relative to the folder of the report."""
    return [f"{FOLDER}/{stem(paper, drawn)}.{kind}" for kind in KINDS]


def plot(drawn: Drawn) -> Figure:
    """Draw a figure."""
    if isinstance(drawn, DrawnTime):
        return draw_panels([_panel(panel, drawn.mean_s) for panel in drawn.panels], drawn.title)
    return _settings(drawn)


def save_all(drawn: Mapping[str, Drawn], folder: Path, processes: int | None = None) -> None:
    """Draw figures into files, by their stems. Many figures are drawn in parallel, one process per core."""
    count = min(processes or available_cores(), len(drawn) // LEAST_PER_PROCESS)
    if count < 2:
        for each in drawn.items():
            _save(folder, each)
        return
    # A forked process would have the locks of this one's threads, but not the threads.
    pool = ProcessPoolExecutor(count, get_context("spawn"), _leave_interrupts)
    try:
        list(pool.map(partial(_save, folder), drawn.items()))
    finally:
        pool.shutdown(cancel_futures=True)


def axis(quantity: str, unit: str) -> str:
    """Return the label of an axis."""
    return f"{quantity} ({unit})" if unit else quantity


def _save(folder: Path, named: tuple[str, Drawn]) -> None:
    name, drawn = named
    save(plot(drawn), folder, name)


def _leave_interrupts() -> None:
    """Ignore Ctrl-C. The parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _panel(drawn: DrawnPanel, mean_s: float) -> LinePanel:
    label = f"{axis(drawn.panel.y, drawn.panel.unit)}\nmean of {mean_s:g} s"
    return LinePanel(label, [SeedLine(each.label, each.time_s, each.values) for each in drawn.curves])


def _settings(drawn: DrawnSettings) -> Figure:
    lines = [
        SettingLine(
            line.label,
            [
                SettingPoint(None, None, None, paper)
                if ours is None
                else SettingPoint(ours.value, ours.low, ours.high, paper)
                for ours, paper in zip(line.estimates, line.paper, strict=True)
            ],
        )
        for line in drawn.lines
    ]
    figure = drawn.figure
    return draw_settings(figure.at, lines, figure.x, axis(figure.y, figure.unit), drawn.title)
