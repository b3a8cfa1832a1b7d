"""Parts that the reports share: tables of measures, the scenario, the manifest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.engine import in_use
from cwndlab.output.html import Cell, Column, Command, Row, Section, Table, Text
from cwndlab.output.tables.columns import EXPLAINED
from cwndlab.results.manifest import builder, manifest
from cwndlab.scenarios.outline import outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.output.tables.block import Block
    from cwndlab.output.tables.block import Row as BlockRow
    from cwndlab.output.tables.columns import Column as Measured
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.measure import Measure

PARTIAL = "(n): only n seeds have a value."


def block_table(block: Block, caption: str = "", commands: Sequence[str] = ()) -> Table:
    """Return a table of measures with their intervals. `commands` fill the last column, one for each row."""
    labels = [Column(heading) for heading in block.headings]
    measured = [
        Column(column.title, column.unit, numeric=True, hint=column.meaning or None)
        for column in block.columns
    ]
    repeat = [Column("command", code=True)] if commands else []
    rows = [
        Row(
            [
                *(Cell(label) for label in row.labels),
                *(_cell(block, row, column) for column in block.columns),
                *([Cell(commands[index])] if commands else []),
            ],
            row.anchor,
        )
        for index, row in enumerate(block.rows)
    ]
    notes = [PARTIAL] if block.is_partial else []
    notes += [f"{each.title}: {each.meaning}." for each in block.columns if each.key in EXPLAINED]
    return Table([*labels, *measured, *repeat], rows, caption, " ".join(notes), stacked=len(measured) > 1)


def tables_with_commands(block: Block, commands: Sequence[str]) -> list[Table]:
    """Return a table of measures, and a table of commands, which are too long for the first one.

    The first label of each row links to the command that repeats the row.
    """
    measured = block_table(block)
    labels = measured.columns[: len(block.headings)]
    anchors = [f"command-{index + 1}" for index in range(len(commands))]
    repeat = [
        Row([*row.cells[: len(labels)], Cell(command)], anchor)
        for row, command, anchor in zip(measured.rows, commands, anchors, strict=True)
    ]
    linked = [_linked(row, f"#{anchor}") for row, anchor in zip(measured.rows, anchors, strict=True)]
    return [
        replace(measured, rows=linked),
        Table([*labels, Column("command", code=True)], repeat, "Command to repeat each row"),
    ]


def scenario_section(scenario: Scenario, replaced: Sequence[str] = ()) -> Section:
    """Return the section with the scenario: an outline and the text of its file.

    `replaced` are the keys whose values no run had, since each has its own.
    """
    head, *links = outline(scenario.resolved)
    blocks: list[Text | Command] = [Text([head, *links])]
    if replaced:
        blocks.append(
            Text([f"The runs have other values of {', '.join(replaced)}: those that are compared above."])
        )
    if scenario.overrides:
        changed = ", ".join(f"{key} = {value}" for key, value in scenario.overrides)
        blocks.append(Text([f"Overridden: {changed}."]))
    blocks.append(Command(scenario.text.decode(errors="replace").rstrip("\n"), scenario.file))
    return Section("The scenario", blocks, "scenario")


def facts(scenario: Scenario, seeds: Sequence[int]) -> list[tuple[str, str]]:
    """Return the manifest as names and values."""
    return [(name.replace("_", " "), _fact(value)) for name, value in manifest(scenario, seeds).items()]


def machine_facts(seeds: Sequence[int]) -> list[tuple[str, str]]:
    """Return the manifest of a report on many scenarios: the versions and the machine."""
    return [(name.replace("_", " "), _fact(value)) for name, value in builder(seeds, in_use()).items()]


def _linked(row: Row, href: str) -> Row:
    first, *others = row.cells
    return replace(row, cells=[replace(first, href=href), *others])


def _fact(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "unknown" if value is None else str(value)


def _cell(block: Block, row: BlockRow, column: Measured) -> Cell:
    measure = row.value(column)
    return Cell(block.cell(row, column), sort=measure.mean, hint=hint(measure, column.unit, block.counted))


def hint(measure: Measure, unit: str, counted: str = "seeds") -> str | None:
    """Return the interval with six digits."""
    if measure.interval is None:
        return None
    low, high = measure.interval
    return f"95 % interval {low:.6g} to {high:.6g} {unit}, {measure.n} {counted}".replace("  ", " ")
