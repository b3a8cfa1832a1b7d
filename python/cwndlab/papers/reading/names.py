"""The names that expressions of a paper may use: its cells, and their flows, groups, links and probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.papers.language.place import expected_one_of
from cwndlab.papers.language.quantity import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.language.expression import Reading
    from cwndlab.scenarios.scenario import Scenario

# The columns over time of every flow. The probes of its algorithm come in addition.
INTERVALS = ("goodput_mbps", "cwnd_segments", "loss_events")


@dataclass(frozen=True)
class Names:
    """The names in the runs of a scenario, which are known before it runs."""

    scenario: Scenario

    def of(self, kind: Kind) -> Sequence[str]:
        """Return the names of flows, of flows and groups, or of links."""
        found = self.scenario.components
        flows = [*found["flow"], *found["subflow"]]
        known: dict[Kind, Sequence[str]] = {
            Kind.FLOW: flows,
            Kind.SENDER: [*flows, *found["group"]],
            Kind.LINK: found["link"],
        }
        return known[kind]

    def columns(self, flow: str) -> list[str] | None:
        """Return the columns of a flow over time, or None if its algorithm does not declare them."""
        found = self.scenario.components
        if flow in found["probes"]:
            return [*INTERVALS, *found["probes"][flow]]
        # A connection has no algorithm of its own, only its subflows have.
        is_connection = any(name.startswith(f"{flow}/") for name in found["subflow"])
        return list(INTERVALS) if is_connection else None

    def check(self, reading: Reading) -> None:
        """Raise `InputError` if an argument is an unknown name."""
        arguments = dict(reading.arguments)
        for argument, value in arguments.items():
            kind = reading.quantity.kind(argument)
            if kind is Kind.NUMBER:
                continue
            known = self.columns(str(arguments["flow"])) if kind is Kind.PROBE else self.of(kind)
            if known is not None and value not in known:
                raise InputError(f"{argument}: {expected_one_of(known, str(value))}")


def check_cell(cells: Mapping[str, Cell], key: str) -> Cell:
    """Return the cell with this key. Raises `InputError` if there is none."""
    if key in cells:
        return cells[key]
    experiment, _, label = key.partition("/")
    labels: dict[str, list[str]] = {}
    for cell in cells.values():
        labels.setdefault(cell.experiment.id, []).append(cell.variant.label)
    if experiment not in labels:
        raise InputError(f"experiment of cell: {expected_one_of(labels, experiment)}")
    raise InputError(f"cell of {experiment}: {expected_one_of(labels[experiment], label)}")
