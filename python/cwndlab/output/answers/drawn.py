"""The sentences of a sample over conditions of a link, of which nobody takes the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.words import number_of, subject, value_of
from cwndlab.scenarios.ranges import numbers
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.output.answers.choice import Choice
    from cwndlab.results.sweep import Sweep

# The part of a link that somebody chooses.
CHOSEN = "queue"


def drawn_conditions(sweep: Sweep) -> list[str]:
    """Return the keys of links, but for their queues, whose values were drawn from a range."""
    if sweep.design.size is None:
        return []
    ranges = [axis for axis in sweep.axes if axis.drawn and numbers(axis) is not None]
    return [axis.key for axis in ranges if any(map(_is_of_link, axis.keys))]


def _is_of_link(key: str) -> bool:
    kind, *parts = key.split(".")
    return kind == "link" and CHOSEN not in parts


def of_drawn(sweep: Sweep, choice: Choice) -> Iterator[str]:
    """Say between which values a total is, and why no point is named as the best."""
    limits = " and ".join(map(str, choice.goal.limits))
    count = counted(len(choice.candidates), "point")
    if limits:
        keep = "keeps" if len(choice.eligible) == 1 else "keep"
        yield f"{len(choice.eligible)} of {count} {keep} {limits}."
    key = choice.goal.best
    known = sorted(choice.eligible, key=lambda each: each.mean(key) or 0.0)
    if known:
        where = "these" if limits else f"the {count}"
        ends = f"{number_of(known[0], key)} and {value_of(known[-1], key)}"
        yield f"Over {where}, {subject(key)} is between {ends}."
    keys = drawn_conditions(sweep)
    are = "is a condition" if len(keys) == 1 else "are conditions"
    hint = "" if sweep.wanted.sensitivity else " A sweep across conditions judges the choices."
    yield f"No best point is named: {' and '.join(keys)} {are} of the link, not a choice.{hint}"
