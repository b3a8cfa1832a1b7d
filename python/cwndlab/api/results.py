"""Results as programs get them: plain values that can draw and save themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from cwndlab.results import comparison, result, sweep

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Self

    import matplotlib.figure

    ResultPlot = Literal["series", "cdf", "box", "fairness"]
    ComparisonPlot = Literal["cdf", "box", "fairness", "pareto"]
    SweepPlot = Literal["pareto", "heatmap"]


@dataclass(frozen=True)
class Result(result.Result):
    """The finished runs of a scenario; fewer than were asked for when `interrupted`."""

    @classmethod
    def of(cls, plain: result.Result) -> Self:
        """The same values."""
        return cls(plain.scenario, plain.runs, plain.interrupted)

    def plot(
        self, kind: ResultPlot = "series", measure: str | None = None, *, style: bool = True
    ) -> matplotlib.figure.Figure:
        """Draw a figure; `style=False` leaves colours, sizes and fonts to your own matplotlib settings.

        - `series`: window, RTT, goodput and queue over time, of the first recorded seed;
        - `cdf`: the distribution of `rtt_ms` (or `queue_delay_ms`, `completion_ms`) over all seeds;
        - `box`: `goodput_mbps` (or another measure) of each flow, over the seeds;
        - `fairness`: Jain's index over time, mean over the seeds with its 95 % interval.
        """
        from cwndlab.output import figures

        return figures.of_result(self, kind, measure, styled=style)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        figures: bool = True,
        style: bool = True,
        every_flow: bool = False,
    ) -> None:
        """Write document, tables, figures and report into a folder; `cwndlab.load` reads it.

        The document leaves out more than 10 000 flows unless `every_flow`.
        """
        from cwndlab.output import files

        files.save(self, folder, figures=figures, style=style, every_flow=every_flow)


@dataclass(frozen=True)
class Comparison(comparison.Comparison):
    """The results of each algorithm, in the order in which they were named; the first is the baseline.

    `link` is the one whose queue the totals tell of.
    """

    results: Sequence[Result]
    alone: Result | None

    @classmethod
    def of(cls, plain: comparison.Comparison) -> Self:
        """The same values."""
        alone = None if plain.alone is None else Result.of(plain.alone)
        return cls(plain.contest, [Result.of(each) for each in plain.results], alone, plain.link)

    def plot(
        self, kind: ComparisonPlot = "box", measure: str | None = None, *, style: bool = True
    ) -> matplotlib.figure.Figure:
        """Draw a figure; `style=False` leaves colours, sizes and fonts to your own matplotlib settings.

        - `box`: `goodput_mbps` (or another measure) of each flow with each algorithm, over the seeds;
        - `cdf`: the distribution of `rtt_ms` (or `queue_delay_ms`, `completion_ms`) with each algorithm;
        - `fairness`: Jain's index over time with each algorithm;
        - `pareto`: goodput of all flows against the queueing delay.
        """
        from cwndlab.output import figures

        return figures.of_comparison(self, kind, measure, styled=style)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        figures: bool = True,
        style: bool = True,
        every_flow: bool = False,
    ) -> None:
        """Write document, tables, figures and report into a folder; `cwndlab.load` reads it.

        The document leaves out more than 10 000 flows unless `every_flow`.
        """
        from cwndlab.output import files

        files.save(self, folder, figures=figures, style=style, every_flow=every_flow)


@dataclass(frozen=True)
class Sweep(sweep.Sweep):
    """The results of each combination of the axes' values, in the order of the grid.

    A combination of which no seed finished is left out. `link` is the one whose queue the totals tell of.
    """

    points: Sequence[tuple[dict[str, str], Result]]

    @classmethod
    def of(cls, plain: sweep.Sweep) -> Self:
        """The same values."""
        points = [(settings, Result.of(each)) for settings, each in plain.points]
        return cls(plain.scenario, plain.axes, points, plain.link)

    def at(self, **settings: str) -> Result:
        """The result of the point with these settings; keys with dots go in as `**{"flow.0.cc": "cubic"}`."""
        return cast("Result", super().at(**settings))

    def plot(
        self, kind: SweepPlot = "pareto", measure: str = "goodput_mbps", *, style: bool = True
    ) -> matplotlib.figure.Figure:
        """Draw a figure; `style=False` leaves colours, sizes and fonts to your own matplotlib settings.

        - `pareto`: goodput against the queueing delay of `link`, one point each;
        - `heatmap`: a total (`goodput_mbps`, `queue_delay_ms`, ...) over two axes.
        """
        from cwndlab.output import figures

        return figures.of_sweep(self, kind, measure, styled=style)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        figures: bool = True,
        style: bool = True,
        every_flow: bool = False,
    ) -> None:
        """Write document, tables, figures and report into a folder; `cwndlab.load` reads it.

        The document leaves out more than 10 000 flows of a point unless `every_flow`.
        """
        from cwndlab.output import files

        files.save(self, folder, figures=figures, style=style, every_flow=every_flow)


def load(folder: str | os.PathLike[str]) -> Result | Comparison | Sweep:
    """Read what `save`, or a command, has written into a folder.

    Raises `InputError` if there is no result in it, one that is damaged, or one of a later version.
    """
    from cwndlab.output import saved

    plain = saved.load(folder)
    if isinstance(plain, result.Result):
        return Result.of(plain)
    return Sweep.of(plain) if isinstance(plain, sweep.Sweep) else Comparison.of(plain)
