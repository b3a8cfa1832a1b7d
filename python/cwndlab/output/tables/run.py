"""The tables that `cwndlab run` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables import columns
from cwndlab.output.tables.block import Block, Row, print_block
from cwndlab.results.crowd import LEAST, MANY, crowds, least
from cwndlab.results.summary import Component, is_of_a_flow
from cwndlab.scenarios.outline import varying
from cwndlab.statistics.numbers import counted, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from cwndlab.results.crowd import Crowd
    from cwndlab.results.result import Result
    from cwndlab.results.summary import Summary

# The labels of the quantiles.
SPREAD = {"p05": " 5 %", "median": " median", "p95": " 95 %"}


def print_result(console: Console, result: Result) -> None:
    """Print the tables of a run, fitted to the width of the console."""
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
    """Return the tables of flows, multipath connections, groups, links and changes, without empty columns."""
    summary, seeds = result.summary, len(result.runs)
    tables = (
        Block(("flow", "cc"), flow_rows(result), columns.FLOW, seeds),
        Block(("connection",), connection_rows(summary), columns.CONNECTION, seeds),
        Block(("group", "cc"), component_rows(summary.groups), columns.GROUP, seeds),
        Block(("link",), component_rows(_shown_links(summary), with_cc=False), columns.LINK, seeds),
        Block(("change",), component_rows(summary.changes, with_cc=False), columns.CHANGE, seeds),
    )
    return [block.measured() for block in tables]


def flow_rows(result: Result) -> list[Row]:
    """Return one row per flow; for very many flows, a few rows per algorithm and the slowest flows."""
    return component_rows(_flows(result))


def connection_rows(summary: Summary) -> list[Row]:
    """Return one row per multipath connection; for very many connections, none."""
    if not 0 < summary.connections <= MANY:
        return []
    return component_rows((flow for flow in summary.flows if flow.subflows), with_cc=False)


def component_rows(components: Iterable[Component], *, with_cc: bool = True) -> list[Row]:
    """Return one row per component: its name, its algorithm, and its measures."""
    return [
        Row(
            (component.name + (" !" if component.degraded else ""), *[component.cc or ""] * with_cc),
            component.measures,
        )
        for component in components
    ]


def repeats(result: Result) -> str:
    """Return the number of seeds of a result, and the kind of its intervals."""
    count = len(result.runs)
    if count == 1:
        return f"seed {result.seeds[0]} only, so no intervals"
    if result.summary.deterministic:
        return f"{count} seeds; deterministic: nothing varies between them"
    return f"{count} seeds, mean ± half-width of the 95 % interval"


def notes(result: Result) -> Iterator[str]:
    """Return notes for the reader of the tables."""
    summary = result.summary
    if summary.jain.mean is not None:
        over_time = f"; in windows of 1 s {with_interval(summary.jain_over_time)}"
        yield (
            f"Jain's index of goodputs: {with_interval(summary.jain)}"
            f"{over_time if summary.jain_over_time.n else ''}"
        )
    if summary.flow_count > MANY:
        yield (
            f"{summary.flow_count} flows: averages and quantiles of each algorithm (each column by itself), "
            "then the flows with the lowest goodput of each seed. All flows are in runs.parquet and runs.csv."
        )
    if summary.degraded:
        yield "! degraded: the transport does not support everything that this algorithm needs"
    if len(result.runs) > 1 and not summary.deterministic:
        yield f"Seeds differ in {varying(result.scenario.resolved, result.scenario.engine)}."
    relevant = _relevant_links(summary)
    quiet = len(summary.links) - len(relevant)
    if quiet:
        yield f"Only in the files: {counted(quiet, 'access or return link')} without drops or losses."
    hidden = len(relevant) - len(_shown_links(summary))
    if hidden:
        yield f"Only in the files: {counted(hidden, 'more access or return link')} with drops or losses."


def _flows(result: Result) -> list[Component]:
    summary = result.summary
    if summary.flow_count <= MANY:
        return [shown for flow in summary.flows for shown in (flow, *_indented(flow.subflows))]
    return [*(row for crowd in crowds(summary.outcomes) for row in _spread(crowd)), *least(summary.outcomes)]


def _spread(crowd: Crowd) -> Iterator[Component]:
    yield Component(f"average of {crowd.size}", crowd.cc, crowd.degraded, crowd.average)
    for name, label in SPREAD.items():
        yield Component(label, crowd.cc, False, crowd.quantiles[name])


def _indented(subflows: Sequence[Component]) -> list[Component]:
    return [Component(f" {flow.name}", flow.cc, flow.degraded, flow.measures) for flow in subflows]


def _relevant_links(summary: Summary) -> list[Component]:
    return [link for link in summary.links if _is_relevant(link)]


def _shown_links(summary: Summary) -> list[Component]:
    """Return the relevant links; of very many access links, those with the most drops and losses."""
    relevant = _relevant_links(summary)
    own = [link for link in relevant if is_of_a_flow(link.name)]
    if len(own) <= MANY:
        return relevant
    worst = {link.name for link in sorted(own, key=_missing_packets, reverse=True)[:LEAST]}
    return [link for link in relevant if link.name in worst or not is_of_a_flow(link.name)]


def _is_relevant(link: Component) -> bool:
    """Whether a link is one of the scenario's own, or an access or return link with drops or losses."""
    return not link.name.endswith((".access", ".back")) or _missing_packets(link) > 0


def _missing_packets(link: Component) -> float:
    lost = (link.measures[key].mean for key in ("dropped_packets", "lost_packets") if key in link.measures)
    return sum(mean for mean in lost if mean is not None)
