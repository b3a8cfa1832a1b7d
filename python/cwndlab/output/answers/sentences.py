"""The sentences that begin a report and the output of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.choice import COST, Choice, candidate
from cwndlab.output.answers.goal import goal
from cwndlab.output.tables.columns import titled
from cwndlab.scenarios.axis import WITH
from cwndlab.statistics.numbers import counted, plain, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cwndlab.output.answers.choice import Candidate
    from cwndlab.output.answers.goal import Goal
    from cwndlab.results.comparison import Comparison
    from cwndlab.results.result import Result
    from cwndlab.results.summary import Component
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.wanted import Wanted
    from cwndlab.statistics.measure import Measure

# A share above this is shown as 100.0 %.
AS_MUCH = 0.9995
# More names than this make no sentence.
MOST_NAMED = 3
DELAY_P95 = "queue_delay_p95_ms"


def of_sweep(sweep: Sweep, wanted: Wanted | None = None) -> list[str]:
    """Say which point of a sweep to take; what is wanted is that of the sweep unless it is given."""
    points = [candidate(in_words(settings), result, sweep.link) for settings, result in sweep.points]
    return list(_choice(Choice(_goal(wanted or sweep.wanted), points), "point"))


def of_comparison(comparison: Comparison, wanted: Wanted | None = None) -> list[str]:
    """Say which algorithm to take, and if only some flows run it, what it costs the others."""
    algorithms = [candidate(label, result, comparison.link) for label, result in comparison.labelled]
    found = _choice(Choice(_goal(wanted or comparison.wanted), algorithms), "algorithm")
    return [*_harm(comparison), *found]


def of_run(result: Result) -> list[str]:
    """Say what each flow got, and how long packets waited."""
    summary = result.summary
    return [
        line
        for line in (_flows(summary.flows), _groups(summary.groups), _busiest(summary.links))
        if line is not None
    ]


def _goal(wanted: Wanted) -> Goal:
    return goal(wanted.best, wanted.limits)


def in_words(settings: Mapping[str, str]) -> str:
    """Return the settings of a point in a few words: `cubic, queue 100 kB`."""
    words = []
    for key, value in settings.items():
        name = " and ".join(dict.fromkeys(each.rpartition(".")[2] for each in key.split(WITH)))
        words.append(value if name == "cc" else f"{name} {value}")
    return ", ".join(words)


def _choice(choice: Choice, kind: str) -> Iterator[str]:
    wanted, best = choice.goal, choice.best
    title = titled(wanted.best).title
    limits = " and ".join(map(str, wanted.limits))
    if best is None:
        yield f"No {kind} keeps {limits}." if limits else f"No {kind} has a {title}."
        return
    count = f"the {len(choice.eligible)} of {counted(len(choice.candidates), kind)} with {limits}"
    among = f" among {count}" if limits else ""
    word = "most" if wanted.more_is_better else "least"
    values = f"{values_in_words(best, wanted)}{_unsure(best, wanted)}"
    yield f"{best.label} has the {word} {title}{among}: {values}."
    if choice.as_good:
        yield as_good(choice)
    if choice.cheaper is not None:
        yield cheaper(choice.cheaper, best)


def values_in_words(best: Candidate, wanted: Goal) -> str:
    """Return the best value, then those that are limited, and the queueing delay."""
    keys = dict.fromkeys((*(limit.key for limit in wanted.limits), COST))
    others = [_named(best, key) for key in keys if key != wanted.best and best.mean(key) is not None]
    first = _value(best, wanted.best)
    return f"{first}, with {' and '.join(others)}" if others else first


def _value(of: Candidate, key: str) -> str:
    return value_in_words(of.totals[key], key)


def value_in_words(known: Measure, key: str) -> str:
    """Return a value of a total with its interval and its unit."""
    column = titled(key)
    return f"{with_interval(known.scaled(column.scale))} {column.unit}".rstrip()


def _named(of: Candidate, key: str) -> str:
    return f"a {titled(key).title} of {_value(of, key)}"


def cheaper(nearly: Candidate, best: Candidate) -> str:
    """Say which one gets nearly the best goodput with a shorter delay."""
    goodput = (nearly.mean("goodput_mbps") or 0.0) / (best.mean("goodput_mbps") or 1.0)
    delay = (nearly.mean(COST) or 0.0) / (best.mean(COST) or 1.0)
    gets = "the same goodput" if goodput > AS_MUCH else f"{100 * goodput:.1f} % of that goodput"
    return f"{nearly.label} gets {gets} with {_named(nearly, COST)}, {100 * delay:.0f} % of {best.label}'s."


def _unsure(best: Candidate, wanted: Goal) -> str:
    beyond = [str(limit) for limit in wanted.limits if not limit.is_sure(best.totals[limit.key])]
    return f" (its 95 % interval goes beyond {' and '.join(beyond)})" if beyond else ""


def listed(names: Sequence[str], kind: str) -> str:
    """Return `a, b and c`, or the number of names with their `kind` if there are too many."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} {kind}"
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def as_good(choice: Choice, paired: str = "") -> str:
    """Say which ones cannot be told from the best. `paired` says over what the differences are paired."""
    names = listed([each.label for each in choice.as_good], "others")
    if any(len(each.rows) < 2 for each in (choice.best, *choice.as_good) if each):
        return "One seed only: no difference is tested."
    return f"The difference from {names} is not shown: its 95 % interval{paired} contains zero."


def _harm(comparison: Comparison) -> Iterator[str]:
    if not comparison.mean_harm:
        return
    [table] = comparison.mean_harm
    found = [
        (label, means["goodput_mbps"].scaled(100))
        for label, means in zip(comparison.labels, table.means, strict=True)
        if means["goodput_mbps"].mean is not None
    ]
    if not found:
        return
    ordered = sorted(found, key=lambda each: each[1].mean or 0.0)
    others = len(comparison.harm)
    flows = "other flow" if others == 1 else f"{others} other flows, on average,"
    least, most = ordered[0], ordered[-1]
    told = f"{least[0]} takes the least from the {flows}: {with_interval(least[1])} % of the goodput"
    if most is not least:
        told += f"; {most[0]} takes the most: {with_interval(most[1])} %"
    yield f"{told}."


def _flows(flows: list[Component]) -> str | None:
    known = [flow for flow in flows if flow.measures["goodput_mbps"].mean is not None]
    if not known:
        return None
    if len(known) > MOST_NAMED:
        rates = [flow.measures["goodput_mbps"].mean or 0.0 for flow in known]
        return (
            f"{len(known)} flows get {plain(sum(rates))} Mbit/s together, "
            f"from {plain(min(rates))} to {plain(max(rates))} Mbit/s each."
        )
    parts = []
    for flow in known:
        rate = with_interval(flow.measures["goodput_mbps"])
        parts.append(
            f"{flow.name}{f' ({flow.cc})' if flow.cc and flow.cc != flow.name else ''} gets {rate} Mbit/s"
        )
    return f"{', '.join(parts)}."


def _groups(groups: list[Component]) -> str | None:
    known = [group for group in groups if group.measures["completion_p50_ms"].mean is not None]
    if not known or len(known) > MOST_NAMED:
        return None
    parts = [
        f"half of {group.name} is done within {with_interval(group.measures['completion_p50_ms'])} ms, "
        f"95 % within {with_interval(group.measures['completion_p95_ms'])} ms"
        for group in known
    ]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _busiest(links: list[Component]) -> str | None:
    delays = [link for link in links if link.measures["queue_delay_ms"].mean is not None]
    if not delays:
        return None
    link = max(delays, key=lambda each: each.measures["queue_delay_ms"].mean or 0.0)
    mean, p95 = (with_interval(link.measures[key]) for key in ("queue_delay_ms", DELAY_P95))
    return f"Packets wait {mean} ms in the queue of link {link.name}, and 95 % of them at most {p95} ms."
