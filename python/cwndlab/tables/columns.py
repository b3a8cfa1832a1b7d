"""The measures that tables show: which, under which heading, in which unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A measure, and the two lines of its heading: what it is, and its unit.

    What is shown is `scale` times what was measured.
    """

    key: str
    title: str
    unit: str = ""
    scale: float = 1

    @property
    def heading(self) -> str:
        """The heading in one line."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


FLOW = (
    Column("goodput_mbps", "goodput", "Mbit/s"),
    Column("rtt_ms", "RTT", "ms"),
    Column("rtt_p95_ms", "RTT p95", "ms"),
    Column("retransmitted_packets", "retrans.", "packets"),
    Column("timeouts", "timeouts"),
    Column("fast_recoveries", "fast rec."),
    Column("completion_s", "done in", "s"),
)
# What a multipath connection has beside them.
CONNECTION = (
    Column("reassembly_delay_ms", "reassembly", "ms"),
    Column("reassembly_max_bytes", "waits at most", "kB", scale=1e-3),
    Column("receive_limited", "held back", "%", scale=100),
    Column("reinjected_packets", "reinjected", "packets"),
)
# What a page has room for beside them.
FLOW_MORE = (
    Column("rtt_min_ms", "RTT min", "ms"),
    Column("cwnd_mean_segments", "cwnd", "segments"),
    Column("convergence_s", "stable after", "s"),
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
    Column("utilisation", "used", "%", scale=100),
    Column("dropped_packets", "dropped", "packets"),
    Column("lost_packets", "lost", "packets"),
    Column("queue_delay_ms", "queue delay", "ms"),
    Column("queue_delay_p95_ms", "delay p95", "ms"),
)
CHANGE = (Column("recovery_s", "recovered after", "s"),)
# All flows and groups together, and the queue of one link.
TOTAL = (
    Column("goodput_mbps", "goodput", "Mbit/s"),
    Column("queue_delay_ms", "queue delay", "ms"),
    Column("queue_delay_p95_ms", "delay p95", "ms"),
    Column("retransmitted_packets", "retrans.", "packets"),
    Column("completion_p95_ms", "done p95", "ms"),
    Column("jain", "Jain"),
)
HARM = (
    Column("goodput_mbps", "goodput lost", "%", scale=100),
    Column("rtt_ms", "RTT added", "%", scale=100),
    Column("rtt_p95_ms", "RTT p95 added", "%", scale=100),
)


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
    """The column of this measure; one that no table has takes its words and its unit from its name."""
    if key in _ALL:
        return _ALL[key]
    words, _, unit = key.rpartition("_")
    if unit not in _UNITS:
        return Column(key, key.replace("_", " "))
    return Column(key, words.replace("_", " "), _UNITS[unit])
