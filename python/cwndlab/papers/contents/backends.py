"""A paper's cells on the Linux backend: its networks and algorithms, with Linux in place of its stack.

CUBIC, NewReno and the other algorithms that differ between stacks have Linux's form there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.linux.backend import (
    MOST_BUFFER,
    USUAL_PER_CONNECTION_S,
    USUAL_PER_HOSTS_S,
    USUAL_PER_PACKET_OF_MPTCP_S,
    USUAL_PER_PACKET_S,
    USUAL_S,
    engine_of,
)
from cwndlab.papers.contents.paper import Alternative, Answer, OpenPoint
from cwndlab.papers.contents.readings import claimed_cells
from cwndlab.scenarios.source import written

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from cwndlab.engine import Engine
    from cwndlab.papers.contents.cells import Cell
    from cwndlab.papers.contents.readings import Reading
    from cwndlab.scenarios.overrides import Override
    from cwndlab.scenarios.scenario import Scenario

SIM = "sim"
LINUX = "linux"
BOTH = "both"
# What a reader of a reproduction is to know.
IN_LINUX = "In Linux: the papers' networks and algorithms, with Linux's TCP and its forms of CUBIC and Reno"
WHERE = {
    LINUX: IN_LINUX,
    BOTH: "In the simulator, and in Linux with its own TCP and its own forms of CUBIC and Reno",
}
# The options for which Linux has a sysctl, a socket option or a route's attribute.
SETTINGS = (
    "initial_window",
    "rto_min",
    "delayed_ack",
    "sack",
    "sack_compression",
    "loss_detection",
    "timestamps",
    "tail_loss_probe",
    "window_validation",
)
OWN_OPTIONS = Answer(
    OpenPoint(
        "Linux",
        "which TCP options and forms of algorithms Linux has",
        "those of Linux 6.12",
        "what runs today",
    ),
    Alternative("the paper's, as far as Linux has settings for them"),
)
# Bytes of the headers of a segment that Linux sends, with and without timestamps.
HEADERS = {True: 52, False: 40}
# Why our controls are left out: a packet takes 30 to 50 times as long in Linux.
NOT_NEEDED = "not run in Linux: no claim, baseline or number of the paper needs it"


def on_backend(planned: Sequence[Reading], backend: str, *, own_options: bool) -> list[Reading]:
    """Return the readings of a paper with their cells on a backend.

    In Linux, only what the paper states is run, not our controls. A cell that is not run has the reason. With
    `own_options`, one more reading has the paper's own TCP options and forms of algorithms, as far as Linux
    can set them, if its stack is another one.

    Raises `InputError` if there is no such backend, or no kernel has been built.
    """
    if backend == SIM:
        return list(planned)
    found = [_with_cells(each, backend) for each in planned]
    defaults = planned[0]
    if own_options and any(map(_has_other_stack, defaults.runnable)):
        found.append(replace(_with_cells(defaults, backend, own_options=True), answers=(OWN_OPTIONS,)))
    return found


def _with_cells(reading: Reading, backend: str, *, own_options: bool = False) -> Reading:
    needed = claimed_cells(reading.paper)
    cells = {
        key: _on_linux(cell, backend, needed, own_options=own_options) for key, cell in reading.cells.items()
    }
    return replace(reading, cells=cells)


def _has_other_stack(cell: Cell) -> bool:
    return cell.scenario is not None and cell.scenario.resolved["profile"] != LINUX


def cost(planned: Sequence[Reading]) -> str:
    """Say how many runs the readings of a paper need in Linux, and about how long they take.

    At least: one look, and only the baselines of answers tried for some claims. Shared runs count once.
    """
    first, last = planned[0].looks[0], planned[0].looks[-1]
    least = _distinct((each, _first_cells(each)) for each in planned)
    most = _distinct((each, each.cells) for each in planned)
    counts = [first * len(least), last * len(most)]
    minutes = [look * sum(map(_usual_s, own)) / 60 for look, own in ((first, least), (last, most))]
    runs = " to ".join(dict.fromkeys(map(str, counts)))
    took = " to ".join(dict.fromkeys(f"{each:.1f}" for each in minutes))
    return f"{planned[0].paper.id} in Linux: {runs} runs, about {took} min on one core"


def _first_cells(reading: Reading) -> Container[str]:
    """Return the cells that a reading needs in any case."""
    return reading.baseline_cells if reading.only else reading.cells


def _distinct(wanted: Iterable[tuple[Reading, Container[str]]]) -> list[Scenario]:
    """Return the scenarios of these cells of the readings, each once."""
    scenarios = (cell.scenario for reading, keys in wanted for cell in reading.runnable if cell.key in keys)
    return list({each.canonical: each for each in scenarios if each}.values())


def _usual_s(scenario: Scenario) -> float:
    each = USUAL_PER_PACKET_OF_MPTCP_S if _multipath_flows(scenario) else USUAL_PER_PACKET_S
    set_up = USUAL_PER_HOSTS_S * scenario.hosts + USUAL_PER_CONNECTION_S * scenario.connections
    return USUAL_S + set_up + each * scenario.packets_expected


def _on_linux(cell: Cell, backend: str, needed: Container[str], *, own_options: bool) -> Cell:
    if cell.scenario is None:
        return cell
    if cell.key not in needed:
        return replace(cell, scenario=None, missing=NOT_NEEDED)
    scenario = in_linux(cell.scenario, engine_of(backend, cell.scenario.engine), own_options=own_options)
    for problem in scenario.problems():
        if problem.is_error:
            return replace(cell, scenario=None, missing=f"not in Linux: {problem.key}: {problem.message}")
    return replace(cell, scenario=scenario)


def in_linux(scenario: Scenario, engine: Engine, *, own_options: bool = False) -> Scenario:
    """Return a scenario of another stack for Linux itself. Its packets are as long as they were.

    With `own_options`, Linux gets the TCP options of that stack that it has settings for, and the stack's
    forms of algorithms.
    """
    changes: list[Override] = [("profile", "linux"), ("send_jitter", "0 s")]
    tcp = scenario.resolved["tcp"]
    if own_options:
        changes += [(f"tcp.{name}", written(tcp[name], name)) for name in SETTINGS]
    header = HEADERS[scenario.overridden(*changes).resolved["tcp"]["timestamps"]]
    changes += [
        ("tcp.header", str(header)),
        ("tcp.mss", str(tcp["mss"] + tcp["header"] - header)),
        ("tcp.overhead", str(tcp["overhead"])),
    ]
    if own_options:
        changes += _dialects(scenario, scenario.overridden(*changes))
    # Linux pushes every burst, and every refill of a send buffer, whatever a reading asks for. Named here,
    # readings that differ in that share runs.
    changes += [(f"flow.{index}.mptcp.push_bursts", "true") for index in _multipath_flows(scenario)]
    changes += [(f"flow.{index}.tcp.send_buffer", "unlimited") for index in _largest_buffers(scenario)]
    return replace(scenario, engine=engine).overridden(*changes)


def _dialects(scenario: Scenario, today: Scenario) -> list[Override]:
    """Return what gives each flow the form that its algorithm has in the stack of the first scenario."""
    algorithms = [[flow["cc"] for flow in each.resolved["flow"]] for each in (scenario, today)]
    pairs = enumerate(zip(*algorithms, strict=True))
    return [(f"flow.{index}.cc", written(then, "cc")) for index, (then, now) in pairs if then != now]


def _multipath_flows(scenario: Scenario) -> list[int]:
    flows = enumerate(scenario.resolved["flow"])
    return [index for index, flow in flows if flow.get("mptcp") is not None]


def _largest_buffers(scenario: Scenario) -> list[int]:
    sizes = [flow["tcp"]["send_buffer"] for flow in scenario.resolved["flow"]]
    return [index for index, size in enumerate(sizes) if size != "unlimited" and size >= MOST_BUFFER]
