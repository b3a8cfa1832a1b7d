"""Distributions: the share of samples at or below each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.sheet import legend_below, sheet
from cwndlab.output.drawing.style import Look, Width, looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from cwndlab.results.recording import Column

HEIGHT_IN = 3.0

# The shares with a marker.
MARKED = (0.5, 0.95)

# Values that span a larger factor are drawn on a logarithmic axis.
LINEAR_SPAN = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Samples, or the middles of a histogram's buckets with their counts as weights.

    Values that are not finite are left out.
    """

    label: str
    values: Column
    weights: Column | None = None


def draw_cdf(
    curves: Sequence[Curve],
    xlabel: str,
    title: str | None = None,
    *,
    width: Width = "double",
    styled: bool = True,
) -> Figure:
    """Draw one stepped curve for each distribution, with markers at the median and the 95th percentile.

    The axis of values is logarithmic if they span more than two decades. It has no zero, so the curve then
    enters at the left edge, at the share of zeros.
    """
    steps = [_steps(curve) for curve in curves]
    with sheet(title, width=width, height_in=HEIGHT_IN, styled=styled) as figure:
        ax = figure.subplots()
        _scale(ax, steps)
        lines = [
            _draw(ax, *each, curve.label, look)
            for each, curve, look in zip(steps, curves, looks(len(curves)), strict=True)
        ]
        ax.set_xlabel(xlabel)
        ax.set_ylabel("share of samples")
        ax.set_ylim(0, 1.02)
        legend_below(figure, lines, styled=styled)
        return figure


def _steps(curve: Curve) -> tuple[Column, Column]:
    """Return the distinct values in ascending order, and the share of samples up to each."""
    values = np.asarray(curve.values, dtype=np.float64)
    weights = np.ones_like(values) if curve.weights is None else np.asarray(curve.weights, dtype=np.float64)
    if values.ndim != 1 or values.shape != weights.shape:
        raise ValueError(f"curve {curve.label!r}: expected as many weights as values, each in one row")
    if not np.all(weights >= 0):
        raise ValueError(f"curve {curve.label!r}: a weight is negative or missing")
    counted = np.isfinite(values) & (weights > 0)
    middles, places = np.unique(values[counted], return_inverse=True)
    sums = np.cumsum(np.bincount(places, weights=weights[counted], minlength=len(middles)))
    return middles, sums / sums[-1:]


def _remark(values: Column) -> str:
    """Return the reason why a curve may be invisible."""
    if not len(values):
        return " (no samples)"
    return "" if np.any(values) else " (all 0)"


def _scale(ax: Axes, steps: Sequence[tuple[Column, Column]]) -> None:
    values = np.concatenate([np.empty(0), *(values for values, _ in steps)])
    positive = values[values > 0]
    if np.all(values >= 0) and len(positive) and positive.max() > LINEAR_SPAN * positive.min():
        ax.set_xscale("log")


def _draw(ax: Axes, values: Column, shares: Column, label: str, look: Look) -> Line2D:
    # The curve begins with a rise from 0 at the least value.
    [line] = ax.plot(
        np.concatenate([values[:1], values]),
        np.concatenate([np.zeros(len(values[:1])), shares]),
        drawstyle="steps-post",
        color=look.colour,
        linestyle=look.dash,
        label=shown(label) + _remark(values),
    )
    if len(values):
        marked = values[np.searchsorted(shares, MARKED)]
        ax.plot(marked, MARKED, linestyle="none", color=look.colour, marker=look.marker)
    line.set_marker(look.marker)
    line.set_markevery([])
    return line
