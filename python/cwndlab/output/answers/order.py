"""The order of variants that the intervals show, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.choice import COST, NEAR
from cwndlab.output.answers.words import (
    MOST_NAMED,
    both,
    comparative,
    labels,
    listed,
    noun,
    number_of,
    subject,
    superlative,
    value_of,
    with_article,
)
from cwndlab.output.tables.columns import titled
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.output.answers.choice import Candidate, Choice

WITHIN = f"within {100 * NEAR:.0f} %"


def headline(choice: Choice, best: Candidate, among: str, values: str) -> Iterator[str]:
    """Name the best one, with the order that the intervals show.

    `among` says among which ones it is the best, and `values` what it has.
    """
    total = noun(choice.goal.best)
    highest = "highest" if choice.goal.more_is_better else "lowest"
    if len(choice.candidates) == 1:
        # After Ctrl-C, others may be missing.
        yield f"{best.label} has {with_article(choice.goal.best)} of {values}."
    elif choice.is_untested:
        yield f"One seed shows no order; in it, {best.label} has the {highest} {total}{among}: {values}."
    elif choice.behind or len(choice.eligible) == 1:
        yield from _ahead(choice, best, among, values)
        yield from _near(choice, best, among)
        if choice.as_good:
            yield f"No difference is shown between {both(best, choice.as_good)}: {_why(choice)}."
    else:
        yield from _near(choice, best, among)
        if choice.as_good:
            names = both(best, choice.as_good)
            what = "" if choice.near else f" in {subject(choice.goal.best)}"
            where = "" if choice.near else among
            yield f"No difference{what} is shown between {names}{where}: {_why(choice)}."
        # Those within 1 % were told with their values, but not with those that are limited.
        if choice.goal.limits or not choice.near:
            yield f"{best.label} has the {highest} mean: {values}."


def _ahead(choice: Choice, best: Candidate, among: str, values: str) -> Iterator[str]:
    key, more_is_better = choice.goal.best, choice.goal.more_is_better
    if choice.near or choice.as_good:
        than = listed(labels(choice.behind))
        yield f"{best.label} has {comparative(key, more_is_better)} than {than}{among}: {values}."
    else:
        yield f"{best.label} has {superlative(key, more_is_better)}{among}: {values}."
    if choice.behind:
        yield _next(choice, best)


def _next(choice: Choice, best: Candidate) -> str:
    """Say what the best of those behind has, and how much that is from the best."""
    key, following = choice.goal.best, choice.behind[0]
    share = best.share_less(following, key)
    is_only = len(choice.behind) == 1
    which = f"{following.label} has" if is_only else f"Closest behind is {following.label}:"
    has = f"{which} {value_of(following, key)}"
    if share.mean is None:
        return f"{has}."
    sign, less = (1, "less") if choice.goal.more_is_better else (-1, "more")
    # Beside a value in per cent, it could be taken for points.
    terms = " in relative terms" if titled(key).unit == "%" else ""
    return f"{has}, {with_interval(share.scaled(100 * sign))} % {less}{terms}{best.of_share}."


def _near(choice: Choice, best: Candidate, among: str) -> Iterator[str]:
    """Name those that are as good as the best one but for a little, and what separates them."""
    if not choice.near:
        return
    key = choice.goal.best
    group = [best, *choice.near]
    if choice.behind:
        names = f"{listed(labels(choice.near))} {'is' if len(choice.near) == 1 else 'are'}"
        yield f"{names} {WITHIN} of {best.label}: {_spread(choice.near, key)}."
    else:
        yield f"{both(best, choice.near)} are {WITHIN} in {subject(key)}{among}: {_spread(group, key)}."
    if choice.near_delays is not None:
        yield f"They differ in queue delay: {_delays(group, choice.near_delays)}."


def _spread(group: Sequence[Candidate], key: str) -> str:
    """Return the value of each, or the least and the largest of many."""
    ordered = sorted(group, key=lambda each: each.mean(key) or 0.0)
    least, most = (value_of(each, key) for each in (ordered[0], ordered[-1]))
    if len(group) == 1:
        return most
    if least == most:
        return f"{most} each"
    if not _has_room(group):
        return f"from {number_of(ordered[0], key)} to {most}"
    told = ", ".join(f"{each.label} {number_of(each, key)}" for each in group)
    return f"{told} {titled(key).unit}".rstrip()


def _delays(group: Sequence[Candidate], ends: tuple[Candidate, Candidate]) -> str:
    """Return the queueing delay of each, shortest first, or the shortest and the longest of many."""
    if not _has_room(group):
        return "from " + " to ".join(f"{value_of(each, COST)} ({each.label})" for each in ends)
    ordered = sorted(group, key=lambda each: each.mean(COST) or 0.0)
    return ", ".join(f"{value_of(each, COST)} with {each.label}" for each in ordered)


def _has_room(group: Sequence[Candidate]) -> bool:
    """Whether a sentence can give a value for each: they are few, and their names have no commas."""
    return len(group) <= MOST_NAMED and not any(", " in each.label for each in group)


def _why(choice: Choice) -> str:
    """Say why no difference is shown."""
    if choice.best is not None and all(
        choice.best.less(each, choice.goal.best).n < 2 for each in choice.as_good
    ):
        return "they share one seed only"
    which = "each difference" if len(choice.as_good) > 1 else "the difference"
    return f"the 95 % interval of {which}, paired by seed, contains zero"
