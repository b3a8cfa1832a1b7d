"""Variants of a scenario: a grid over any of its keys, or other points."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.design import gridded, require_different, require_few
from cwndlab.scenarios.overwritten import require_set_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.scenarios.axis import Axis
    from cwndlab.scenarios.design import Plan, Row
    from cwndlab.scenarios.overrides import Override
    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Point:
    """One variant: the label of its value on each axis, and the scenario with these values."""

    settings: dict[str, str]
    scenario: Scenario


def grid(scenario: Scenario, over: Sequence[Axis], across: Sequence[Axis] = ()) -> list[Point]:
    """Return all combinations of the axes' values, each checked: the last axis of `over` changes fastest.

    Raises what `points` raises.
    """
    return points(scenario, gridded(over), across)


def points(scenario: Scenario, plan: Plan, across: Sequence[Axis] = ()) -> list[Point]:
    """Return the points of the plan under each condition, each checked.

    `across` holds the conditions, which change slowest. Flows without a name are named by their position:
    random numbers derive from names, so all variants then draw the same ones. Raises `InputError` if there is
    no axis, a condition that does not vary, a key that is set twice, values that change nothing or too many
    points, and `ScenarioError` for the first point that cannot run.
    """
    _check(plan, across)
    named = scenario.overridden(*names_by_place(scenario))
    found = []
    for condition in itertools.product(*(axis.labels for axis in across)):
        under = named
        for axis, label in zip(across, condition, strict=True):
            under = _with(under, axis, label, f"--across {axis.key}")
        for row in plan.rows:
            variant = _at(under, plan.axes, row)
            variant.validate()
            labels = zip((*across, *plan.axes), (*condition, *row.labels), strict=True)
            found.append(Point({axis.key: label for axis, label in labels}, variant))
    for axis in across:
        _check_effect(axis, found)
    require_set_once(scenario, named, [point.scenario for point in found])
    for number, axis in enumerate(plan.axes):
        _check_choice(number, axis, plan, found)
    return found


def _at(scenario: Scenario, axes: Sequence[Axis], row: Row) -> Scenario:
    """Return the scenario with the values of a row."""
    for axis, label, place in zip(axes, row.labels, row.places, strict=True):
        scenario = _with(scenario, axis, label, place)
    return scenario


def _with(scenario: Scenario, axis: Axis, label: str, place: str) -> Scenario:
    """Return the scenario with the values under this label; messages name their place and their key."""
    for key, value in axis.overrides(label):
        where = place if len(axis.keys) == 1 else place.replace(axis.key, key)
        scenario = scenario.overridden((key, value), option=where)
    return scenario


def _check(plan: Plan, across: Sequence[Axis]) -> None:
    over = plan.axes
    if not over and not across:
        raise InputError("sweep: expected --over or --across, found neither")
    require_different(across, "--across")
    chosen = {key for axis in over for key in axis.keys}
    for axis, place in zip(over, plan.rows[0].places, strict=True):
        _check_key(axis, place)
    for axis in across:
        _check_key(axis, f"--across {axis.key}")
        for key in axis.keys:
            if key in chosen:
                raise InputError(
                    f"--across {key}: expected a key that --over does not vary, found it in both"
                )
        if len(axis.values) == 1:
            raise InputError(
                f"--across {axis.key}: expected two values or more, found one ({axis.values[0]}); "
                "--set sets a key to one value"
            )
    count = len(plan.rows) * math.prod(len(axis.values) for axis in across)
    require_few(count, "--over" if not across else "--over and --across")


def _check_key(axis: Axis, where: str) -> None:
    """Raise `InputError` for the scenario's name. Every table has a column of this name for other names."""
    if axis.key == "name":
        raise InputError(f"{where}: expected a key that changes the runs, found the name of the scenario")


def _check_effect(axis: Axis, points: Sequence[Point]) -> None:
    """Raise `InputError` if the values of a condition change nothing: `flow.*.cc` also sets `flow.web.cc`."""
    first = {**points[0].settings, axis.key: ""}
    varied = [point.scenario for point in points if {**point.settings, axis.key: ""} == first]
    if len({each.canonical for each in varied}) == 1:
        raise InputError(
            f"--across {axis.key}: expected values that make a difference, found the same scenario with all "
            "of them; does another key of the sweep set the same?"
        )


def _check_choice(number: int, axis: Axis, plan: Plan, points: Sequence[Point]) -> None:
    """Raise `InputError` if the values of an axis of the plan change nothing."""
    if len(axis.labels) > 1 and not any(
        _changes(number, row, plan, point.scenario)
        for row, point in zip(itertools.cycle(plan.rows), points, strict=False)
    ):
        raise InputError(
            f"{plan.rows[0].places[number]}: expected values that make a difference, found the same scenario "
            "with all of them"
        )


def _changes(number: int, row: Row, plan: Plan, point: Scenario) -> bool:
    """Whether the next value of an axis makes another scenario of the point at this row."""
    labels = plan.axes[number].labels
    following = labels[(labels.index(row.labels[number]) + 1) % len(labels)]
    # The plan's overrides come last, so they may be given again.
    other = _at(point, plan.axes, row.with_label(number, following))
    return any(problem.is_error for problem in other.problems()) or other.canonical != point.canonical


def names_by_place(scenario: Scenario) -> Iterator[Override]:
    """Yield names for the flows that have none: `flow-1`, `flow-2`, ..., independent of their algorithm."""
    flows = tomllib.loads(scenario.text.decode())["flow"]
    overridden = {key for key, _ in scenario.overrides}
    for index, flow in enumerate(flows):
        key = f"flow.{index}.name"
        if "name" not in flow and key not in overridden:
            yield key, f"flow-{index + 1}"
