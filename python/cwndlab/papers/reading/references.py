"""Checks the names that a paper uses (cells, flows, links and probes) before anything is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.papers.contents.cells import algorithms, known_cells
from cwndlab.papers.contents.figure import TimeFigure
from cwndlab.papers.contents.readings import claimed_cells
from cwndlab.papers.language.place import Mistake, Place
from cwndlab.papers.language.quantities import JAIN
from cwndlab.papers.language.quantity import Kind
from cwndlab.papers.reading.content import chosen
from cwndlab.papers.reading.names import Names, check_cell
from cwndlab.papers.reading.setting import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.figure import FlowLine, PaperFigure
    from cwndlab.papers.contents.paper import Alternative, Paper, Part, Target
    from cwndlab.papers.language.expression import Expression


def check_names(paper: Paper) -> list[Mistake]:
    """Return all unknown names, and all mistakes in the scenarios under the defaults."""
    mistakes: list[Mistake] = []
    cells = known_cells(paper, (), mistakes)
    names = {key: Names(cell.scenario) for key, cell in cells.items() if cell.scenario}
    return [*mistakes, *_References(paper, cells, names).mistakes()]


def check_alternatives(paper: Paper) -> list[Mistake]:
    """Return all mistakes in the scenarios under the alternatives."""
    mistakes: list[Mistake] = []
    for point in paper.open_points:
        for each in point.alternatives:
            if each.unavailable is None:
                known_cells(paper, [each], mistakes, only=claimed_cells(paper))
    for combination in paper.combinations:
        together = [answer.alternative for answer in combination.answers]
        if all(each.unavailable is None for each in together):
            known_cells(paper, together, mistakes, only=claimed_cells(paper))
    return mistakes


def _tried(place: Place, check: Callable[..., object], *arguments: object) -> list[Mistake]:
    """Return the mistake that a check finds, if any."""
    try:
        check(*arguments)
    except InputError as error:
        return [Mistake(place, str(error))]
    return []


@dataclass(frozen=True)
class _References:
    """A paper with its cells. The names in cells that cannot be run are not known, and not checked."""

    paper: Paper
    cells: Mapping[str, Cell]
    names: Mapping[str, Names]

    def mistakes(self) -> Iterator[Mistake]:
        for statement in (*self.paper.claims, *self.paper.findings):
            for part in statement.parts:
                yield from self.part(part)
        for baseline in self.paper.baselines:
            wrong = self.experiment(baseline.source.inside("experiment"), baseline.experiment)
            yield from wrong or self.effect(baseline.effect)
            yield from self.claims(baseline.source.inside("claims"), baseline.claims)
        for target in self.paper.targets:
            yield from self.target(target)
        for figure in self.paper.figures:
            yield from self.figure(figure)
        for point in self.paper.open_points:
            for alternative in point.alternatives:
                yield from self.alternative(alternative)
        for combination in self.paper.combinations:
            yield from self.claims(combination.source.inside("telling"), combination.telling)

    def part(self, part: Part) -> Iterator[Mistake]:
        wrong = self.experiment(part.source.inside("experiment"), part.experiment)
        yield from wrong
        if part.effect is not None and not wrong:
            yield from self.effect(part.effect)

    def experiment(self, place: Place, name: str) -> list[Mistake]:
        return _tried(place, chosen, [each.id for each in self.paper.experiments], name)

    def claims(self, place: Place, names: Sequence[str]) -> Iterator[Mistake]:
        known = [claim.id for claim in self.paper.claims]
        for name in names:
            yield from _tried(place, chosen, known, name)

    def effect(self, effect: Expression) -> Iterator[Mistake]:
        for reading in dict.fromkeys(effect.readings()):
            place = effect.source.inside(reading.quantity.name)
            yield from _tried(place, check_cell, self.cells, reading.cell)
            if reading.cell in self.names:
                yield from _tried(place, self.names[reading.cell].check, reading)

    def target(self, target: Target) -> Iterator[Mistake]:
        source = target.source
        if target.experiment:
            wrong = self.experiment(source.inside("experiment"), target.experiment)
            if wrong:
                yield from wrong
                return
        if target.effect is not None:
            yield from self.effect(target.effect)
        key = f"{target.experiment}/{target.variant}"
        if target.kind == "measured" and target.variant:
            yield from _tried(source.inside("variant"), check_cell, self.cells, key)
            if target.flow and key in self.names:
                known = self.names[key].of(Kind.SENDER)
                yield from _tried(source.inside("flow"), chosen, known, target.flow)
        if target.key:
            yield from self.key(target)

    def key(self, target: Target) -> list[Mistake]:
        """Check the key in the first variant that can be run. The others have the same keys."""
        keys = (key for key in self.names if self.cells[key].experiment.id == target.experiment)
        first = next(keys, None)
        if first is None:
            return []
        return _tried(
            target.source.inside("statistic"), value_of, self.names[first].scenario.resolved, target.key
        )

    def figure(self, figure: PaperFigure) -> Iterator[Mistake]:
        if not isinstance(figure, TimeFigure):
            for effect in (effect for line in figure.lines for effect in line.effects):
                yield from self.effect(effect)
            return
        wrong = [mistake for line in figure.lines for mistake in self.line(line)]
        yield from wrong
        columns = [self.columns(line) for line in figure.lines if line.flow]
        if wrong or any(each is None for each in columns):
            return
        # A probe of one algorithm may be missing in others, but at least one must have it.
        known = [JAIN, *(name for each in columns if each is not None for name in each)]
        for panel in figure.panels:
            yield from _tried(panel.source.inside("column"), chosen, known, panel.column)

    def line(self, line: FlowLine) -> Iterator[Mistake]:
        yield from _tried(line.source.inside("cell"), check_cell, self.cells, line.cell)
        if line.flow and line.cell in self.names:
            known = self.names[line.cell].of(Kind.FLOW)
            yield from _tried(line.source.inside("flow"), chosen, known, line.flow)

    def columns(self, line: FlowLine) -> list[str] | None:
        """Return the columns of the flow of a line, or None if they are not known."""
        return self.names[line.cell].columns(line.flow) if line.cell in self.names else None

    def alternative(self, alternative: Alternative) -> Iterator[Mistake]:
        for key, names in (("only", alternative.only), ("each", alternative.each)):
            for name in names:
                yield from self.experiment(alternative.source.inside(key), name)
        yield from self.claims(alternative.source.inside("telling"), alternative.telling)
        used = {name for cell in self.cells.values() for name in algorithms(cell)}
        for name in alternative.algorithms:
            yield from _tried(alternative.source.inside("algorithms"), chosen, sorted(used), name)
