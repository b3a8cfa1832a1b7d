"""The measures that tables show. Headings and units are declared once, with the measures."""

from __future__ import annotations

from dataclasses import dataclass

from cwndlab.engine import SHIPPED


@dataclass(frozen=True, slots=True)
class Column:
    """A measure, and the two lines of its heading: title and unit.

    `meaning` explains it. The table shows the measured value times `scale`. A column of differences is
    `signed`. One is `counted` if its cells say over how many seeds or conditions they are, where some lack a
    value.
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1
    signed: bool = False
    counted: bool = True
    meaning: str = ""

    @property
    def heading(self) -> str:
        """The heading in one line."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def _columns(kind: str, *keys: str | Column) -> tuple[Column, ...]:
    """Return the columns of these measures. A `Column` instead of a key changes the unit."""
    return tuple(key if isinstance(key, Column) else _column(kind, key) for key in keys)


def _column(kind: str, key: str, unit: str | None = None, scale: float = 1) -> Column:
    declared = SHIPPED.measures[kind][key]
    unit = declared["unit"] if unit is None else unit
    return Column(key, declared["heading"], unit, scale, meaning=declared["meaning"])


FLOW = _columns(
    "flow",
    "goodput_mbps",
    "rtt_ms",
    "rtt_p95_ms",
    "retransmitted_packets",
    "timeouts",
    "fast_recoveries",
    "completion_s",
)
# The extra columns of a multipath connection.
CONNECTION = _columns(
    "connection",
    "reassembly_delay_ms",
    _column("connection", "reassembly_max_bytes", "kB", 1e-3),
    _column("connection", "receive_limited", "%", 100),
    "reinjected_packets",
)
# The extra columns for which a report has room.
FLOW_MORE = _columns("flow", "rtt_min_ms", "cwnd_mean_segments", "convergence_s")
GROUP = _columns(
    "group",
    "arrived",
    "completed",
    "completion_ms",
    "completion_p50_ms",
    "completion_p95_ms",
    "completion_p99_ms",
    "goodput_mbps",
    "retransmitted_packets",
    "timeouts",
)
LINK = _columns(
    "link",
    _column("link", "utilisation", "%", 100),
    "dropped_packets",
    "lost_packets",
    "queue_delay_ms",
    "queue_delay_p95_ms",
)
CHANGE = _columns("change", "recovery_s")
# The totals: all flows and groups together, and the queue of one link.
TOTAL = (
    _column("flow", "goodput_mbps"),
    _column("link", "queue_delay_ms"),
    _column("link", "queue_delay_p95_ms"),
    _column("flow", "retransmitted_packets"),
    Column(
        "completion_p95_ms", "done p95", "ms", meaning="95th percentile of the completion times of groups"
    ),
    Column("jain", "Jain", meaning="Jain's index of the flows' goodputs: 1 if all are equal"),
)
LOST = "that the flow loses to the compared ones, beside a run without them"
ADDED = "that the compared flows add, beside a run without them"
HARM = (
    Column("goodput_mbps", "goodput lost", "%", 100, meaning=f"share of its goodput {LOST}"),
    Column("rtt_ms", "RTT added", "%", 100, meaning=f"share of its mean RTT {ADDED}"),
    Column(
        "rtt_p95_ms", "RTT p95 added", "%", 100, meaning=f"share of its 95th percentile of the RTT {ADDED}"
    ),
)

# Headings that do not speak for themselves: a report explains them below the table, too.
EXPLAINED = ("convergence_s", "recovery_s")

_UNITS = {
    "mbps": "Mbit/s",
    "ms": "ms",
    "s": "s",
    "segments": "segments",
    "packets": "packets",
    "bytes": "bytes",
}
_ALL = {
    column.key: column for column in (*HARM, *CHANGE, *GROUP, *FLOW_MORE, *CONNECTION, *FLOW, *LINK, *TOTAL)
}


def titled(key: str) -> Column:
    """Return the column of this measure.

    A measure that no table shows has the heading of its declaration. For a recorded series or a user's
    metric, the title and the unit come from its name.
    """
    if key in _ALL:
        return _ALL[key]
    kind = next((kind for kind, measures in SHIPPED.measures.items() if key in measures), None)
    if kind is not None:
        return _column(kind, key)
    words, _, unit = key.rpartition("_")
    if unit not in _UNITS:
        return Column(key, key.replace("_", " "))
    return Column(key, words.replace("_", " "), _UNITS[unit])
