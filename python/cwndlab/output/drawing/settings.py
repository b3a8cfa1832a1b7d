"""Effects over settings: points with their intervals, and the numbers of a paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from cwndlab.output.drawing.names import plain, shown
from cwndlab.output.drawing.sheet import Page, sheet
from cwndlab.output.drawing.style import looks
from cwndlab.output.drawing.ticks import name_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.output.drawing.style import Look

HEIGHT_IN = 3.2
# The share of the distance to the next setting that the points of one setting take.
SHARE = 0.6
# The longest name below a setting.
LONGEST = 24
# The mark of a paper's number.
PAPER_MARK: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 7}


@dataclass(frozen=True, slots=True)
class SettingPoint:
    """A value with the ends of its interval, and the paper's numbers for it."""

    value: float | None
    low: float | None
    high: float | None
    paper: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One point for each setting."""

    label: str
    points: Sequence[SettingPoint]


def draw_settings(
    settings: Sequence[str],
    lines: Sequence[SettingLine],
    xlabel: str,
    ylabel: str,
    page: Page,
) -> Figure:
    """Draw the points of all lines side by side. A cross is the paper's number.

    The points of a line are joined if the settings are numbers.
    """
    joined = all(map(_is_number, settings))
    with sheet(page, HEIGHT_IN) as paper:
        [ax] = paper.axes
        for index, (line, look) in enumerate(zip(lines, looks(len(lines)), strict=True)):
            offset = SHARE * ((index + 0.5) / len(lines) - 0.5)
            _draw(ax, line, look, offset, joined=joined)
        name_ticks(paper.figure, ax, [shown(setting, LONGEST) for setting in settings])
        ax.set_xlim(-0.5, len(settings) - 0.5)
        ax.grid(visible=False, axis="x")
        if ax.dataLim.ymin >= 0:
            ax.set_ylim(bottom=0)
        ax.set_xlabel(plain(xlabel))
        ax.set_ylabel(plain(ylabel))
        handles = ax.get_legend_handles_labels()[0]
        if any(point.paper for line in lines for point in line.points):
            handles.append(Line2D([], [], color="0.4", label="the paper's number", **PAPER_MARK))
        paper.legend_below(handles)
        return paper.figure


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _draw(ax: Axes, line: SettingLine, look: Look, offset: float, *, joined: bool) -> None:
    places = offset + np.arange(len(line.points), dtype=np.float64)
    known = [_known(point) for point in line.points]
    values, low, high = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
    ax.errorbar(
        places,
        values,
        yerr=[values - low, high - values],
        color=look.colour,
        linestyle=look.dash if joined else "none",
        linewidth=0.7,
        elinewidth=1.1,
        marker=look.marker,
        label=shown(line.label),
    )
    for place, point in zip(places, line.points, strict=True):
        ax.plot([place] * len(point.paper), point.paper, color=look.colour, **PAPER_MARK)


def _known(point: SettingPoint) -> tuple[float, float, float]:
    """Return the value and the ends of its interval; without an interval, the ends equal the value."""
    if point.value is None:
        return np.nan, np.nan, np.nan
    ends = (point.low, point.high)
    low, high = (point.value if end is None else end for end in ends)
    return point.value, low, high
