"""The output of a study, declared by each kind of study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.output.figures.content import NoContentError
from cwndlab.results.result import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.charts import Chart
    from cwndlab.output.charts.names import Names
    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted


S = TypeVar("S", bound=Study)


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure of one study: whether there is anything to draw, and the chart of a measure.

    `default` is the measure that is drawn unless another one is chosen. A figure that `shows_all` draws
    several by default. `subtitle` names the part of the study that it shows.
    """

    chart: Callable[[str | None, Names], Chart]
    has_content: bool = True
    default: str | None = None
    shows_all: bool = False
    subtitle: str | None = None

    @property
    def has_measures(self) -> bool:
        """Whether a measure can be chosen."""
        return self.default is not None or self.shows_all


class Kind(ABC, Generic[S]):
    """The output of one kind of study. Libraries are loaded on first use."""

    # Whether there are tables of series, events, intervals and distributions.
    has_details = True

    def print(self, console: Console, study: S) -> None:
        """Print the answer that a study gives, then its tables."""
        for line in self.answer(study):
            console.print(line, markup=False, style="bold")
        console.print()
        self.print_tables(console, study)

    @abstractmethod
    def answer(self, study: S, wanted: Wanted | None = None) -> list[str]:
        """Return a few sentences that say what came out. What is wanted is what the study asked for."""

    @abstractmethod
    def print_tables(self, console: Console, study: S) -> None:
        """Print the tables of a study."""

    @abstractmethod
    def tables(self, study: S) -> list[Block]:
        """Return the tables that a paper may show."""

    @abstractmethod
    def report(self, study: S) -> Report:
        """Return the report of a study."""

    @abstractmethod
    def figures(self, study: S) -> Mapping[str, FigureKind]:
        """Return all figures of a study by name, the default figure first."""

    @abstractmethod
    def figure_files(self, study: S) -> Mapping[str, tuple[str, str | None]]:
        """Return the figures that are not empty, by file name: for each, its name and measure."""

    def weights(self, study: S) -> Mapping[tuple[str, int], bytes]:
        """Return the weights that learning flows had learned, by flow and seed."""
        del study
        return {}

    @abstractmethod
    def request(self, study: S) -> dict[str, Any]:
        """Return the request for the study, as `runs.json` stores it with the results."""

    @abstractmethod
    def restored(self, request: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> S:
        """Return the study with this request and these results from `runs.json`."""

    def default_figure(self, study: S) -> str:
        """Return the first figure that has content."""
        known = self.figures(study)
        return next((name for name, kind in known.items() if kind.has_content), next(iter(known)))

    def title(self, study: S, name: str | None) -> str:
        """Return the title of a figure: that of the study, and the part of it that the figure shows."""
        shown = self.figures(study).get(self.default_figure(study) if name is None else name)
        parts = (study.title, shown.subtitle if shown else None)
        return ": ".join(part for part in parts if part)

    def chart(self, study: S, name: str | None, measure: str | None, names: Names) -> Chart:
        """Return a figure as a chart; without a name, the default figure.

        Raises `InputError`, with the figures that this result has, if it does not have this one.
        """
        known = self.figures(study)
        chosen = self.default_figure(study) if name is None else name
        if chosen not in known:
            near = did_you_mean(chosen, known, "")
            hint = f"; {near}" if near else ""
            raise InputError(f"--kind: expected a figure ({_drawable(known)}), found {name!r}{hint}")
        kind = known[chosen]
        if measure is not None and not kind.has_measures:
            with_measures = ", ".join(each for each, other in known.items() if other.has_measures)
            raise InputError(
                f"--measure: {chosen} has no measure to choose; expected a figure that has ({with_measures})"
            )
        try:
            chart = kind.chart(measure or kind.default, names)
        except NoContentError as error:
            raise InputError(f"{chosen}: {error}; this result can be drawn as {_drawable(known)}") from None
        except InputError as error:
            if measure is None:
                raise
            raise InputError(f"--measure: {error}") from None
        names.check()
        return chart


def _drawable(known: Mapping[str, FigureKind]) -> str:
    return ", ".join(name for name, kind in known.items() if kind.has_content) or "nothing"
