"""Lines over a common axis, mostly time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab.output.charts.spans import Span

Values = Sequence[float | None]

# More lines than this are hard to distinguish: there are as many colours.
MAX_LINES = 8


@dataclass(frozen=True, slots=True)
class Spot:
    """A point on a line, with the ends of the interval of its x."""

    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One line over the chart's x values.

    `band` holds the lower and the upper edge of an area around it. `spots` are marked points on it.
    """

    label: str
    values: Values
    band: tuple[Values, Values] | None = None
    spots: Sequence[Spot] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event at one x."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Shade:
    """A part of the x axis that does not count, such as the warm-up."""

    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True)
class TimeChart:
    """Lines over a common, ascending x, already thinned to what a screen can show.

    The y axis begins at zero unless `y_span` says otherwise; `x_span` is all x unless given. Lines with
    `steps` keep their value until the next x. `note` says how the values were made: `mean of 0.1 s`. A
    `remark` stands below the chart in a report.
    """

    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    series: Sequence[Series]
    events: Sequence[Event] = ()
    x_unit: str = ""
    y_unit: str = ""
    note: str = ""
    x_span: Span | None = None
    y_span: Span | None = None
    log_x: bool = False
    steps: bool = False
    shade: Shade | None = None
    # What a marked point, an event and an area around a line mean.
    spot_label: str = ""
    event_label: str = ""
    band_label: str = "from the lowest to the highest seed"
    remark: str = ""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.x)) or any(left > right for left, right in pairwise(self.x)):
            raise ValueError(f"chart {self.title!r}: x must be finite and ascending")
        columns = [values for line in self.series for values in (line.values, *(line.band or ()))]
        if any(len(values) != len(self.x) for values in columns):
            raise ValueError(f"chart {self.title!r}: each series needs {len(self.x)} values")


@dataclass(frozen=True, slots=True)
class ChartGroup:
    """Charts over the same x, which share cursor and zoom. Equal labels look the same in all of them.

    The panels of a `titled` group need their titles: they show the same quantity.
    """

    charts: Sequence[TimeChart]
    titled: bool = False
