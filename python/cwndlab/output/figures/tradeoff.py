"""Goodput against queueing delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts import ScatterChart, ScatterPoint
from cwndlab.output.charts.spans import amount_span, is_wide, log_span, readable
from cwndlab.output.figures.content import capacity
from cwndlab.results.sweep import AS_GIVEN, Sweep
from cwndlab.scenarios.ranges import numbers, with_few_digits
from cwndlab.statistics.pareto import front

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.charts.names import Names
    from cwndlab.output.charts.spans import Span
    from cwndlab.results.comparison import Comparison
    from cwndlab.results.result import Settings
    from cwndlab.statistics.pareto import Point

# Costs that span this factor or more are drawn on a logarithmic axis.
WIDE = 10**1.5
# The series of points that differ in numbers only.
EVERY = "points"


def tradeoff(study: Comparison | Sweep, names: Names, hrefs: Sequence[str] = ()) -> ScatterChart:
    """Return goodput against queueing delay of each variant, with the Pareto front.

    The first setting of a variant is its series, the others choose its marker; numbers that were drawn choose
    neither. `hrefs` are the anchors of the rows of a table.
    """
    judged = _judged(study)
    settings = [_label(study, each) for each in judged]
    looks = settings
    if isinstance(study, Sweep) and not study.design.is_grid:
        looks = [look_of(study, each) for each in judged]
    limit = capacity(study, study.link)
    return tradeoff_of(study.tradeoffs, settings, study.link, limit, names, hrefs, looks)


def _label(study: Comparison | Sweep, settings: Settings) -> tuple[str, ...]:
    """Return the values of a point; drawn numbers have few digits, so that names fit into a figure."""
    axes = {axis.key: axis for axis in study.axes} if isinstance(study, Sweep) else {}
    values = (with_few_digits(axes[key], value) if key in axes else value for key, value in settings.items())
    return tuple(values) or (AS_GIVEN,)


def look_of(sweep: Sweep, settings: Settings) -> tuple[str, ...]:
    """Return the values of a point that are no numbers; one text if there are none."""
    chosen = [axis.key for axis in sweep.axes if numbers(axis) is None and axis.key in settings]
    return tuple(settings[key] for key in chosen) or (EVERY,)


def _judged(study: Comparison | Sweep) -> list[Settings]:
    """Return the settings of each point: of a variant, or of a choice over the conditions."""
    if isinstance(study, Sweep) and study.across:
        return [each.settings for each in study.choices]
    return [settings for settings, _ in study.variants]


def tradeoff_of(
    points: Sequence[Point],
    settings: Sequence[Sequence[str]],
    link: str | None,
    limit: float | None,
    names: Names,
    hrefs: Sequence[str] = (),
    looks: Sequence[Sequence[str]] = (),
) -> ScatterChart:
    """Return the chart of these points, each with the settings that name it. `limit` is the capacity.

    `looks` choose the colour and the marker of each point; the settings do without them.
    """
    costs = [end for point in points for end in (point.x.mean, *(point.x.interval or ()))]
    factor, unit = readable("ms", costs)
    means = [None if point.x.mean is None else factor * point.x.mean for point in points]
    is_log = is_wide(means, WIDE)
    scaled = [factor * cost for cost in costs if cost is not None]
    x_span = log_span([*means, *above(scaled, means)]) if is_log else amount_span(scaled)
    gains = [end for point in points for end in (point.y.mean, *(point.y.interval or ()))]
    anchors: Sequence[str | None] = [f"#{href}" for href in hrefs] or [None] * len(points)
    shown = [
        _point(point, names, values, look, factor, x_span if is_log else None, href, is_best)
        for point, values, look, href, is_best in zip(
            points, settings, looks or settings, anchors, front(points), strict=True
        )
    ]
    return ScatterChart(
        "Goodput against queueing delay",
        f"queueing delay of link {link}",
        "goodput of all flows",
        shown,
        unit,
        "Mbit/s",
        x_span,
        amount_span(gains, limit),
        is_log,
    )


def above(ends: Sequence[float], means: Sequence[float | None]) -> list[float]:
    """Return the ends that a logarithmic axis shows. An interval may reach far below its mean, or below 0."""
    least = min(mean for mean in means if mean is not None)
    return [end for end in ends if end >= least / 2]


def _point(
    point: Point,
    names: Names,
    settings: Sequence[str],
    look: Sequence[str],
    factor: float,
    cut: Span | None,
    href: str | None,
    is_best: bool,
) -> ScatterPoint:
    x = point.x.scaled(factor)
    x_low, x_high = x.interval or (None, None)
    if cut is not None and x_low is not None:
        x_low = max(x_low, cut[0])
    y_low, y_high = point.y.interval or (None, None)
    series, *others = look
    return ScatterPoint(
        names.joined(settings),
        names(series),
        x.mean,
        point.y.mean,
        x_low,
        x_high,
        y_low,
        y_high,
        href,
        front=is_best,
        marker_key=names.joined(others),
    )
