"""What each kind of study declares about its output."""

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
    from cwndlab.results.result import Result, Settings

    # Draws a figure of a measure, or of the usual one.
    Draw = Callable[[str | None], Figure]

S = TypeVar("S", bound=Study)


class Kind(ABC, Generic[S]):
    """The output of one kind of study. Libraries are loaded when they are needed."""

    # Whether there are tables of series, events, intervals and distributions.
    has_details = True

    @abstractmethod
    def print(self, console: Console, study: S) -> None:
        """Print its tables."""

    @abstractmethod
    def report(self, study: S) -> Report:
        """Its report."""

    @abstractmethod
    def figures(self, study: S, *, styled: bool) -> Mapping[str, Draw]:
        """All its figures by their names, the usual one first."""

    @abstractmethod
    def figure_files(self, study: S) -> Mapping[str, tuple[str, str | None]]:
        """The figures with something to show, by the names of their files: each a name and a measure."""

    def weights(self, study: S) -> Mapping[tuple[str, int], bytes]:
        """What is written of what learning flows had learned, by flow and seed."""
        del study
        return {}

    @abstractmethod
    def asked(self, study: S) -> dict[str, Any]:
        """What `runs.json` says of how it was asked for, beside its results."""

    @abstractmethod
    def restored(self, asked: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> S:
        """The study of which `runs.json` has these results, and says this."""

    def plot(self, study: S, name: str | None, measure: str | None, *, styled: bool) -> Figure:
        """Draw a figure, the usual one if no name is given."""
        known = self.figures(study, styled=styled)
        chosen = next(iter(known)) if name is None else name
        if chosen not in known:
            raise InputError(f"no figure {name!r}; there are: {', '.join(known)}")
        return known[chosen](measure)
