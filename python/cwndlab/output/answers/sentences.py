"""The sentences that begin a report and the output of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.choice import COST, Candidate, Choice, candidate
from cwndlab.output.answers.goal import Goal, goal
from cwndlab.output.answers.interrupted import of_interrupted
from cwndlab.output.tables.columns import titled
from cwndlab.scenarios.axis import WITH
from cwndlab.statistics.numbers import counted, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cwndlab.results.comparison import Comparison
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.wanted import Wanted
    from cwndlab.statistics.measure import Measure

# A share above this is shown as 100.0 %.
AS_MUCH = 0.9995
# More names than this make no sentence.
MOST_NAMED = 3
# The mean harm to the other flows.
HARM = "harm"


def of_sweep(sweep: Sweep, wanted: Wanted | None = None) -> list[str]:
    """Say which point of a sweep to take; what is wanted is that of the sweep unless it is given."""
    points = [
        candidate(in_words(settings), result, sweep.link, sweep.looks) for settings, result in sweep.points
    ]
    return list(_choice(Choice(_goal(wanted or sweep.wanted), points), "point"))


def of_precision(sweep: Sweep) -> Iterator[str]:
    """Say how many points are not as precise as they were to become."""
    missed = sweep.reached.count(False)
    if sweep.until is not None and missed:
        of = f"{missed} of {counted(len(sweep.points), 'point')}"
        yield f"{of} did not reach {sweep.until.text} with {counted(len(sweep.until.seeds), 'seed')}."


def of_comparison(comparison: Comparison, wanted: Wanted | None = None) -> list[str]:
    """Say which algorithm to take, and if only some flows run it, what it costs the others."""
    algorithms = [candidate(label, result, comparison.link) for label, result in comparison.labelled]
    found = _choice(Choice(_goal(wanted or comparison.wanted), algorithms), "algorithm")
    return [*of_interrupted(comparison), *_harm(comparison), *found]


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
    yield from headline(choice, best, among, f"{values_in_words(best, wanted)}{_unsure(best, wanted)}")
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


def listed(names: Sequence[str], kind: str = "others") -> str:
    """Return `a, b and c`, or the number of names with their `kind` if there are too many."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} {kind}"
    *others, last = names
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(others)} and {last}" if others else last


def headline(choice: Choice, best: Candidate, among: str, values: str) -> Iterator[str]:
    """Name the best one, with the order that the intervals show, and no other.

    `among` says among which ones it is the best, and `values` what it has.
    """
    title = titled(choice.goal.best).title
    more, most, highest = (
        ("more", "most", "highest") if choice.goal.more_is_better else ("less", "least", "lowest")
    )
    if len(choice.candidates) == 1:
        # After Ctrl-C, others may be missing.
        yield f"{best.label} has a {title} of {values}."
    elif choice.is_untested:
        told = f"The {highest} {title} in it{among} is that of {best.label}: {values}."
        yield f"One seed shows no order. {told}"
    elif not choice.as_good:
        yield f"{best.label} has the {most} {title}{among}: {values}."
    elif choice.behind:
        yield f"{best.label} has {more} {title} than {listed(labels(choice.behind))}{among}: {values}."
        yield f"No difference is shown between {both(best, choice.as_good)}: {_why(choice)}."
    else:
        names = both(best, choice.as_good)
        yield f"No difference in {title} is shown between {names}{among}: {_why(choice)}."
        yield f"{best.label} has {values}."


def _why(choice: Choice) -> str:
    """Say why no difference is shown."""
    which = "each difference" if len(choice.as_good) > 1 else "the difference"
    return f"the 95 % interval of {which}, paired by seed, contains zero"


def labels(candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of variants."""
    return [each.label for each in candidates]


def both(best: Candidate, others: Sequence[Candidate]) -> str:
    """Return the best one and others in words."""
    names = labels([best, *others])
    return listed(names) if len(names) <= MOST_NAMED else f"{best.label} and {listed(names[1:])}"


def _harm(comparison: Comparison) -> Iterator[str]:
    """Say what each algorithm takes from the other flows, in the order that the intervals show."""
    if not comparison.mean_harm:
        return
    [table] = comparison.mean_harm
    harmed = [
        Candidate(label, {seed: {HARM: row["goodput_mbps"]} for seed, row in enumerate(rows)})
        for label, rows in zip(comparison.labels, table.rows, strict=True)
    ]
    choice = Choice(Goal(HARM), harmed)
    if choice.best is not None:
        others = len(comparison.harm)
        yield f"{_harm_in_words(choice, choice.best, 'flow' if others == 1 else f'{others} flows')}."


def _harm_in_words(choice: Choice, least: Candidate, others: str) -> str:
    victim = f"from the other {others}{', on average' if ' ' in others else ''}"
    share = f"{_share(least)} % of the goodput"
    if len(choice.eligible) == 1:
        return f"{least.label} takes {share} {victim}"
    if choice.is_untested:
        return f"One seed shows no order of harm. {least.label} takes {share} {victim}"
    if not choice.behind:
        names = both(least, choice.as_good)
        return f"No difference is shown between what {names} take {victim}: {least.label} takes {share}"
    if choice.as_good:
        told = f"{least.label} takes less {victim} than {listed(labels(choice.behind))}: {share}"
        return f"{told}. No difference is shown between {both(least, choice.as_good)}"
    told = f"{least.label} takes the least {victim}: {share}"
    most = max(choice.eligible, key=lambda each: each.mean(HARM) or 0.0)
    rest = (each for each in choice.eligible if each is not most)
    shown = all(most.less(each, HARM).excludes_zero for each in rest)
    return f"{told}; {most.label} takes the most: {_share(most)} %" if shown else told


def _share(of: Candidate) -> str:
    return with_interval(of.totals[HARM].scaled(100))
