"""The sentences that begin a report and the output of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.choice import COST, Candidate, Choice, candidate
from cwndlab.output.answers.drawn import drawn_conditions, of_drawn
from cwndlab.output.answers.goal import Goal, goal
from cwndlab.output.answers.interrupted import of_interrupted
from cwndlab.output.answers.order import headline
from cwndlab.output.answers.words import (
    both,
    in_words,
    labels,
    listed,
    named_value,
    value_of,
    with_article,
)
from cwndlab.statistics.numbers import counted, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.comparison import Comparison
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.wanted import Wanted

# A share above this is shown as 100.0 %.
AS_MUCH = 0.9995
# The mean harm to the other flows.
HARM = "harm"


def of_sweep(sweep: Sweep, wanted: Wanted | None = None) -> list[str]:
    """Say which point of a sweep to take; what is wanted is that of the sweep unless it is given."""
    points = [
        candidate(in_words(settings), result, sweep.link, sweep.looks) for settings, result in sweep.points
    ]
    choice = Choice(_goal(wanted or sweep.wanted), points)
    return list(of_drawn(sweep, choice) if drawn_conditions(sweep) else _choice(choice, "point"))


def of_precision(sweep: Sweep) -> Iterator[str]:
    """Say how many points are not as precise as they were to become."""
    missed = sweep.reached.count(False)
    # After Ctrl-C, not all seeds were tried.
    if sweep.until is not None and missed and not sweep.interrupted:
        of = f"{missed} of {counted(len(sweep.points), 'point')}"
        yield f"{of} did not reach {sweep.until.text} with {counted(len(sweep.until.seeds), 'seed')}."


def of_comparison(comparison: Comparison, wanted: Wanted | None = None) -> list[str]:
    """Say which algorithm to take, and if only some flows run it, what it costs the others."""
    algorithms = [candidate(label, result, comparison.link) for label, result in comparison.labelled]
    found = _choice(Choice(_goal(wanted or comparison.wanted), algorithms), "algorithm")
    return [*of_interrupted(comparison), *_harm(comparison), *found]


def _goal(wanted: Wanted) -> Goal:
    return goal(wanted.best, wanted.limits)


def _choice(choice: Choice, kind: str) -> Iterator[str]:
    wanted, best = choice.goal, choice.best
    limits = " and ".join(map(str, wanted.limits))
    if best is None:
        yield f"No {kind} keeps {limits}." if limits else f"No {kind} has {with_article(wanted.best)}."
        return
    count = f"the {len(choice.eligible)} of {counted(len(choice.candidates), kind)} with {limits}"
    among = f" among {count}" if limits else ""
    yield from headline(choice, best, among, f"{values_in_words(best, wanted)}{_unsure(best, wanted)}")
    if choice.cheaper is not None:
        yield cheaper(choice.cheaper, best)


def values_in_words(best: Candidate, wanted: Goal) -> str:
    """Return the best value, then those that are limited, and the queueing delay."""
    keys = dict.fromkeys((*(limit.key for limit in wanted.limits), COST))
    others = [named_value(best, key) for key in keys if key != wanted.best and best.mean(key) is not None]
    first = value_of(best, wanted.best)
    return f"{first}, with {' and '.join(others)}" if others else first


def cheaper(nearly: Candidate, best: Candidate) -> str:
    """Say which one gets nearly the best goodput with a shorter delay."""
    goodput = (nearly.mean("goodput_mbps") or 0.0) / (best.mean("goodput_mbps") or 1.0)
    delay = (nearly.mean(COST) or 0.0) / (best.mean(COST) or 1.0)
    share = "the same goodput as" if goodput > AS_MUCH else f"{100 * goodput:.1f} % of the goodput of"
    short = f"{100 * delay:.0f} % of its queue delay: {value_of(nearly, COST)}"
    return f"{nearly.label} has {share} {best.label}, with {short}."


def _unsure(best: Candidate, wanted: Goal) -> str:
    beyond = [str(limit) for limit in wanted.limits if not limit.is_sure(best.totals[limit.key])]
    return f" (its 95 % interval goes beyond {' and '.join(beyond)})" if beyond else ""


def _harm(comparison: Comparison) -> Iterator[str]:
    """Say what each algorithm takes from the other flows, in the order that the intervals show."""
    if not comparison.mean_harm:
        return
    [table] = comparison.mean_harm
    harmed = [
        Candidate(label, {seed: {HARM: row["goodput_mbps"]} for seed, row in enumerate(rows)})
        for label, rows in zip(comparison.labels, table.rows, strict=True)
    ]
    choice = Choice(Goal(HARM), harmed, least=0.0)
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
