"""The definition of a figure in a paper's folder: its quantities, its cells, its axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cwndlab.papers.language.place import NOWHERE, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.language.expression import Expression
    from cwndlab.statistics.estimate import Statistic

# The placeholder of the setting in the effect of a line over settings.
SETTING = "{at}"

Seeds = Literal["all", "first"]


@dataclass(frozen=True)
class Panel:
    """A quantity over time. `column` is a column of a flow's intervals, or `jain`."""

    column: str
    y: str
    unit: str = ""
    source: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class FlowLine:
    """A flow of a cell, as a line over time. A line without a flow belongs to panels of `jain`."""

    label: str
    cell: str
    flow: str = ""
    source: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class TimeFigure:
    """Flows of cells over time, one panel above the other.

    A line is the mean over the seeds with its interval, or with `seeds = "first"` the first seed alone.
    With `mean_s`, values are means over `mean_s` seconds.
    """

    id: str
    title: str
    paper: str
    panels: tuple[Panel, ...]
    lines: tuple[FlowLine, ...]
    seeds: Seeds = "all"
    mean_s: float = 0


@dataclass(frozen=True)
class EffectLine:
    """An effect at each setting. In its text, the name of the setting has replaced `{at}`."""

    label: str
    effects: tuple[Expression, ...]


@dataclass(frozen=True)
class SettingFigure:
    """Effects over the settings `at`, named along the axis `x`, with their intervals.

    The paper's numbers for the same effects are drawn with them.
    """

    id: str
    title: str
    paper: str
    x: str
    at: Sequence[str]
    y: str
    lines: tuple[EffectLine, ...]
    unit: str = ""
    statistic: Statistic = "mean"


PaperFigure = TimeFigure | SettingFigure
