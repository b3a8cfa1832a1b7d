"""An experiment of a paper: the paper's numbers and ours, and every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.html import Cell, Column, Row, Section, Table, Text
from cwndlab.papers.report.cells import cell_tables, goodput_over_seeds, windows
from cwndlab.papers.table import effect
from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cwndlab.output.html import Block
    from cwndlab.papers.contents.cells import Cell as PaperCell
    from cwndlab.papers.contents.paper import Experiment
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.judging.evaluation import Row as Number
    from cwndlab.papers.reproducing.reproduction import PaperReproduction
    from cwndlab.statistics.estimate import Estimate


UNUSED = "no claim or number uses them"


def experiment_section(paper: PaperReproduction, experiment: Experiment) -> Section:
    """Return the section of one experiment under the defaults."""
    numbers = [row for row in paper.rows if row.target.experiment == experiment.id]
    blocks: list[Block] = []
    if numbers:
        blocks.append(_numbers_table(numbers))
    blocks += _cells(paper, experiment)
    title = f"{experiment.id}: {experiment.title}"
    return Section(title, blocks, f"{paper.paper.id}-{experiment.id}", experiment.paper, level=2)


def _numbers_table(rows: Iterable[Number]) -> Table:
    columns = [
        Column("where"),
        Column("variant, flow"),
        Column("quantity", prose=True),
        Column("paper", numeric=True),
        Column("ours, 95 % interval", numeric=True),
        Column("range over seeds", numeric=True),
        Column("ours - paper", numeric=True),
        Column("paper within our interval?"),
    ]
    return Table(columns, [_number_row(row) for row in rows], "The paper's numbers and ours", stacked=True)


def _number_row(row: Number) -> Row:
    target, ours = row.target, row.ours
    who = ", ".join(name for name in (target.variant, target.flow) if name)
    unit = f" ({target.unit})" if target.unit else ""
    labels = (target.place, who, f"{target.metric.replace('_', ' ')}{unit}")
    known = [*(Cell(label) for label in labels), Cell(target.value, target.number, hint=target.notes or None)]
    if ours is None:
        return Row([*known, Cell("not run", hint=row.missing), Cell(""), Cell(""), Cell("")])
    spread = f"{plain(min(ours.values))} to {plain(max(ours.values))}"
    return Row([*known, Cell(effect(ours), ours.value), Cell(spread), *_gap(ours, target.number)])


def _gap(ours: Estimate, paper: float | None) -> tuple[Cell, Cell]:
    """Return our number minus the paper's, and whether our interval contains the paper's number."""
    if paper is None:
        return Cell(""), Cell("")
    gap = ours.value - paper
    held = ours.low is not None and ours.high is not None and ours.low <= paper <= ours.high
    return Cell(f"{'+' if gap > 0 else ''}{plain(gap)}", gap), Cell("yes" if held else "no")


def _cells(paper: PaperReproduction, experiment: Experiment) -> Iterator[Block]:
    reading = paper.defaults.reading
    cells = [cell for cell in reading.cells.values() if cell.experiment is experiment]
    notes = [*_not_run(cells), *_unused(reading, experiment)]
    if notes:
        yield Text(notes)
    found = paper.defaults.results
    ran = [cell for cell in cells if cell.key in found and found[cell.key].runs]
    results = [(cell.title, found[cell.key]) for cell in ran]
    if results:
        yield from cell_tables(results, len(reading.seeds))
        # Separate, because there are many controls, and some are far from all others.
        for variants, is_control in (("the variants of the paper", False), ("the controls", True)):
            shown = [(cell.title, found[cell.key]) for cell in ran if cell.variant.control is is_control]
            yield from goodput_over_seeds(shown, variants)
        yield from windows(results)


def _not_run(cells: Iterable[PaperCell]) -> Iterator[str]:
    missing = {cell.variant.label: cell.missing for cell in cells if cell.missing is not None}
    if missing:
        reasons = [
            f"{', '.join(label for label, each in missing.items() if each == reason)}: {reason}"
            for reason in dict.fromkeys(missing.values())
        ]
        yield f"Not run. {'; '.join(reasons)}."


def _unused(reading: Reading, experiment: Experiment) -> Iterator[str]:
    """Yield notes on unused variants, which were left out or have few seeds."""
    known = {cell.variant.label: cell for cell in reading.cells.values() if cell.experiment is experiment}
    left_out = [variant.label for variant in experiment.variants if variant.label not in known]
    if left_out:
        yield f"Left out by --quick, because {UNUSED}: {'; '.join(left_out)}."
