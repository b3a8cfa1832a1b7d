"""Figures of papers: draws their values and writes their files."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from cwndlab.output.charts import ChartGroup, Series, TimeChart
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.formats import FORMATS
from cwndlab.output.drawing.settings import SettingLine, SettingPoint, draw_settings
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.drawing.style import save
from cwndlab.output.figures.bands import seed_line
from cwndlab.papers.judging.figure_values import DrawnTime
from cwndlab.running.pool import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from cwndlab.papers.judging.figure_values import Curve, Drawn, DrawnPanel, DrawnSettings

FOLDER = "figures"

# Starting a process takes as long as drawing two or three figures.
LEAST_PER_PROCESS = 4


def stem(paper: str, drawn: Drawn) -> str:
    """Return the name of the figure's files, without the extension."""
    return f"{paper}-{drawn.figure.id}"


def file_names(paper: str, drawn: Drawn, kinds: Sequence[str]) -> list[str]:
    """Return the figure's files in these formats, relative to the folder of the report."""
    return [f"{FOLDER}/{stem(paper, drawn)}.{kind}" for kind in kinds]


def plot(drawn: Drawn) -> Figure:
    """Draw a figure."""
    if isinstance(drawn, DrawnTime):
        return draw(over_time(drawn), Page(drawn.title))
    return _settings(drawn)


def over_time(drawn: DrawnTime) -> ChartGroup:
    """Return the panels of a figure over time: means over the seeds with their 95 % intervals."""
    curves = [curve for panel in drawn.panels for curve in panel.curves]
    grid = max((curve.time_s for curve in curves), key=len, default=())
    return ChartGroup([_chart(panel, list(grid), drawn.mean_s) for panel in drawn.panels])


def save_all(
    drawn: Mapping[str, Drawn],
    folder: Path,
    kinds: Sequence[str] = FORMATS,
    processes: int | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> None:
    """Draw figures into files, by their stems. Many figures are drawn in parallel, one process per core.

    `watch` is told the share that is done.
    """
    count = min(processes or available_cores(), len(drawn) // LEAST_PER_PROCESS)
    save_one = partial(_save, folder, kinds)
    if count < 2:
        for done, each in enumerate(drawn.items(), start=1):
            save_one(each)
            watch(done / len(drawn))
        return
    # A forked process would have the locks of this one's threads, but not the threads.
    pool = ProcessPoolExecutor(count, get_context("spawn"), _leave_interrupts)
    try:
        for done, _ in enumerate(pool.map(save_one, drawn.items()), start=1):
            watch(done / len(drawn))
    finally:
        pool.shutdown(cancel_futures=True)


def axis(quantity: str, unit: str) -> str:
    """Return the label of an axis."""
    return f"{quantity} ({unit})" if unit else quantity


def _save(folder: Path, kinds: Sequence[str], named: tuple[str, Drawn]) -> None:
    name, drawn = named
    save(plot(drawn), folder, name, kinds)


def _leave_interrupts() -> None:
    """Ignore Ctrl-C. The parent process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _chart(drawn: DrawnPanel, grid: Sequence[float], mean_s: float) -> TimeChart:
    panel = drawn.panel
    lines = [_series(curve, len(grid)) for curve in drawn.curves]
    note = f"mean of {mean_s:g} s"
    return TimeChart(panel.y, "time", panel.y, grid, lines, (), "s", panel.unit, note)


def _series(curve: Curve, length: int) -> Series:
    line = seed_line(curve.label, list(curve.values))
    band = None if line.band is None else (padded(line.band[0], length), padded(line.band[1], length))
    return Series(line.label, padded(line.values, length), band)


def padded(values: Sequence[float | None], length: int) -> list[float | None]:
    """Return the values, filled up with None."""
    return [*values, *[None] * (length - len(values))]


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
    page = Page(drawn.title)
    return draw_settings(figure.at, lines, figure.x, axis(figure.y, figure.unit), page)
