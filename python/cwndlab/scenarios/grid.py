"""Variants of a scenario: a grid over any of its keys."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cwndlab.scenarios.scenario import Override, Scenario

# A grid of more points is a typing error.
MAX_POINTS = 100_000

_OPENING = "[{("
_CLOSING = "]})"
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class Axis:
    """A key of the scenario, and its values."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One variant: the values of the axes, and the scenario with these values."""

    settings: dict[str, str]
    scenario: Scenario


def parse_axis(text: str) -> Axis:
    """Read `key=value,value,...`, where commas inside brackets, braces and quotes do not separate values.

    Raises `InputError` if the text has no key, an empty value or a repeated one.
    """
    key, sign, values = text.partition("=")
    key = key.strip()
    if not sign or not key:
        raise InputError(f'--over {text}: expected key=value,value, for example link.0.queue="1 bdp,4 bdp"')
    return Axis(key, split_values(values, f"--over {text}"))


def split_values(text: str, where: str) -> tuple[str, ...]:
    """Split at the commas outside brackets, braces and quotes.

    Raises `InputError`, with `where` before the message, if a value is empty or repeated.
    """
    return _checked(_split(text), where)


def axis(key: str, values: Iterable[str], where: str) -> Axis:
    """Return an axis of these values. Raises what `split_values` raises."""
    return Axis(key, _checked(values, where))


def _checked(texts: Iterable[str], where: str) -> tuple[str, ...]:
    values = tuple(text.strip() for text in texts)
    if not all(values):
        raise InputError(f"{where}: a value is empty")
    if len(set(values)) < len(values):
        raise InputError(f"{where}: a value is repeated")
    return values


def grid(scenario: Scenario, axes: Sequence[Axis]) -> list[Point]:
    """Return all combinations of the axes' values, the last axis changing fastest. Each is checked.

    Flows without a name are named by their position: random numbers derive from names, so all variants then
    draw the same ones. Raises `InputError` if a key is repeated or the grid is too large, and `ScenarioError`
    for the first combination that cannot run.
    """
    keys = [axis.key for axis in axes]
    if len(set(keys)) < len(keys):
        raise InputError("--over: a key is repeated")
    count = math.prod(len(axis.values) for axis in axes)
    if count > MAX_POINTS:
        raise InputError(f"--over: expected at most {MAX_POINTS} combinations, found {count}")
    named = scenario.overridden(*names_by_place(scenario))
    points = []
    for values in itertools.product(*(axis.values for axis in axes)):
        settings = dict(zip(keys, values, strict=True))
        variant = named
        for key, value in settings.items():
            variant = variant.overridden((key, value), option=f"--over {key}")
        variant.validate()
        points.append(Point(settings, variant))
    return points


def names_by_place(scenario: Scenario) -> Iterator[Override]:
    """Yield names for the flows that have none: `flow-1`, `flow-2`, ..., independent of their algorithm."""
    flows = tomllib.loads(scenario.text.decode())["flow"]
    overridden = {key for key, _ in scenario.overrides}
    for index, flow in enumerate(flows):
        key = f"flow.{index}.name"
        if "name" not in flow and key not in overridden:
            yield key, f"flow-{index + 1}"


def _split(text: str) -> Iterator[str]:
    depth, quote, part = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        depth += (not quote) * ((character in _OPENING) - (character in _CLOSING))
        if character == "," and not quote and depth == 0:
            yield part
            part = ""
        else:
            part += character
    yield part
