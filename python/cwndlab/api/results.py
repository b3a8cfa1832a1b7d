"""The results for programs: plain values with methods that draw and save them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cwndlab.results import comparison, result, sweep
from cwndlab.results.wanted import Wanted
from cwndlab.statistics.numbers import counted
from cwndlab.system.arguments import DICTIONARY, PATH, TEXT, TEXTS, checked, optional
from cwndlab.system.wording import in_arguments

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    import matplotlib.figure
    from matplotlib.axes import Axes

    from cwndlab.output.drawing.style import Width
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Settings


def _listed(ax: Any) -> list[Axes]:
    """Return axes as a list. Those of `plt.subplots` come alone or as an array."""
    if isinstance(ax, list | tuple):
        return [*ax]
    return [*ax.flat] if hasattr(ax, "flat") else [ax]


class _Output(result.Study):
    """The methods of a study beyond its values."""

    @in_arguments
    @checked(
        kind=optional(TEXT),
        measure=optional(TEXT),
        labels=optional(DICTIONARY),
        width=TEXT,
        title=optional(TEXT),
    )
    def plot(
        self,
        kind: str | None = None,
        measure: str | None = None,
        *,
        style: bool = True,
        labels: Mapping[str, str] | None = None,
        width: Width = "page",
        title: str | None = None,
        ax: Axes | Sequence[Axes] | None = None,
    ) -> matplotlib.figure.Figure:
        """Draw a figure.

        `labels` replace names of algorithms, flows or settings, as in `{"mine": "Ours"}`. `width` is that of
        a `column` (3.5 inches) or a `page` (7.16 inches) of a paper. `title` replaces the scenario's name; an
        empty one leaves it out. `ax` draws into your axes instead, one for each panel of the figure. With
        `style=False`, your own matplotlib settings choose colours, sizes and fonts.

        A `Result` has

        - `series` (default): `goodput_mbps` and `cwnd_segments` (or one measure) of each flow over time, as a
          mean over the seeds with its 95 % interval;
        - `recorded`: window, RTT, goodput and queue over time, of the first recorded seed;
        - `cdf`: the distribution of `rtt_ms` (or `queue_delay_ms`, `completion_ms`) over all seeds;
        - `box`: `goodput_mbps` (or another measure) of each flow, over the seeds;
        - `fairness`: Jain's index over time, as a mean over the seeds with its 95 % interval;
        - `convergence`: goodput of each flow over time, and when it became steady.

        A `Comparison` has `box` (default), `series`, `cdf`, `fairness` and `convergence` for each algorithm,

        - `pareto`: goodput of all flows against the queueing delay of `link`;
        - `harm`: `goodput_mbps` (or `rtt_ms`, `rtt_p95_ms`) that the algorithms cost the other flows.

        A `Sweep` has `pareto` (default) and `box` with one point for each combination, and

        - `heatmap`: a total (`goodput_mbps`, `queue_delay_ms`, ...) over two axes of a grid;
        - `sensitivity`: how much each key matters for a total, if the sweep was made for it;
        - `over-KEY`: a total of each point over the values of a key, if the points are no grid.

        With conditions, `pareto` shows means over them, `pareto-NAME` one of them, and `heatmap` each choice
        in each condition.

        Raises `InputError` if the result has no such figure, measure or name.
        """
        from cwndlab.output.kinds import plot

        axes = [] if ax is None else _listed(ax)
        return plot(self, kind, measure, styled=style, labels=labels, width=width, title=title, axes=axes)

    @in_arguments
    @checked(labels=optional(DICTIONARY))
    def to_markdown(self, labels: Mapping[str, str] | None = None) -> str:
        """Return the tables with their 95 % intervals in Markdown. `labels` replace names in the rows."""
        from cwndlab.output.tables.published import markdown

        return markdown(self._tables(), labels)

    @in_arguments
    @checked(labels=optional(DICTIONARY))
    def to_latex(self, labels: Mapping[str, str] | None = None) -> str:
        """Return the tables with their 95 % intervals in LaTeX, which needs the package `booktabs`."""
        from cwndlab.output.tables.published import latex

        return latex(self._tables(), labels)

    def _tables(self) -> list[Block]:
        from cwndlab.output.kinds import kind_of

        return kind_of(self).tables(self)

    def __repr__(self) -> str:
        """Return what Python shows: the kind of result, the scenario, the number of seeds, the answer."""
        about = f"{type(self).__name__} of {self.title}, {counted(len(self.seeds), 'seed')}"
        return "\n".join([f"{about}:" if self.answer() else about, *self.answer()])

    def _repr_html_(self) -> str:
        """Return the answer, a table and one chart, as a notebook shows them."""
        from cwndlab.output.notebook import notebook

        return notebook(self)

    @in_arguments
    @checked(best=optional(TEXT), limits=TEXTS)
    def answer(self, best: str | None = None, limits: Sequence[str] = ()) -> list[str]:
        """Return a few sentences that say what came out.

        Those of a `Comparison` or a `Sweep` name the variant with the most goodput, or the best value of the
        total `best`, among those that keep all `limits`, as in `"delay p95 < 100 ms"`.

        Raises `InputError` if a measure or a unit is unknown.
        """
        from cwndlab.output.kinds import kind_of

        asked = Wanted(best, tuple(limits))
        return kind_of(self).answer(self, asked if asked.words else None)

    @in_arguments
    @checked(folder=PATH, formats=TEXT | TEXTS)
    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        figures: bool = True,
        style: bool = True,
        every_flow: bool = False,
        formats: str | Iterable[str] = ("png",),
        replace: bool = False,
    ) -> None:
        """Write the document, tables, report and figures into a folder. `cwndlab.load` reads it.

        `formats` are those of the figures: `png`, `svg`, `pdf`. If a variant has more than 10 000 flows, the
        document lists them only with `every_flow`.

        Raises `InputError` if the folder holds the result of another request, or files of others with the
        same names, unless `replace`.
        """
        from cwndlab.output import files

        files.save(
            self,
            folder,
            figures=figures,
            style=style,
            every_flow=every_flow,
            chosen=formats,
            replace=replace,
        )


@dataclass(frozen=True, repr=False)
class Result(result.Result, _Output):
    """The finished runs of a scenario: data frames, means, figures, files."""

    @classmethod
    def of(cls, plain: result.Result) -> Self:
        """Return the same values with these methods."""
        return cls(plain.scenario, plain.runs, plain.interrupted, plain.asked)


@dataclass(frozen=True, repr=False)
class Comparison(comparison.Comparison, _Output):
    """The results of several algorithms, compared seed by seed. The first is the baseline."""

    results: Sequence[Result]
    alone: Result | None

    @classmethod
    def of(cls, plain: comparison.Comparison) -> Self:
        """Return the same values with these methods."""
        results = [Result.of(each) for each in plain.results]
        alone = None if plain.alone is None else Result.of(plain.alone)
        return cls(plain.scenario, plain.labels, plain.chosen, results, alone, plain.link, plain.wanted)


@dataclass(frozen=True, repr=False)
class Sweep(sweep.Sweep, _Output):
    """The results of a grid of settings, or of other points. Points without a finished seed are left out."""

    points: Sequence[tuple[Settings, Result]]

    @classmethod
    def of(cls, plain: sweep.Sweep) -> Self:
        """Return the same values with these methods."""
        points = [(settings, Result.of(each)) for settings, each in plain.points]
        return cls(
            plain.scenario,
            plain.axes,
            points,
            plain.link,
            plain.wanted,
            plain.across,
            plain.design,
            plain.until,
            plain.done,
        )

    def at(self, **settings: str) -> Result:
        """Return the result at these settings. Pass keys with dots as `**{"flow.0.cc": "cubic"}`."""
        return cast("Result", super().at(**settings))


_PUBLIC: dict[str, Callable[[Any], Result | Comparison | Sweep]] = {
    Result.kind: Result.of,
    Comparison.kind: Comparison.of,
    Sweep.kind: Sweep.of,
}


@in_arguments
@checked(folder=PATH)
def load(folder: str | os.PathLike[str]) -> Result | Comparison | Sweep:
    """Read the result that `save` or a command wrote into a folder.

    Raises `InputError` if the folder has no result, a damaged one, or one of a later version.
    """
    from cwndlab.output import loading

    study = loading.load(folder)
    return _PUBLIC[study.kind](study)
