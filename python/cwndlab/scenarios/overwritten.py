"""Overrides that set nothing, because later ones set the same again.

Only the checker knows what a key sets: `link.0.rate`, `link.*.rate` and `link.l.rate` may be one. So it is
asked about the scenario with a value that no key takes: if it finds no mistake, that value is not in force.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cwndlab.scenarios.overrides import may_cover, replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.scenarios.scenario import Scenario

NO_VALUE = "[[]]"


def require_own_set_once(given: Scenario) -> None:
    """Raise `InputError` if an override replaces an earlier one under another name (`link.0`, `link.l`)."""
    for place, (key, _) in enumerate(given.overrides):
        later = [again for again, _ in given.overrides[place + 1 :]]
        if any(may_cover(again, key) for again in later) and _is_overwritten(given, place):
            raise replaced(_option(given, key), _overwriting(given, place))


def require_set_once(given: Scenario, named: Scenario, variants: Sequence[Scenario]) -> None:
    """Raise `InputError` if the variants replace an override of `given`, or one of their own.

    All variants set the same keys, after those of `named`, which has names for the flows besides.
    """
    first, own = variants[0], len(given.overrides)
    for place in (*range(own), *range(len(named.overrides), len(first.overrides))):
        if all(_is_overwritten(variant, place) for variant in variants):
            key = first.overrides[place][0]
            option = f"--set {key}" if place < own else _option(first, key)
            raise replaced(option, _overwriting(first, place))


def _is_overwritten(scenario: Scenario, place: int) -> bool:
    return place + 1 < len(scenario.overrides) and not _has_errors(_without_value(scenario, place))


def _overwriting(scenario: Scenario, place: int) -> str:
    """Return the options that set the key at this place again."""
    changed = _without_value(scenario, place)
    pairs = list(enumerate(changed.overrides))
    needed = [
        key
        for later, (key, _) in pairs[place + 1 :]
        if _has_errors(replace(changed, overrides=tuple(pair for at, pair in pairs if at != later)))
    ]
    keys = needed or [key for _, (key, _) in pairs[place + 1 :]]
    return " and ".join(dict.fromkeys(_option(scenario, key) for key in keys))


def _without_value(scenario: Scenario, place: int) -> Scenario:
    overrides = list(scenario.overrides)
    overrides[place] = (overrides[place][0], NO_VALUE)
    return replace(scenario, overrides=tuple(overrides), in_force=None)


def _has_errors(scenario: Scenario) -> bool:
    return any(problem.is_error for problem in scenario.problems())


def _option(scenario: Scenario, key: str) -> str:
    return scenario.options.get(key, f"--set {key}")
