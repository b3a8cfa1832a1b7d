"""Computes the values of a paper's figures from the runs of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.papers.contents.cells import QUICK_S
from cwndlab.papers.contents.figure import TimeFigure
from cwndlab.papers.language.expression import NoValueError
from cwndlab.papers.language.limits import limits
from cwndlab.papers.language.quantities import JAIN, column_over_time
from cwndlab.statistics.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.figure import FlowLine, Panel, PaperFigure, SettingFigure
    from cwndlab.papers.judging.evaluation import Evaluated
    from cwndlab.papers.language.expression import Node
    from cwndlab.results.recording import Column
    from cwndlab.results.seed_run import SeedRun

# The most points of a line that a screen or a page can show. Longer lines are shown as means.
MOST_POINTS = 1000


# Jain's index has one value per second.
JAIN_WINDOW_S = 1.0


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity at the ends of intervals, one row per seed, with NaN for missing values."""

    label: str
    time_s: Column
    values: NDArray[float64]


@dataclass(frozen=True)
class DrawnPanel:
    """The lines of one panel."""

    panel: Panel
    curves: list[Curve]


@dataclass(frozen=True)
class DrawnTime:
    """A figure over time, as means over `mean_s`. `missing` lists the missing lines with their reasons."""

    figure: TimeFigure
    title: str
    panels: list[DrawnPanel]
    mean_s: float
    missing: list[str]

    @property
    def has_lines(self) -> bool:
        """Whether anything can be drawn."""
        return any(panel.curves for panel in self.panels)


@dataclass(frozen=True)
class DrawnLine:
    """At each setting, the effect if it has a value, and the paper's numbers for it."""

    label: str
    estimates: list[Estimate | None]
    paper: list[list[float]]


@dataclass(frozen=True)
class DrawnSettings:
    """A figure over settings. `missing` lists the missing values with their reasons."""

    figure: SettingFigure
    title: str
    lines: list[DrawnLine]
    missing: list[str]

    @property
    def has_lines(self) -> bool:
        """Whether anything can be drawn."""
        return bool(self.lines)


Drawn = DrawnTime | DrawnSettings


def drawn_figures(evaluated: Evaluated) -> list[Drawn]:
    """Return every figure of the paper, drawn from these results."""
    return [
        _over_time(figure, evaluated) if isinstance(figure, TimeFigure) else _over_settings(figure, evaluated)
        for figure in evaluated.reading.paper.figures
    ]


def _over_time(figure: TimeFigure, evaluated: Evaluated) -> DrawnTime:
    missing: list[str] = []
    found: list[tuple[FlowLine, list[SeedRun]]] = []
    for line in figure.lines:
        try:
            found.append((line, list(evaluated.runs(line.cell).values())))
        except NoValueError as error:
            missing.append(f"{line.label}: {error}")
    panels = []
    for panel in figure.panels:
        curves, reasons = _curves(figure, panel, found, evaluated)
        # A probe of one algorithm may be missing in others, but at least one must have it.
        missing += [] if curves else reasons
        panels.append(DrawnPanel(panel, curves))
    mean_s = _mean_s(figure, panels)
    averaged = [
        DrawnPanel(panel.panel, [_averaged(curve, mean_s) for curve in panel.curves]) for panel in panels
    ]
    title = _title(figure, [line.cell for line in figure.lines], evaluated)
    return DrawnTime(figure, title, averaged, mean_s, list(dict.fromkeys(missing)))


def _curves(
    figure: TimeFigure,
    panel: Panel,
    found: Iterable[tuple[FlowLine, list[SeedRun]]],
    evaluated: Evaluated,
) -> tuple[list[Curve], list[str]]:
    curves, reasons = [], []
    for line, runs in found:
        if bool(line.flow) == (panel.column == JAIN):
            continue
        try:
            columns = [column_over_time(run, panel.column, line.flow) for run in runs]
        except NoValueError as error:
            reasons.append(f"{line.label}: {error}")
            continue
        shown = columns[:1] if figure.seeds == "first" else columns
        label = _marked(line.label, [line.cell], evaluated)
        curves.append(Curve(label, shown[0][0], np.vstack([values for _, values in shown])))
    return curves, reasons


def _mean_s(figure: TimeFigure, panels: Sequence[DrawnPanel]) -> float:
    """Return the length of the means: that of the figure, or more if some curves have too many points."""
    curves = [curve for panel in panels for curve in panel.curves]
    longest = max((_interval(each) * -(-len(each.time_s) // MOST_POINTS) for each in curves), default=0.0)
    has_jain = any(panel.column == JAIN for panel in figure.panels)
    return max(figure.mean_s, longest, JAIN_WINDOW_S if has_jain else 0)


def _interval(curve: Curve) -> float:
    return float(curve.time_s[0])


def _averaged(curve: Curve, mean_s: float) -> Curve:
    """Return means of the values in consecutive blocks of about `mean_s`. A shorter rest is left out."""
    width = max(1, round(mean_s / _interval(curve)))
    whole = len(curve.time_s) // width * width
    blocks = curve.values[:, :whole].reshape(len(curve.values), -1, width)
    known = ~np.isnan(blocks)
    sums, counts = np.where(known, blocks, 0).sum(axis=2), known.sum(axis=2)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Curve(curve.label, curve.time_s[width - 1 : whole : width], means)


def _over_settings(figure: SettingFigure, evaluated: Evaluated) -> DrawnSettings:
    printed = _printed(evaluated)
    missing: list[str] = []
    lines, read = [], []
    for line in figure.lines:
        estimates: list[Estimate | None] = []
        reasons: dict[str, str] = {}
        for setting, effect in zip(figure.at, line.effects, strict=True):
            try:
                values = evaluated.values(effect)
                estimates.append(estimate(values, figure.statistic, limits(effect, figure.unit)))
            except NoValueError as error:
                estimates.append(None)
                reasons[setting] = str(error)
        cells = [cell for effect in line.effects for cell in effect.cells]
        paper = [printed.get(effect.tree, []) for effect in line.effects]
        common = set(reasons.values())
        if len(reasons) == len(estimates) and len(common) == 1 and not any(paper):
            missing.append(f"{line.label}: {common.pop()}")
            continue
        missing += [f"{line.label}, {setting}: {reason}" for setting, reason in reasons.items()]
        lines.append(DrawnLine(_marked(line.label, cells, evaluated), estimates, paper))
        read += cells
    return DrawnSettings(figure, _title(figure, read, evaluated), lines, missing)


def _printed(evaluated: Evaluated) -> dict[Node, list[float]]:
    """Return the paper's numbers by their expressions. Two numbers of one expression may contradict."""
    known: dict[Node, list[float]] = {}
    for target in evaluated.reading.paper.targets:
        if target.effect is not None and target.number is not None:
            known.setdefault(target.effect.tree, []).append(target.number)
    return known


def _title(figure: PaperFigure, keys: Sequence[str], evaluated: Evaluated) -> str:
    """Return the figure's title, with its place in the paper, and whether runs were cut."""
    cut = any(cell.is_cut for cell in _cells(keys, evaluated))
    return f"{figure.title} ({figure.paper}{f', cut to {QUICK_S} s' if cut else ''})"


def _marked(label: str, keys: Sequence[str], evaluated: Evaluated) -> str:
    """Return the label with the marks of its cells."""
    marks = dict.fromkeys(mark for cell in _cells(keys, evaluated) for mark in cell.marks)
    return f"{label} ({', '.join(marks)})" if marks else label


def _cells(keys: Sequence[str], evaluated: Evaluated) -> list[Cell]:
    return [evaluated.reading.cells[key] for key in keys if key in evaluated.reading.cells]
