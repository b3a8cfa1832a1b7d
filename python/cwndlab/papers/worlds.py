"""The answers to what a paper leaves open: its defaults, and one alternative at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.papers.cells import cells
from cwndlab.papers.expression import in_full, parse
from cwndlab.papers.quantities import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.papers.cells import Cell
    from cwndlab.papers.paper import Alternative, OpenPoint, Paper

# Of the most telling alternatives that the default run shows beside.
TELLING_SEEDS = 5


@dataclass(frozen=True)
class World:
    """The cells to run under one answer, and with which seeds; the defaults have no point.

    `missing` is the reason why an alternative cannot be tried.
    """

    paper: Paper
    seeds: Sequence[int]
    cells: dict[str, Cell]
    point: OpenPoint | None = None
    alternative: Alternative | None = None
    missing: str | None = None

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


def worlds(paper: Paper, seeds: Sequence[int], *, quick: bool = False, full: bool = False) -> list[World]:
    """The defaults, then the alternatives: of the most telling point with few seeds, or all if `full`."""
    defaults = World(paper, seeds, cells(paper, quick=quick))
    if quick:
        return [defaults]
    shown = [point for point in paper.open_points if full or point.telling]
    fewer = seeds if full else seeds[:TELLING_SEEDS]
    return [
        defaults,
        *(_alternative(paper, fewer, point, each) for point in shown for each in point.alternatives),
    ]


def told_cells(paper: Paper) -> set[str]:
    """The cells that the paper's claims and numbers need."""
    effects = {(part.experiment, part.effect) for claim in paper.claims for part in claim.parts}
    effects |= {
        (target.experiment, target.statistic) for target in paper.targets if target.kind == "measured"
    }
    return {key for effect in effects for key in part_cells(*effect)}


def part_cells(experiment: str, effect: str) -> list[str]:
    """The keys of the cells that an expression reads; a cell without an experiment is of this one."""
    if not effect:
        return []
    return [in_full(cell, experiment) for cell in parse(effect, QUANTITIES).cells()]


def _alternative(paper: Paper, seeds: Sequence[int], point: OpenPoint, each: Alternative) -> World:
    if each.unavailable is not None:
        return World(paper, seeds, {}, point, each, each.unavailable)
    return World(paper, seeds, cells(paper, each, only=told_cells(paper)), point, each)
