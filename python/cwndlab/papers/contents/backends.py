"""A paper's cells on the Linux backend: its networks and algorithms, with Linux in place of its stack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.linux.backend import engine_of

if TYPE_CHECKING:
    from cwndlab.engine import Engine
    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.scenarios.scenario import Override, Scenario

SIM = "sim"
# What a reader of a reproduction is to know.
IN_LINUX = "In Linux: the papers' networks and algorithms, with Linux's TCP in place of their stacks"
# Bytes of the headers of a segment that Linux sends, with and without timestamps.
HEADERS = {True: 52, False: 40}


def on_backend(reading: Reading, backend: str) -> Reading:
    """Return the reading with its cells on a backend; a cell that this cannot serve has the reason.

    Raises `InputError` if there is no such backend, or no kernel has been built.
    """
    if backend == SIM:
        return reading
    cells = {key: _on_linux(cell, backend) for key, cell in reading.cells.items()}
    return replace(reading, cells=cells)


def _on_linux(cell: Cell, backend: str) -> Cell:
    if cell.scenario is None:
        return cell
    scenario = in_linux(cell.scenario, engine_of(backend, cell.scenario.engine))
    for problem in scenario.problems():
        if problem.is_error:
            return replace(cell, scenario=None, missing=f"not in Linux: {problem.key}: {problem.message}")
    return replace(cell, scenario=scenario)


def in_linux(scenario: Scenario, engine: Engine) -> Scenario:
    """Return a scenario of another stack for Linux itself. Its packets are as long as they were."""
    changes: list[Override] = [("profile", "linux"), ("send_jitter", "0 s")]
    if scenario.resolved["timeout_patterns"]:
        changes.append(("timeout_patterns", "false"))
    tcp = scenario.resolved["tcp"]
    header = HEADERS[scenario.overridden(("profile", "linux")).resolved["tcp"]["timestamps"]]
    changes += [
        ("tcp.header", str(header)),
        ("tcp.mss", str(tcp["mss"] + tcp["header"] - header)),
        ("tcp.overhead", str(tcp["overhead"])),
    ]
    return replace(scenario, engine=engine).overridden(*changes)
