"""Where the parts of a row chart stand, in percent of its axis, and its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts.spans import ticks
from cwndlab.statistics.numbers import counted, plain, with_interval

if TYPE_CHECKING:
    from cwndlab.output.charts import ChartRow, RowChart
    from cwndlab.output.charts.spans import Span

# Points of one row stand at several heights, so that equal values are seen.
HEIGHTS = (50, 38, 62, 44, 56)


def ends(chart: RowChart) -> Span:
    """Return the ends of the axis."""
    return chart.span or (0.0, 1.0)


def marks(chart: RowChart) -> list[float]:
    """Return the ticks of the axis."""
    return ticks(*ends(chart), most=6)


def place(chart: RowChart, value: float) -> str:
    """Return the position of a value."""
    low, high = ends(chart)
    return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"


def width(chart: RowChart, low: float, high: float) -> str:
    """Return the width of a part of the axis."""
    start, end = ends(chart)
    return f"{100 * (high - low) / (end - start):.2f}%"


def meanings(chart: RowChart) -> str:
    """Return what is drawn, for the text below the chart."""
    parts = [f"Shown: {chart.note}."] if chart.note else []
    parts += [f"Dashed line: {chart.rule_label}."] if chart.rule_label else []
    return " ".join(parts)


def colours(chart: RowChart) -> dict[str, int]:
    """Number the series."""
    return {series: index for index, series in enumerate(dict.fromkeys(row.series for row in chart.rows))}


def text(chart: RowChart, row: ChartRow) -> str:
    """Return the summary of a row in words."""
    if row.mean is not None:
        return f"{with_interval(row.mean)} {chart.unit}".rstrip()
    if row.box is None:
        return f"{plain(row.values[0])} {chart.unit}".rstrip() if row.values else "no values"
    return f"median {plain(row.box[2])} {chart.unit}".rstrip()


def hint(chart: RowChart, row: ChartRow) -> str:
    """Return all that is drawn of a row in words."""
    seeds = counted(len(row.values), "value")
    if row.box is None or row.mean is not None:
        return f"{row.label}: {text(chart, row)}" + (f", {seeds}" if row.values else "")
    low, lower, middle, upper, high = map(plain, row.box)
    return (
        f"{row.label}: {low}, quartiles {lower}, {middle}, {upper}, {high} {chart.unit}".rstrip()
        + f"; {seeds}"
    )
