"""Variants of a scenario: a grid over any of its keys."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.scenarios.axis import Axis
    from cwndlab.scenarios.scenario import Override, Scenario

# A grid of more points is a typing error.
MAX_POINTS = 100_000


@dataclass(frozen=True, slots=True)
class Point:
    """One variant: the label of its value on each axis, and the scenario with these values."""

    settings: dict[str, str]
    scenario: Scenario


def grid(scenario: Scenario, over: Sequence[Axis], across: Sequence[Axis] = ()) -> list[Point]:
    """Return all combinations of the axes' values, each checked: the last axis of `over` changes fastest.

    `across` holds the conditions, which change slowest. Flows without a name are named by their position:
    random numbers derive from names, so all variants then draw the same ones. Raises `InputError` if there is
    no axis, a condition that does not vary, a repeated key or too large a grid, and `ScenarioError` for the
    first combination that cannot run.
    """
    _check(over, across)
    named = scenario.overridden(*names_by_place(scenario))
    options = [*(("--across", axis) for axis in across), *(("--over", axis) for axis in over)]
    points = []
    for labels in itertools.product(*(axis.labels for _, axis in options)):
        settings = {axis.key: label for (_, axis), label in zip(options, labels, strict=True)}
        variant = named
        for option, axis in options:
            for key, value in axis.overrides(settings[axis.key]):
                variant = variant.overridden((key, value), option=f"{option} {key}")
        variant.validate()
        points.append(Point(settings, variant))
    for axis in across:
        _check_effect(axis, points)
    return points


def _check(over: Sequence[Axis], across: Sequence[Axis]) -> None:
    if not over and not across:
        raise InputError("sweep: expected --over or --across, found neither")
    for option, axes in (("--over", over), ("--across", across)):
        keys = [key for axis in axes for key in axis.keys]
        if len(set(keys)) < len(keys):
            raise InputError(f"{option}: a key is repeated")
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
    count = math.prod(len(axis.values) for axis in (*over, *across))
    if count > MAX_POINTS:
        options = "--over" if not across else "--over and --across"
        raise InputError(f"{options}: expected at most {MAX_POINTS} combinations, found {count}")


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
