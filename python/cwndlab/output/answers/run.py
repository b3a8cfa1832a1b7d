"""The sentences that begin the output of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.interrupted import of_interrupted
from cwndlab.output.answers.words import MOST_NAMED
from cwndlab.results.crowd import ended_in_warmup, extent, measured
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.crowd import Extent
    from cwndlab.results.result import Result
    from cwndlab.results.summary import Component, Summary
    from cwndlab.statistics.measure import Measure

DELAY_P95 = "queue_delay_p95_ms"


def of_run(result: Result) -> list[str]:
    """Say what each flow got or how soon it was done, and how long packets waited."""
    summary = result.summary
    lines = (_flows(summary), *_in_warmup(summary), _groups(summary.groups), _busiest(summary.links))
    return [*of_interrupted(result), *(line for line in lines if line is not None)]


def _flows(summary: Summary) -> str | None:
    if summary.flow_count > MOST_NAMED:
        return _many(summary)
    seeds = len(summary.outcomes)
    rates = [measured(summary.outcomes, flow.name) for flow in summary.flows]
    parts = [
        part
        for flow, rate in zip(summary.flows, rates, strict=True)
        if (part := _flow(flow, seeds, rate)) is not None
    ]
    return f"{', '.join(parts)}." if parts else None


def _flow(flow: Component, seeds: int, rate: Measure) -> str | None:
    """Say how soon a flow of a given size was done, and what a flow got."""
    done = flow.measures["completion_s"]
    told = []
    if done.mean is not None:
        told.append(f"is done in {with_interval(done)} s{_where(done.n, seeds)}")
    if rate.mean is not None:
        told.append(f"gets {with_interval(rate)} Mbit/s{_where(rate.n, seeds)}")
    cc = f" ({flow.cc})" if flow.cc and flow.cc != flow.name else ""
    return f"{flow.name}{cc} {' and '.join(told)}" if told else None


def _where(count: int, seeds: int) -> str:
    """Say in how many seeds something is so, unless it is in all."""
    return f" in {count} of {seeds} seeds" if count < seeds else ""


def _in_warmup(summary: Summary) -> Iterator[str]:
    """Warn of flows that were done before anything was measured."""
    seeds = len(summary.outcomes)
    early = ended_in_warmup(summary.outcomes)
    if len(early) > MOST_NAMED:
        yield f"{len(early)} flows ended in the warm-up, so their goodput was not measured."
        return
    for name, count in early.items():
        yield f"{name} ended in the warm-up{_where(count, seeds)}, so its goodput was not measured."


def _many(summary: Summary) -> str | None:
    """Say what the flows get together, and how differently they fare within a seed."""
    found = extent(summary.outcomes)
    if found.together.mean is None:
        return None
    least, most = with_interval(found.least), with_interval(found.most)
    without = _without(found)
    if found.done.mean:
        # Their rates are those of different times, so their sum is none.
        lowest = f"the one with the lowest goodput gets {least}, the one with the highest {most} Mbit/s"
        return f"{_done(summary.flow_count, found)} While they run, {lowest}{without}."
    together = f"{summary.flow_count} flows get {with_interval(found.together)} Mbit/s together"
    if len(summary.outcomes) == 1 or summary.deterministic:
        each = least if least == most else f"from {least} to {most}"
        return f"{together}, {each} Mbit/s each{without}."
    # The mean of a flow over seeds would hide that another one starves in each of them.
    within = f"Within a seed, the slowest gets {least} and the fastest {most} Mbit/s"
    return f"{together}. {within}{without}."


def _done(count: int, found: Extent) -> str:
    """Say how many flows of a given size are done, and how long the longest of them took."""
    number = "All" if found.done.mean == count else f"{with_interval(found.done)} of"
    are = "is" if number == "1 of" else "are"
    return f"{number} {count} flows {are} done; the longest took {with_interval(found.longest_s)} s."


def _without(found: Extent) -> str:
    """Say how many flows get nothing, if there are any."""
    if not found.without.mean:
        return ""
    count = with_interval(found.without)
    return f"; {count} of them {'gets' if count == '1' else 'get'} nothing"


def _groups(groups: list[Component]) -> str | None:
    known = [group for group in groups if group.measures["completion_p50_ms"].mean is not None]
    if not known or len(known) > MOST_NAMED:
        return None
    parts = [
        f"Half of the {group.name} transfers finish within "
        f"{with_interval(group.measures['completion_p50_ms'])} ms, 95 % of them within "
        f"{with_interval(group.measures['completion_p95_ms'])} ms."
        for group in known
    ]
    return " ".join(parts)


def _busiest(links: list[Component]) -> str | None:
    delays = [link for link in links if link.measures["queue_delay_ms"].mean is not None]
    if not delays:
        return None
    link = max(delays, key=lambda each: each.measures["queue_delay_ms"].mean or 0.0)
    mean, p95 = (with_interval(link.measures[key]) for key in ("queue_delay_ms", DELAY_P95))
    return f"Packets wait {mean} ms in the queue of link {link.name}, and 95 % of them at most {p95} ms."
