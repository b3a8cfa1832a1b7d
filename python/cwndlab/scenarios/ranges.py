"""What the values of a key are drawn from: a range, or some choices."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cwndlab.errors import InputError
from cwndlab.scenarios.axis import Axis, axis, split

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cwndlab.scenarios.scenario import Scenario

# Between choices. A grid's commas are understood as well.
OR = "|"
LIN, LOG = "lin", "log"
# Finer than any sample, and short to read.
SIGNIFICANT_DIGITS = 6
# What a figure has room for.
SHOWN_DIGITS = 3

_RANGE = re.compile(r"(?P<scale>lin|log)\s*\((?P<inside>.*)\)")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ENDS = re.compile(rf"\s*(?P<low>{_NUMBER})\s*\.\.\s*(?P<high>{_NUMBER})\s*(?P<unit>[^\s\d].*?)?\s*")
_QUANTITY = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[^\s\d].*?)?\s*")


@dataclass(frozen=True, slots=True)
class Range:
    """All values between two ends, drawn evenly, or with `is_log` evenly in their logarithm."""

    key: str
    text: str
    low: float
    high: float
    unit: str
    is_log: bool
    is_whole: bool = False

    def drawn(self, shares: Sequence[float]) -> list[str]:
        """Return the value at each share of the range, 0 to 1."""
        return [self._written(self._at(share)) for share in shares]

    def axis(self, labels: Sequence[str]) -> Axis:
        """Return the axis of these values."""
        return Axis(self.key, tuple(dict.fromkeys(labels)), drawn=self.text)

    def whole(self) -> Range:
        """Return the whole numbers of the range, each as likely as the others."""
        return replace(self, is_whole=True)

    def _at(self, share: float) -> float:
        # Of whole numbers, the greatest gets a part of the range as well.
        high = self.high + 1 if self.is_whole else self.high
        if self.is_log:
            value = math.exp(math.log(self.low) + share * (math.log(high) - math.log(self.low)))
        else:
            value = self.low + share * (high - self.low)
        return min(math.floor(value), self.high) if self.is_whole else value

    def _written(self, value: float) -> str:
        if self.is_whole:
            return f"{value:.0f} {self.unit}".rstrip()
        # Scenario files have no exponents in numbers with a unit.
        number = np.format_float_positional(value, SIGNIFICANT_DIGITS, fractional=False, trim="-")
        return f"{number} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Choices:
    """Values of which each is as likely as the others."""

    text: str
    choices: Axis

    def drawn(self, shares: Sequence[float]) -> list[str]:
        """Return the label of the value at each share of the list, 0 to 1."""
        count = len(self.choices.labels)
        return [self.choices.labels[min(int(share * count), count - 1)] for share in shares]

    def axis(self, labels: Sequence[str]) -> Axis:
        """Return the axis of all choices, drawn or not."""
        del labels
        return replace(self.choices, drawn=self.text)


Source = Range | Choices


def is_range(text: str) -> bool:
    """Whether a value is written as a range."""
    return _RANGE.fullmatch(text.strip()) is not None


def source(key: str, text: str, where: str, folder: Path | None = None) -> Source:
    """Read `lin(A..B UNIT)`, `log(A..B UNIT)`, or choices as `a|b|c` or `a,b,c`.

    Raises `InputError` if it is none of them, if a range has no width, or if there is only one choice.
    """
    found = _RANGE.fullmatch(text.strip())
    if found is not None:
        return _range(key, text.strip(), found["scale"], found["inside"], where)
    parts = split(text, OR)
    return choices(key, parts if len(parts) > 1 else split(text), where, folder)


def choices(key: str, values: Sequence[str], where: str, folder: Path | None = None) -> Choices:
    """Return these values of a key as choices. Raises `InputError` if there is only one."""
    found = axis(key, values, where, folder)
    if len(found.values) < 2:
        raise InputError(
            f"{where}: expected lin(A..B UNIT), log(A..B UNIT) or choices such as cubic|reno, "
            f"found {values[0]!r}; --set sets a key to one value"
        )
    return Choices(OR.join(found.values), found)


def _range(key: str, text: str, scale: str, inside: str, where: str) -> Range:
    found = _ENDS.fullmatch(inside)
    if found is None:
        raise InputError(
            f"{where}: expected {scale}(A..B UNIT), as in {scale}(1..1000 Mbit/s), found {text!r}"
        )
    low, high = float(found["low"]), float(found["high"])
    if not low < high:
        raise InputError(f"{where}: expected {scale}(A..B UNIT) with A below B, found {text!r}")
    if scale == LOG and low <= 0:
        raise InputError(f"{where}: expected log(A..B UNIT) with A above 0, found {text!r}")
    if len(Axis(key, ("",)).keys) > 1:
        raise InputError(f"{where}: expected one key with a range, found {key}")
    return Range(key, text, low, high, found["unit"] or "", scale == LOG)


def fitted(scenario: Scenario, found: Source) -> Source:
    """Return the whole numbers of a range if the scenario takes no others for this key."""
    if isinstance(found, Choices) or not (found.low.is_integer() and found.high.is_integer()):
        return found
    half, whole = (_errors(scenario, found, value) for value in (found.low + 0.5, found.low))
    return found.whole() if half > whole else found


def with_few_digits(axis: Axis, label: str) -> str:
    """Return the label of a value with few digits if it was drawn from a range: for figures."""
    found = _QUANTITY.fullmatch(label) if is_range(axis.drawn) else None
    if found is None:
        return label
    number = np.format_float_positional(float(found["number"]), SHOWN_DIGITS, fractional=False, trim="-")
    return f"{number} {found['unit'] or ''}".rstrip()


def _errors(scenario: Scenario, of: Range, value: float) -> int:
    override = (of.key, f"{value:g} {of.unit}".rstrip())
    return sum(problem.is_error for problem in scenario.overridden(override).problems())


def numbers(axis: Axis) -> tuple[list[float], str] | None:
    """Return the values of an axis with their unit; None if they are not all numbers of one unit."""
    found = [_QUANTITY.fullmatch(value) for value in axis.values]
    units = {each["unit"] for each in found if each is not None}
    if None in found or len(units) != 1:
        return None
    return [float(each["number"]) for each in found if each is not None], units.pop() or ""
