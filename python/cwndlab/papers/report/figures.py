"""The figures of a paper, drawn from our runs, with the paper's numbers where it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.drawing.style import svg
from cwndlab.output.html import (
    Cell,
    Column,
    Picture,
    Row,
    Section,
    Table,
    Text,
)
from cwndlab.papers import figures
from cwndlab.papers.judging.figure_values import DrawnTime
from cwndlab.papers.table import effect
from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.html import Block
    from cwndlab.papers.judging.figure_values import Drawn, DrawnLine, DrawnSettings
    from cwndlab.papers.reproducing.reproduction import PaperReproduction
    from cwndlab.statistics.estimate import Estimate


def figure_sections(paper: PaperReproduction, kinds: Sequence[str]) -> Iterator[Section]:
    """Yield one section per figure. It names the figure's files, if there are any in these formats."""
    for drawn in paper.figures:
        anchor = f"{paper.paper.id}-figure-{drawn.figure.id}"
        files = figures.file_names(paper.paper.id, drawn, kinds)
        blocks = list(_blocks(drawn, files))
        yield Section(drawn.figure.title, blocks, anchor, drawn.figure.paper, level=2)


def _blocks(drawn: Drawn, files: Sequence[str]) -> Iterator[Block]:
    if not drawn.has_lines:
        pass
    elif isinstance(drawn, DrawnTime):
        yield figures.over_time(drawn)
        yield Text([f"{_how(drawn)} Files: {', '.join(files)}." if files else _how(drawn)])
    else:
        crosses = "; crosses are the paper's numbers" if _has_numbers(drawn) else ""
        yield Picture(svg(figures.plot(drawn)), f"{drawn.title}{crosses}", files)
        yield _values(drawn)
    if drawn.missing:
        yield Text([f"Not drawn. {'; '.join(drawn.missing)}."])


def _how(drawn: DrawnTime) -> str:
    """Return a sentence on the values of a line."""
    means = f"values are means over {drawn.mean_s:g} s"
    if drawn.figure.seeds == "first":
        return f"First seed only; {means}."
    return f"Mean over the seeds with its 95 % interval; {means}."


def _values(drawn: DrawnSettings) -> Table:
    """Return the values of a figure as a table, for readers who cannot see it."""
    figure = drawn.figure
    columns = [
        Column(figure.x),
        Column("line"),
        Column("ours, 95 % interval", figure.unit, numeric=True),
    ]
    with_paper = _has_numbers(drawn)
    if with_paper:
        columns.append(Column("paper", figure.unit, numeric=True))
    rows = [
        row
        for index, setting in enumerate(figure.at)
        for row in (_value(setting, line, index, with_paper=with_paper) for line in drawn.lines)
    ]
    return Table(columns, rows, figure.y)


def _value(setting: str, line: DrawnLine, index: int, *, with_paper: bool) -> Row:
    cells = [Cell(setting), Cell(line.label), _ours(line.estimates[index])]
    if with_paper:
        paper = line.paper[index]
        cells.append(Cell(", ".join(map(plain, paper)), paper[0] if paper else None))
    return Row(cells)


def _has_numbers(drawn: DrawnSettings) -> bool:
    """Whether the paper prints any of the values."""
    return any(printed for line in drawn.lines for printed in line.paper)


def _ours(ours: Estimate | None) -> Cell:
    return Cell("not run") if ours is None else Cell(effect(ours), ours.value)
