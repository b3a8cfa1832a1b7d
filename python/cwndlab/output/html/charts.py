"""The data of a chart for the script that draws it, and its summary for readers who cannot see it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from cwndlab.output.html.links import target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cwndlab.output.charts import ScatterChart, ScatterPoint, Series, Shade, Spot, TimeChart
    from cwndlab.output.charts.lines import Values
    from cwndlab.output.charts.spans import Span

# More digits than a screen can show. It halves the size of the file.
SIGNIFICANT_DIGITS = 6

Looks = dict[str, int]


def looks(labels: Iterable[str]) -> Looks:
    """Number the labels. Each number has its own colour, dash and marker."""
    return {label: index for index, label in enumerate(dict.fromkeys(labels))}


def time_looks(charts: Sequence[TimeChart]) -> Looks:
    """Return the looks of all series in a group of charts."""
    return looks(series.label for chart in charts for series in chart.series)


def time_data(chart: TimeChart, look: Mapping[str, int]) -> dict[str, Any]:
    """Return the data of lines over time."""
    return {
        **_axes(chart),
        "x": _rounded(chart.x),
        "series": [_series(series, look[series.label]) for series in chart.series],
        "events": [
            {"x": number(event.x), "label": event.label} for event in chart.events if math.isfinite(event.x)
        ],
        **({"eventLabel": chart.event_label} if chart.events and chart.event_label else {}),
        **({"steps": True} if chart.steps else {}),
        **({"shade": _shade(chart.shade)} if chart.shade is not None else {}),
    }


def meanings(chart: TimeChart) -> str:
    """Return what areas and marked points mean, for the text below the chart."""
    parts = []
    if any(line.band is not None for line in chart.series):
        parts.append(f"Area around a line: {chart.band_label}.")
    if any(line.spots for line in chart.series):
        parts.append(f"Mark: {chart.spot_label}.")
    return " ".join(parts)


def scatter_data(chart: ScatterChart) -> dict[str, Any]:
    """Return the data of the points that can be drawn. `sign` is the number of a marker."""
    look = looks(point.series for point in chart.points)
    signs = looks(point.marker_key for point in chart.points)
    return {
        **_axes(chart),
        **({"logY": True} if chart.log_y else {}),
        "series": [{"label": label, "look": index} for label, index in look.items()],
        "keys": [{"label": label, "sign": index} for label, index in signs.items() if label],
        "points": [_point(point, look[point.series], signs[point.marker_key]) for point in drawn(chart)],
    }


def drawn(chart: ScatterChart) -> list[ScatterPoint]:
    """Return the points that have both coordinates."""
    return [point for point in chart.points if number(point.x) is not None and number(point.y) is not None]


def time_summary(chart: TimeChart) -> str:
    """Return the chart in words."""
    note = f", {chart.note}," if chart.note else ""
    parts = [f"{chart.y_label}{note} over {chart.x_label}"]
    if chart.x:
        parts[0] += f" from {_spoken(chart.x[0])} to {_with_unit(chart.x[-1], chart.x_unit)}"
    parts += [f"{series.label}: {_extent(series.values, chart.y_unit)}" for series in chart.series]
    return f"{chart.title}. {'; '.join(parts)}."


def scatter_summary(chart: ScatterChart) -> str:
    """Return the chart in words."""
    points = drawn(chart)
    horizontal = _extent([point.x for point in points], chart.x_unit)
    vertical = _extent([point.y for point in points], chart.y_unit)
    return (
        f"{chart.title}. {len(points)} points: {chart.x_label} {horizontal}, {chart.y_label} {vertical}. "
        "The table has the same values."
    )


def embedded(data: Any) -> Markup:
    """Format as JSON for an HTML script element. Without `<`, nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", r"\u003c"))


def number(value: float | None) -> float | None:
    """Round to save space. Return None for a value that is not finite."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _axes(chart: TimeChart | ScatterChart) -> dict[str, Any]:
    return {
        "xLabel": chart.x_label,
        "xUnit": chart.x_unit,
        "yLabel": chart.y_label,
        "yUnit": chart.y_unit,
        **({"xSpan": _span(chart.x_span)} if chart.x_span is not None else {}),
        **({"ySpan": _span(chart.y_span)} if chart.y_span is not None else {}),
        **({"logX": True} if chart.log_x else {}),
    }


def _span(span: Span) -> list[float | None]:
    return [number(end) for end in span]


def _shade(shade: Shade) -> dict[str, Any]:
    return {"low": number(shade.low), "high": number(shade.high), "label": shade.label}


def _series(series: Series, look: int) -> dict[str, Any]:
    data = {"label": series.label, "look": look, "values": _rounded(series.values)}
    if series.band is not None:
        data["low"], data["high"] = map(_rounded, series.band)
    if series.spots:
        data["spots"] = [_spot(spot) for spot in series.spots]
    return data


def _spot(spot: Spot) -> dict[str, float | None]:
    ends = {"xLow": number(spot.x_low), "xHigh": number(spot.x_high)}
    return {
        "x": number(spot.x),
        "y": number(spot.y),
        **{key: end for key, end in ends.items() if end is not None},
    }


def _point(point: ScatterPoint, look: int, sign: int) -> dict[str, Any]:
    ends = {
        "xLow": number(point.x_low),
        "xHigh": number(point.x_high),
        "yLow": number(point.y_low),
        "yHigh": number(point.y_high),
    }
    return {
        "label": point.label,
        "look": look,
        "sign": sign,
        "x": number(point.x),
        "y": number(point.y),
        **{name: end for name, end in ends.items() if end is not None},
        **({"href": target(point.href)} if point.href is not None else {}),
        **({"hint": point.hint} if point.hint is not None else {}),
        **({"front": True} if point.front else {}),
    }


def _rounded(values: Values) -> list[float | None]:
    return [number(value) for value in values]


def _extent(values: Values, unit: str) -> str:
    there = [value for value in values if value is not None and math.isfinite(value)]
    if not there:
        return "no values"
    return f"{_spoken(min(there))} to {_with_unit(max(there), unit)}"


def _with_unit(value: float, unit: str) -> str:
    return f"{_spoken(value)} {unit}".rstrip()


def _spoken(value: float) -> str:
    return f"{value:.4g}"
