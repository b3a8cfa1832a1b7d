"""The output of a study, declared by each kind of study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cwndlab.errors import InputError
from cwndlab.results.result import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure
    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted

    # Draws a figure of a measure, or of the default measure.
    Draw = Callable[[str | None], Figure]

S = TypeVar("S", bound=Study)


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
    def main_table(self, study: S) -> Block:
        """Return the one table to show if there is room for one."""

    @abstractmethod
    def report(self, study: S) -> Report:
        """Return the report of a study."""

    @abstractmethod
    def figures(self, study: S, *, styled: bool) -> Mapping[str, Draw]:
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

    def plot(self, study: S, name: str | None, measure: str | None, *, styled: bool) -> Figure:
        """Draw a figure; without a name, the default figure."""
        known = self.figures(study, styled=styled)
        chosen = next(iter(known)) if name is None else name
        if chosen not in known:
            raise InputError(f"expected a figure ({', '.join(known)}), found {name!r}")
        return known[chosen](measure)
