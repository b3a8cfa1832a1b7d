"""Variants of a scenario: a grid over any of its keys, or other points."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.design import gridded, require_different, require_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.scenarios.axis import Axis
    from cwndlab.scenarios.design import Plan
    from cwndlab.scenarios.scenario import Override, Scenario


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
    no axis, a condition that does not vary, a repeated key or too many points, and `ScenarioError` for the
    first point that cannot run.
    """
    _check(plan, across)
    named = scenario.overridden(*names_by_place(scenario))
    found = []
    for condition in itertools.product(*(axis.labels for axis in across)):
        under = named
        for axis, label in zip(across, condition, strict=True):
            under = _with(under, axis, label, f"--across {axis.key}")
        for row in plan.rows:
            variant = under
            for axis, label, place in zip(plan.axes, row.labels, row.places, strict=True):
                variant = _with(variant, axis, label, place)
            variant.validate()
            labels = zip((*across, *plan.axes), (*condition, *row.labels), strict=True)
            found.append(Point({axis.key: label for axis, label in labels}, variant))
    for axis in across:
        _check_effect(axis, found)
    return found


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
    for axis in across:
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


def _check_effect(axis: Axis, points: Sequence[Point]) -> None:
    """Raise `InputError` if the values of a condition change nothing: `flow.*.cc` also sets `flow.web.cc`."""
    first = {**points[0].settings, axis.key: ""}
    varied = [point.scenario for point in points if {**point.settings, axis.key: ""} == first]
    if len({each.canonical for each in varied}) == 1:
        raise InputError(
            f"--across {axis.key}: expected values that make a difference, found the same scenario with all "
            "of them; does another key of the sweep set the same?"
        )


def names_by_place(scenario: Scenario) -> Iterator[Override]:
    """Yield names for the flows that have none: `flow-1`, `flow-2`, ..., independent of their algorithm."""
    flows = tomllib.loads(scenario.text.decode())["flow"]
    overridden = {key for key, _ in scenario.overrides}
    for index, flow in enumerate(flows):
        key = f"flow.{index}.name"
        if "name" not in flow and key not in overridden:
            yield key, f"flow-{index + 1}"
