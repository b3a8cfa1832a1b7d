"""The answers to what a paper leaves open: its defaults, and one alternative at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.papers.contents.cells import cells
from cwndlab.papers.contents.figure import TimeFigure

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.figure import PaperFigure
    from cwndlab.papers.contents.paper import Alternative, Claim, OpenPoint, Paper
    from cwndlab.scenarios.scenario import Scenario

# Seeds of secondary cells: the alternatives of the most telling point, and the cells that nothing
# reads. They are the first ones of all, so that whatever is compared has met the same chance.
TELLING_SEEDS = 5


@dataclass(frozen=True)
class World:
    """The cells to run under one answer, and with which seeds; the defaults have no point.

    `unread` are the cells that nothing reads, which have few seeds. `missing` is the reason why an
    alternative cannot be tried.
    """

    paper: Paper
    seeds: Sequence[int]
    cells: dict[str, Cell]
    point: OpenPoint | None = None
    alternative: Alternative | None = None
    missing: str | None = None
    unread: Collection[str] = ()

    @property
    def option(self) -> str:
        """The open point that is answered otherwise; empty for the defaults."""
        return self.point.id if self.point else ""

    @property
    def value(self) -> str:
        """The other answer; `default` for the defaults."""
        return self.alternative.label if self.alternative else "default"

    @property
    def runnable(self) -> list[Cell]:
        """The cells that can be run."""
        return [cell for cell in self.cells.values() if cell.scenario is not None]

    @property
    def jobs(self) -> list[tuple[Scenario, Sequence[int]]]:
        """Their scenarios, with the seeds of each."""
        return [(cell.scenario, self.seeds_of(cell.key)) for cell in self.runnable if cell.scenario]

    @property
    def run_count(self) -> int:
        """How many runs all of them have."""
        return sum(len(seeds) for _, seeds in self.jobs)

    def seeds_of(self, key: str) -> Sequence[int]:
        """The seeds of one cell."""
        return self.seeds[:TELLING_SEEDS] if key in self.unread else self.seeds


def worlds(paper: Paper, seeds: Sequence[int], *, quick: bool = False, full: bool = False) -> list[World]:
    """The defaults, then alternatives: those of the most telling point with few seeds, or all if `full`.

    Cells that nothing reads have few seeds under the defaults, too; all if `full`, and none if `quick`.
    """
    read = read_cells(paper)
    if quick:
        return [World(paper, seeds, cells(paper, quick=True, only=read))]
    known = cells(paper)
    defaults = World(paper, seeds, known, unread=() if full else known.keys() - read)
    shown = [point for point in paper.open_points if full or point.telling]
    fewer = seeds if full else seeds[:TELLING_SEEDS]
    return [
        defaults,
        *(_alternative(paper, fewer, point, each) for point in shown for each in point.alternatives),
    ]


def read_cells(paper: Paper) -> set[str]:
    """The cells that anything needs: the paper's claims and numbers, our findings, or a figure."""
    drawn = (key for figure in paper.figures for key in figure_cells(figure))
    return {*told_cells(paper), *_cells_of(paper.findings), *drawn}


def told_cells(paper: Paper) -> set[str]:
    """The cells that the paper's claims and numbers need."""
    numbers = {key for target in paper.targets if target.effect for key in target.effect.cells}
    return _cells_of(paper.claims) | numbers


def figure_cells(figure: PaperFigure) -> list[str]:
    """The keys of the cells that a figure shows."""
    if isinstance(figure, TimeFigure):
        return [line.cell for line in figure.lines]
    return [key for line in figure.lines for effect in line.effects for key in effect.cells]


def _cells_of(statements: Sequence[Claim]) -> set[str]:
    effects = (part.effect for statement in statements for part in statement.parts)
    return {key for effect in effects if effect for key in effect.cells}


def _alternative(paper: Paper, seeds: Sequence[int], point: OpenPoint, each: Alternative) -> World:
    if each.unavailable is not None:
        return World(paper, seeds, {}, point, each, each.unavailable)
    return World(paper, seeds, cells(paper, each, only=told_cells(paper)), point, each)
