"""Names, values and lists in the sentences of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.tables.columns import titled
from cwndlab.scenarios.axis import WITH
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab.output.answers.choice import Candidate
    from cwndlab.statistics.measure import Measure

# More names than this make no sentence.
MOST_NAMED = 3
# The totals whose headings in the tables are no nouns.
NOUNS = {
    "utilisation": "utilisation",
    "retransmitted_packets": "retransmission count",
    "timeouts": "number of timeouts",
    "completion_p95_ms": "completion p95",
    "jain": "Jain index",
}
# One can have more or less of these. The values of the others are higher or lower.
QUANTITIES = ("goodput_mbps",)


def noun(key: str) -> str:
    """Return what a total is called in a sentence."""
    return NOUNS.get(key) or titled(key).title


def subject(key: str) -> str:
    """Return what a total is called without an article before it."""
    return "Jain's index" if key == "jain" else noun(key)


def comparative(key: str, more_is_better: bool) -> str:
    """Return `more goodput` or `a lower RTT`."""
    if key in QUANTITIES:
        return f"{'more' if more_is_better else 'less'} {noun(key)}"
    return f"a {'higher' if more_is_better else 'lower'} {noun(key)}"


def superlative(key: str, more_is_better: bool) -> str:
    """Return `the most goodput` or `the lowest RTT`."""
    if key in QUANTITIES:
        return f"the {'most' if more_is_better else 'least'} {noun(key)}"
    return f"the {'highest' if more_is_better else 'lowest'} {noun(key)}"


def in_words(settings: Mapping[str, str]) -> str:
    """Return the settings of a point in a few words: `cubic, queue 100 kB`."""
    words = []
    for key, value in settings.items():
        name = " and ".join(dict.fromkeys(each.rpartition(".")[2] for each in key.split(WITH)))
        words.append(value if name == "cc" else f"{name} {value}")
    return ", ".join(words)


def value_in_words(known: Measure, key: str) -> str:
    """Return a value of a total with its interval and its unit."""
    column = titled(key)
    return f"{with_interval(known.scaled(column.scale))} {column.unit}".rstrip()


def value_of(of: Candidate, key: str) -> str:
    """Return the value of a variant with its interval and its unit."""
    return value_in_words(of.totals[key], key)


def number_of(of: Candidate, key: str) -> str:
    """Return the value of a variant with its interval, where the unit follows later."""
    return with_interval(of.totals[key].scaled(titled(key).scale))


def with_article(key: str) -> str:
    """Return `a queue delay` or `an RTT`."""
    return f"{'an' if key == 'rtt_ms' else 'a'} {noun(key)}"


def named_value(of: Candidate, key: str) -> str:
    """Return `a queue delay of 3.5 ms`."""
    return f"{with_article(key)} of {value_of(of, key)}"


def listed(names: Sequence[str], kind: str = "others") -> str:
    """Return `a, b and c`, or the number of names with their `kind` if there are too many."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} {kind}"
    *others, last = names
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(others)} and {last}" if others else last


def either(names: Sequence[str]) -> str:
    """Return `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


def labels(candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of variants."""
    return [each.label for each in candidates]


def both(best: Candidate, others: Sequence[Candidate]) -> str:
    """Return the best one and others in words."""
    names = labels([best, *others])
    return listed(names) if len(names) <= MOST_NAMED else f"{best.label} and {listed(names[1:])}"
