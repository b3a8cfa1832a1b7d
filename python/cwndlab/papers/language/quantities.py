"""The quantities that expressions may use. Each is computed from one run of a cell.

`start` and `end` select a time window in seconds. Without them, a quantity covers the whole run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.papers.language.expression import NoValueError
from cwndlab.papers.language.quantity import Kind, Quantity
from cwndlab.results.summary import components

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.results.recording import Column, SeriesTable
    from cwndlab.results.seed_run import SeedRun

# The only column over time that belongs to all flows together.
JAIN = "jain"

# The length of the mean before an event; the duration and the tolerance of a settled window (see `settle`).
BEFORE_S = 1.0
SETTLED_S = 5.0
SETTLED_SHARE = 0.1


def goodput(run: SeedRun, flow: str | None = None, start: float = 0, end: float | None = None) -> float:
    """Goodput of a flow, a subflow (`multipath/1`) or a group, by default of all, in Mbit/s."""
    if start == 0 and end is None:
        return _sum(run, flow, "goodput_mbps")
    tables = [table for table in run.detail.tables if _counts(table, flow)]
    window = _window(run, start, end)
    return float(sum(np.nan_to_num(table.columns["goodput_mbps"][window]).mean() for table in tables))


def throughput(run: SeedRun, flow: str) -> float:
    """Rate of a flow on its first link, with headers and retransmissions, in Mbit/s."""
    return _measure(_flow(run, flow), "throughput_mbps")


def jain(run: SeedRun, start: float = 0, end: float | None = None) -> float:
    """Jain's index of the flows' goodputs in the window."""
    rates = [goodput(run, flow["name"], start, end) for flow in run.outcome["flows"]]
    squares = sum(rate * rate for rate in rates)
    if len(rates) < 2 or squares == 0:
        raise NoValueError("Jain's index needs two flows, and some goodput")
    # Rounding can take it above 1 where all get the same.
    return min(1.0, sum(rates) ** 2 / (len(rates) * squares))


def utilisation(run: SeedRun, link: str) -> float:
    """Use of a link, 0 to 1: the bits that it sent, divided by the bits that it could have sent."""
    return _measure(_link(run, link), "utilisation")


def lost(run: SeedRun) -> float:
    """Packets dropped by queues or lost on links, all links together."""
    return float(sum(link["dropped_packets"] + link["lost_packets"] for link in run.outcome["links"]))


def lost_on(run: SeedRun, link: str) -> float:
    """Packets lost on a link at random or while it was down, without drops of its queue."""
    return _measure(_link(run, link), "lost_packets")


def retransmitted(run: SeedRun, flow: str) -> float:
    """Packets that a flow retransmitted."""
    return _measure(_flow(run, flow), "retransmitted_packets")


def timeouts(run: SeedRun, flow: str | None = None) -> float:
    """Retransmission timeouts of a flow or group, by default of all."""
    return _sum(run, flow, "timeouts")


def fast_recoveries(run: SeedRun, flow: str | None = None) -> float:
    """Entries of a flow or group into fast recovery, by default of all."""
    return _sum(run, flow, "fast_recoveries")


def loss_events(run: SeedRun, flow: str, start: float = 0, end: float | None = None) -> float:
    """Fast recoveries and timeouts of a flow that began in the window."""
    return float(np.nansum(_series(run, flow).columns["loss_events"][_window(run, start, end)]))


def rtt_samples(run: SeedRun, flow: str | None = None) -> float:
    """RTT samples of a flow or group, by default of all."""
    return _sum(run, flow, "rtt_samples")


def rtt_peaks(run: SeedRun, flow: str | None = None) -> float:
    """RTT samples that are peaks, with a peak ratio of 2 or more."""
    return _sum(run, flow, "rtt_peaks")


def timeouts_at_peak(run: SeedRun, flow: str | None = None) -> float:
    """Timeouts after an RTT sample that was a peak."""
    return _sum(run, flow, "timeouts_at_peak")


def fast_recoveries_at_peak(run: SeedRun, flow: str | None = None) -> float:
    """Entries into fast recovery after an RTT sample that was a peak."""
    return _sum(run, flow, "fast_recoveries_at_peak")


def regained(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a loss without a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_segments")


def regained_after_peak(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a loss with a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_after_peak_segments")


def regained_after_timeout(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a timeout without a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_after_timeout_segments")


def regained_after_timeout_at_peak(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a timeout with a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_after_timeout_at_peak_segments")


def regained_after_fast_recovery(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a fast recovery without a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_after_fast_recovery_segments")


def regained_after_fast_recovery_at_peak(run: SeedRun, flow: str) -> float:
    """Mean growth of the window in segments from a fast recovery with a peak to the next loss."""
    return _measure(_sender(run, flow), "regained_after_fast_recovery_at_peak_segments")


def rtt(run: SeedRun, flow: str) -> float:
    """Mean RTT of a flow in ms."""
    return _measure(_flow(run, flow), "rtt_ms")


def rtt_p95(run: SeedRun, flow: str) -> float:
    """95th percentile of a flow's RTT in ms."""
    return _measure(_flow(run, flow), "rtt_p95_ms")


def rtt_min(run: SeedRun, flow: str) -> float:
    """Smallest RTT of a flow in ms."""
    return _measure(_flow(run, flow), "rtt_min_ms")


def peak_ratio_share(run: SeedRun, flow: str, low: float, width: float = 0.5) -> float:
    """Share of the peak ratios from `low` to `low + width`, 0 to 1."""
    known = {each.name: each for each in run.detail.distributions if each.measure == "rtt_peak_ratio"}
    if flow not in known:
        raise NoValueError(f"{flow} has no peak ratios")
    each = known[flow]
    within = (each.middle >= low) & (each.middle < low + width)
    return float(each.count[within].sum() / each.count.sum())


def queue_delay(run: SeedRun, link: str) -> float:
    """Mean queueing delay of a link in ms."""
    return _measure(_link(run, link), "queue_delay_ms")


def cwnd(run: SeedRun, flow: str, start: float = 0, end: float | None = None) -> float:
    """Mean window of a flow in segments."""
    return float(_windows(run, flow, start, end).mean())


def cwnd_max(run: SeedRun, flow: str, start: float = 0, end: float | None = None) -> float:
    """Largest mean window of an interval in segments."""
    return float(_windows(run, flow, start, end).max())


def cwnd_p95(run: SeedRun, flow: str, start: float = 0, end: float | None = None) -> float:
    """95th percentile of the windows of the intervals in segments."""
    return float(np.percentile(_windows(run, flow, start, end), 95))


def probe(run: SeedRun, flow: str, name: str, start: float = 0, end: float | None = None) -> float:
    """Mean of a probe of the flow's algorithm, sampled at the end of each interval."""
    return float(_probed(run, flow, name, start, end).mean())


def probe_max(run: SeedRun, flow: str, name: str, start: float = 0, end: float | None = None) -> float:
    """Maximum of such a probe."""
    return float(_probed(run, flow, name, start, end).max())


def probe_min(run: SeedRun, flow: str, name: str, start: float = 0, end: float | None = None) -> float:
    """Minimum of such a probe."""
    return float(_probed(run, flow, name, start, end).min())


def recovery(run: SeedRun, flow: str, at: float, share: float = 0.95) -> float:
    """Seconds from `at` until the window is again at least `share` of its mean in the second before.

    The value is 0 if the window never falls below that. If it does not recover, the value is the time until
    the end of the run (censored).
    """
    ends = run.detail.end_s
    windows = _series(run, flow).columns["cwnd_segments"]
    before = (ends > at - BEFORE_S + _HALF * _interval(run)) & (ends <= at + _HALF * _interval(run))
    if not before.any():
        raise NoValueError(f"the run ends before {at} s")
    level = share * float(np.nanmean(windows[before]))
    after = np.flatnonzero(ends > at + _HALF * _interval(run))
    below = after[windows[after] < level]
    if not len(below):
        return 0.0
    back = after[(after > below[0]) & (windows[after] >= level)]
    return float((ends[back[0]] if len(back) else ends[-1]) - at)


def settle(run: SeedRun, flow: str) -> float:
    """First time in s from which the window stays within 10 % of its later median, without loss, for 5 s.

    If it never does, the value is the end of the run (censored).
    """
    ends = run.detail.end_s
    table = _series(run, flow)
    windows, losses = table.columns["cwnd_segments"], table.columns["loss_events"]
    length = max(1, round(SETTLED_S / _interval(run)))
    for first in range(len(ends) - length + 1):
        stay = slice(first, first + length)
        median = float(np.nanmedian(windows[first:]))
        if not losses[stay].any() and np.all(np.abs(windows[stay] - median) <= SETTLED_SHARE * median):
            return float(ends[first])
    return float(ends[-1])


# The middle of an interval. Comparing with it avoids rounding errors at the ends.
_HALF = 0.5

# The functions of expressions, with their units and meanings. The table in papers/README.md is generated from
# this list.
_DECLARED = (
    Quantity(
        goodput, "Mbit/s", "data that arrived in order, of a flow or group; by default of all", Kind.SENDER
    ),
    Quantity(throughput, "Mbit/s", "IP packets sent, with headers and retransmissions"),
    Quantity(jain, "Jain's index", "Jain's index of the flows' goodputs", most=1),
    Quantity(utilisation, "ratio", "use of a link, 0 to 1, in bits on the wire", most=1),
    Quantity(lost, "packets", "packets dropped or lost, all links"),
    Quantity(
        lost_on, "packets", "packets lost on a link at random or while it was down, without queue drops"
    ),
    Quantity(retransmitted, "packets", "retransmitted packets"),
    Quantity(
        timeouts, "timeouts", "retransmission timeouts; by default of all flows and groups", Kind.SENDER
    ),
    Quantity(
        fast_recoveries,
        "losses",
        "entries into fast recovery; by default of all flows and groups",
        Kind.SENDER,
    ),
    Quantity(loss_events, "losses", "fast recoveries and timeouts that began in the window"),
    Quantity(rtt_samples, "samples", "RTT samples; by default of all flows and groups", Kind.SENDER),
    Quantity(
        rtt_peaks, "samples", "RTT samples with a peak ratio of 2 or more", Kind.SENDER, part_of="rtt_samples"
    ),
    Quantity(
        timeouts_at_peak,
        "timeouts",
        "timeouts after an RTT sample that was a peak",
        Kind.SENDER,
        part_of="timeouts",
    ),
    Quantity(
        fast_recoveries_at_peak,
        "losses",
        "fast recoveries after an RTT sample that was a peak",
        Kind.SENDER,
        part_of="fast_recoveries",
    ),
    Quantity(
        regained,
        "segments",
        "growth of the window from a loss without a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        regained_after_peak,
        "segments",
        "growth of the window from a loss with a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        regained_after_timeout,
        "segments",
        "growth of the window from a timeout without a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        regained_after_timeout_at_peak,
        "segments",
        "growth of the window from a timeout with a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        regained_after_fast_recovery,
        "segments",
        "growth of the window from a fast recovery without a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        regained_after_fast_recovery_at_peak,
        "segments",
        "growth of the window from a fast recovery with a peak to the next loss",
        Kind.SENDER,
        least=-math.inf,
    ),
    Quantity(
        peak_ratio_share,
        "ratio",
        "share of the peak ratios from `low` to `low + width`, 0 to 1",
        Kind.SENDER,
        most=1,
    ),
    Quantity(rtt, "ms", "mean RTT"),
    Quantity(rtt_p95, "ms", "95th percentile of the RTT"),
    Quantity(rtt_min, "ms", "smallest RTT"),
    Quantity(queue_delay, "ms", "mean queueing delay of a link"),
    Quantity(cwnd, "segments", "mean window"),
    Quantity(cwnd_max, "segments", "largest mean window of an interval"),
    Quantity(cwnd_p95, "segments", "95th percentile of the intervals' windows"),
    Quantity(
        probe,
        "",
        'mean of a probe of the algorithm, as in `probe("bbr2", "a", "min_rtt_ms")`',
        least=-math.inf,
    ),
    Quantity(probe_max, "", "maximum of such a probe", least=-math.inf),
    Quantity(probe_min, "", "minimum of such a probe", least=-math.inf),
    Quantity(
        recovery, "s", "time from `at` until the window is again this share of its mean in the second before"
    ),
    Quantity(
        settle, "s", "time until the window stays within 10 % of its later median for 5 s without a loss"
    ),
)
QUANTITIES: Mapping[str, Quantity] = {each.name: each for each in _DECLARED}


def column_over_time(run: SeedRun, column: str, flow: str) -> tuple[Column, Column]:
    """Return the ends of the intervals in s, and a column of a flow. `jain` belongs to all flows."""
    ends = run.detail.end_s
    if column != JAIN:
        return ends, _column(_series(run, flow).columns, column, flow)
    index = np.full(len(ends), np.nan)
    # Each window of the index ends at the end of an interval.
    index[np.searchsorted(ends, run.detail.jain_end_s - _HALF * _interval(run))] = run.detail.jain
    return ends, index


def _column(columns: Mapping[str, Column], name: str, flow: str) -> Column:
    if name not in columns:
        raise NoValueError(f"flow {flow!r}: expected one of {', '.join(columns)}, found {name!r}")
    return columns[name]


def _flow(run: SeedRun, name: str) -> Mapping[str, Any]:
    return _component([*run.outcome["flows"], *components(run.outcome, "subflow")], name)


def _counts(table: SeriesTable, flow: str | None) -> bool:
    """Whether a table counts for this flow, or for all flows, whose subflows are not counted twice."""
    return table.kind != "subflow" if flow is None else table.name == flow


def _senders(run: SeedRun) -> list[dict[str, Any]]:
    """Return the flows and groups."""
    return [*run.outcome["flows"], *(run.outcome.get("groups") or [])]


def _sender(run: SeedRun, name: str) -> Mapping[str, Any]:
    return _component([*_senders(run), *components(run.outcome, "subflow")], name)


def _sum(run: SeedRun, name: str | None, key: str) -> float:
    """Return a measure of one flow or group, or the sum over all."""
    senders = _senders(run) if name is None else [_sender(run, name)]
    if not all(key in sender for sender in senders):
        raise NoValueError(f"{key} was not measured in this run")
    return float(sum(sender[key] or 0 for sender in senders))


def _link(run: SeedRun, name: str) -> Mapping[str, Any]:
    return _component(run.outcome["links"], name)


def _component(components: list[dict[str, Any]], name: str) -> Mapping[str, Any]:
    found = next((each for each in components if each["name"] == name), None)
    if found is None:
        raise NoValueError(
            f"expected one of {', '.join(each['name'] for each in components)}, found {name!r}"
        )
    return found


def _measure(component: Mapping[str, Any], key: str) -> float:
    value = component.get(key)
    if value is None:
        words = key.replace("_", " ")
        raise NoValueError(f"{component['name']}: no {words} in a run, as nothing of the kind happened in it")
    return float(value)


def _series(run: SeedRun, flow: str) -> SeriesTable:
    tables = [*run.detail.of("flow"), *run.detail.of("subflow")]
    found = next((table for table in tables if table.name == flow), None)
    if found is None:
        raise NoValueError(f"no such flow: {flow!r}")
    return found


def _interval(run: SeedRun) -> float:
    return float(run.detail.end_s[0])


def _window(run: SeedRun, start: float, end: float | None) -> slice:
    """Return the intervals from `start` to `end`."""
    ends = run.detail.end_s
    slack = _HALF * _interval(run)
    last = ends[-1] if end is None else end
    if last > ends[-1] + slack:
        raise NoValueError(f"the run ends at {ends[-1]:g} s, before {last:g} s")
    first, stop = np.searchsorted(ends, [start + slack, last + slack])
    if first == stop:
        raise NoValueError(f"no interval between {start:g} s and {last:g} s")
    return slice(int(first), int(stop))


def _windows(run: SeedRun, flow: str, start: float, end: float | None) -> Column:
    return _known(_series(run, flow).columns["cwnd_segments"], flow, _window(run, start, end))


def _probed(run: SeedRun, flow: str, name: str, start: float, end: float | None) -> Column:
    return _known(_column(_series(run, flow).columns, name, flow), flow, _window(run, start, end))


def _known(values: Column, flow: str, window: slice) -> Column:
    """Return the values of the window without missing ones."""
    shown: Column = values[window]
    known: Column = shown[~np.isnan(shown)]
    if not len(known):
        raise NoValueError(f"flow {flow!r} did not run in this window")
    return known
