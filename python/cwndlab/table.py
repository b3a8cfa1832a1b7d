"""The tables that `cwndlab run` prints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from cwndlab.numbers import counted, with_interval
from cwndlab.outline import varying
from cwndlab.summary import Component, Measure, mean_of_flows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from cwndlab.result import Result

# Longer names go on in the next line.
MAX_NAME = 28

# More flows than this are shown as the average flow of each algorithm.
MAX_FLOWS = 40


@dataclass(frozen=True, slots=True)
class Block:
    """One table: what its rows are, and over how many seeds."""

    kind: str
    rows: Sequence[Component]
    columns: Sequence[Column]
    seeds: int

    @staticmethod
    def value(row: Component, column: Column) -> Measure:
        """The measure of one cell."""
        return row.measures.get(column.key, Measure(None, None, 0))

    def measured(self) -> Block:
        """Without the columns in which nothing was measured."""
        columns = [column for column in self.columns if any(self.value(row, column).n for row in self.rows)]
        return replace(self, columns=columns)

    @property
    def is_partial(self) -> bool:
        """Whether some seeds lack a value that others have."""
        counts = (self.value(row, column).n for row in self.rows for column in self.columns)
        return any(0 < count < self.seeds for count in counts)


@dataclass(frozen=True, slots=True)
class Layout:
    """How wide a table is: the sign before a half-width, and the blanks between columns."""

    sign: str
    gap: int


# Widest first: the first that fits is taken.
LAYOUTS = (Layout(" ± ", 2), Layout("±", 2), Layout("±", 1))


@dataclass(frozen=True, slots=True)
class Column:
    """A measure, and the two lines of its heading: what it is, and its unit."""

    key: str
    title: str
    unit: str = ""


FLOW = (
    Column("goodput_mbps", "goodput", "Mbit/s"),
    Column("rtt_ms", "RTT", "ms"),
    Column("rtt_p95_ms", "RTT p95", "ms"),
    Column("retransmitted_packets", "retrans.", "packets"),
    Column("timeouts", "timeouts"),
    Column("fast_recoveries", "fast rec."),
    Column("completion_s", "done in", "s"),
)
GROUP = (
    Column("arrived", "arrived", "flows"),
    Column("completed", "ended", "flows"),
    Column("completion_ms", "mean", "ms"),
    Column("completion_p50_ms", "p50", "ms"),
    Column("completion_p95_ms", "p95", "ms"),
    Column("completion_p99_ms", "p99", "ms"),
    Column("goodput_mbps", "goodput", "Mbit/s"),
    Column("retransmitted_packets", "retrans.", "packets"),
    Column("timeouts", "timeouts"),
)
LINK = (
    Column("utilisation", "used", "%"),
    Column("dropped_packets", "dropped", "packets"),
    Column("lost_packets", "lost", "packets"),
    Column("queue_delay_ms", "queue delay", "ms"),
    Column("queue_delay_p95_ms", "its p95", "ms"),
)


def print_result(console: Console, result: Result) -> None:
    """Print what was measured, as wide as the console allows."""
    summary = result.summary
    console.print(f"{result.name}: {_repeats(result)}", markup=False, soft_wrap=True)
    console.print()
    seeds = len(result.runs)
    telling = [link for link in summary.links if _is_telling(link)]
    shown = (
        Block("flow", _flows(result), FLOW, seeds),
        Block("group", summary.groups, GROUP, seeds),
        Block("link", [_in_percent(link) for link in telling], LINK, seeds),
    )
    for block in shown:
        _print(console, block.measured())
    if any(block.is_partial for block in shown):
        console.print("(n): only n seeds have a value")
    for note in _notes(result, hidden_links=len(summary.links) - len(telling)):
        console.print(note, markup=False, style="dim")


def _repeats(result: Result) -> str:
    count = len(result.runs)
    if count == 1:
        return f"seed {result.seeds[0]} only, so no intervals"
    if result.summary.deterministic:
        return f"{count} seeds; deterministic: nothing varies between them"
    return f"{count} seeds, mean ± half-width of the 95 % interval"


def _notes(result: Result, hidden_links: int) -> Iterator[str]:
    summary = result.summary
    if summary.jain.mean is not None:
        yield f"Jain's index of the goodputs: {with_interval(summary.jain)}"
    if any(component.degraded for component in summary.flows):
        yield "! degraded: the transport could not serve all that this algorithm needs"
    if len(result.runs) > 1 and not summary.deterministic:
        yield f"Seeds differ in {varying(result.scenario.resolved)}."
    if hidden_links:
        yield f"{counted(hidden_links, 'access or return link')} without drop or loss: in the files only."


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


def _is_telling(link: Component) -> bool:
    """Whether a link is one of the scenario's own, or an access or return link where something happened."""
    if not link.name.endswith((".access", ".back")):
        return True
    return any(link.measures[key].mean for key in ("dropped_packets", "lost_packets") if key in link.measures)


def _in_percent(link: Component) -> Component:
    share = link.measures.get("utilisation")
    if share is None or share.mean is None:
        return link
    half_width = None if share.half_width is None else 100 * share.half_width
    percent = Measure(100 * share.mean, half_width, share.n)
    return Component(link.name, link.cc, link.degraded, {**link.measures, "utilisation": percent})


def _print(console: Console, block: Block) -> None:
    """Print a table; in halves, one below the other, if not even the tightest layout fits."""
    if not block.columns or not block.rows:
        return
    tables = [_table(block, layout) for layout in LAYOUTS]
    fitting = (table for table in tables if _width(console, table) <= console.width)
    table = next(fitting, tables[-1] if len(block.columns) == 1 else None)
    if table is not None:
        console.print(table)
        console.print()
        return
    middle = (len(block.columns) + 1) // 2
    _print(console, replace(block, columns=block.columns[:middle]))
    _print(console, replace(block, columns=block.columns[middle:]))


def _width(console: Console, table: Table) -> int:
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(block: Block, layout: Layout) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, layout.gap, 0, 0), header_style="bold")
    table.add_column(block.kind, overflow="fold", max_width=MAX_NAME)
    with_cc = any(row.cc for row in block.rows)
    if with_cc:
        table.add_column("cc", overflow="fold")
    for column in block.columns:
        table.add_column(f"{column.title}\n{column.unit}", justify="right", no_wrap=True)
    for row in block.rows:
        identity = [row.name + (" !" if row.degraded else "")] + [row.cc or ""] * with_cc
        table.add_row(
            *map(escape, identity), *(_cell(block, row, column, layout) for column in block.columns)
        )
    return table


def _cell(block: Block, row: Component, column: Column, layout: Layout) -> str:
    measure = block.value(row, column)
    count = f" ({measure.n})" if 0 < measure.n < block.seeds else ""
    return with_interval(measure, layout.sign) + count
