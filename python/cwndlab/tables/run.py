"""The tables that `cwndlab run` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.numbers import counted, with_interval
from cwndlab.outline import varying
from cwndlab.summary import Component, mean_of_flows
from cwndlab.tables import columns
from cwndlab.tables.block import Block, Row, print_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from cwndlab.result import Result
    from cwndlab.summary import Summary

# More flows than this are shown as the average flow of each algorithm.
MAX_FLOWS = 40


def print_result(console: Console, result: Result) -> None:
    """Print what was measured, as wide as the console allows."""
    console.print(f"{result.name}: {repeats(result)}", markup=False, soft_wrap=True)
    console.print()
    shown = blocks(result)
    for block in shown:
        print_block(console, block)
    if any(block.is_partial for block in shown):
        console.print("(n): only n seeds have a value")
    for note in notes(result):
        console.print(note, markup=False, style="dim")


def blocks(result: Result) -> list[Block]:
    """Flows, multipath connections, groups, links and changes, each with the columns that have a value."""
    summary, seeds = result.summary, len(result.runs)
    tables = (
        Block(("flow", "cc"), flow_rows(result), columns.FLOW, seeds),
        Block(("connection",), connection_rows(summary), columns.CONNECTION, seeds),
        Block(("group", "cc"), component_rows(summary.groups), columns.GROUP, seeds),
        Block(("link",), component_rows(_telling_links(summary), with_cc=False), columns.LINK, seeds),
        Block(("change",), component_rows(summary.changes, with_cc=False), columns.CHANGE, seeds),
    )
    return [block.measured() for block in tables]


def flow_rows(result: Result) -> list[Row]:
    """One row a flow; of very many, one an algorithm."""
    return component_rows(_flows(result))


def connection_rows(summary: Summary) -> list[Row]:
    """One row a multipath connection; of very many, none."""
    connections = [flow for flow in summary.flows if flow.subflows]
    return component_rows(connections if len(connections) <= MAX_FLOWS else (), with_cc=False)


def component_rows(components: Iterable[Component], *, with_cc: bool = True) -> list[Row]:
    """One row a component: its name, its algorithm, and its measures."""
    return [
        Row(
            (component.name + (" !" if component.degraded else ""), *[component.cc or ""] * with_cc),
            component.measures,
        )
        for component in components
    ]


def repeats(result: Result) -> str:
    """Over how many seeds a result is, and what its intervals are."""
    count = len(result.runs)
    if count == 1:
        return f"seed {result.seeds[0]} only, so no intervals"
    if result.summary.deterministic:
        return f"{count} seeds; deterministic: nothing varies between them"
    return f"{count} seeds, mean ± half-width of the 95 % interval"


def notes(result: Result) -> Iterator[str]:
    """What else a reader of the tables must know."""
    summary = result.summary
    if summary.jain.mean is not None:
        over_time = f"; in windows of 1 s {with_interval(summary.jain_over_time)}"
        yield (
            f"Jain's index of goodputs: {with_interval(summary.jain)}"
            f"{over_time if summary.jain_over_time.n else ''}"
        )
    if any(component.degraded for component in summary.flows):
        yield "! degraded: the transport could not serve all that this algorithm needs"
    if len(result.runs) > 1 and not summary.deterministic:
        yield f"Seeds differ in {varying(result.scenario.resolved)}."
    hidden = len(summary.links) - len(_telling_links(summary))
    if hidden:
        yield f"{counted(hidden, 'access or return link')} without drop or loss: in the files only."


def _flows(result: Result) -> list[Component]:
    flows = result.summary.flows
    if len(flows) <= MAX_FLOWS:
        return [shown for flow in flows for shown in (flow, *_indented(flow.subflows))]
    outcomes = [run.outcome for run in result.runs]
    algorithms = dict.fromkeys(flow.cc or "" for flow in flows)
    sizes = {cc: sum(flow.cc == cc for flow in flows) for cc in algorithms}
    return [mean_of_flows(outcomes, cc, f"average of {size}") for cc, size in sizes.items()]


def _indented(subflows: Sequence[Component]) -> list[Component]:
    return [Component(f" {flow.name}", flow.cc, flow.degraded, flow.measures) for flow in subflows]


def _telling_links(summary: Summary) -> list[Component]:
    return [link for link in summary.links if _is_telling(link)]


def _is_telling(link: Component) -> bool:
    """Whether a link is one of the scenario's own, or an access or return link where something happened."""
    if not link.name.endswith((".access", ".back")):
        return True
    return any(link.measures[key].mean for key in ("dropped_packets", "lost_packets") if key in link.measures)
