"""Expressions over the cells of a paper, such as `goodput("cubic", "a") - goodput("reno", "a")`.

An expression is a tree of these classes, made by `parsing`. It names every cell in full, so that equal
expressions have equal trees.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.papers.language import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.papers.language.place import Place
    from cwndlab.papers.language.quantity import Literal, Quantity

# The run of each cell, by its key.
Runs = Mapping[str, Any]

OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
# Functions of numbers, with the least and the largest number of arguments.
COMBINE: dict[str, tuple[Callable[..., float], int, int | None]] = {
    "min": (min, 2, None),
    "max": (max, 2, None),
    "abs": (abs, 1, 1),
}


class NoValueError(Exception):
    """A quantity has no value in this run. The message gives the reason."""


@dataclass(frozen=True)
class Number:
    """A literal number. It may have a unit that is not written."""

    value: float

    parts = ()

    def evaluate(self, _runs: Runs) -> float:
        """Return the number."""
        return self.value

    def measures(self) -> units.Dimensions:
        """Return None: the number may have any unit."""
        return None


@dataclass(frozen=True)
class Reading:
    """A quantity of a cell's run."""

    quantity: Quantity
    cell: str
    arguments: tuple[tuple[str, Literal], ...]

    parts = ()

    def evaluate(self, runs: Runs) -> float:
        """Return the value in the cell's run."""
        return self.quantity.compute(runs[self.cell], **dict(self.arguments))

    def measures(self) -> units.Dimensions:
        """Return the dimensions of the quantity's unit."""
        return units.UNITS[self.quantity.unit].dimensions if self.quantity.unit else None


@dataclass(frozen=True)
class Negative:
    """The negation of a part."""

    part: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        """The negated part."""
        return (self.part,)

    def evaluate(self, runs: Runs) -> float:
        """Return the negated value."""
        return -self.part.evaluate(runs)

    def measures(self) -> units.Dimensions:
        """Return the dimensions of the part."""
        return self.part.measures()


@dataclass(frozen=True)
class Binary:
    """Two parts with an operator between them."""

    sign: str
    left: Node
    right: Node

    @property
    def parts(self) -> tuple[Node, ...]:
        """Both operands."""
        return self.left, self.right

    def evaluate(self, runs: Runs) -> float:
        """Evaluate the left operand, then the right one."""
        left, right = self.left.evaluate(runs), self.right.evaluate(runs)
        return OPERATORS[self.sign](left, right)

    def measures(self) -> units.Dimensions:
        """Return the dimensions of the result. Raises `InputError` if the operands cannot be added."""
        left, right = self.left.measures(), self.right.measures()
        if self.sign in "+-":
            return _together(left, right, self.sign)
        if isinstance(self.left, Number) and self.sign == "*":
            return right
        if isinstance(self.right, Number) and left is not None:
            # The divisor may have the same unit, as when a goodput is divided by a link's rate.
            return left if self.sign == "*" else left | {units.SHARE}
        return units.product(left, right, 1 if self.sign == "*" else -1)


@dataclass(frozen=True)
class Combined:
    """The minimum or maximum of some parts, or the absolute value of one."""

    name: str
    parts: tuple[Node, ...]

    def evaluate(self, runs: Runs) -> float:
        """Apply the function to the values of its parts."""
        return COMBINE[self.name][0](*(part.evaluate(runs) for part in self.parts))

    def measures(self) -> units.Dimensions:
        """Return the dimensions of all parts. Raises `InputError` if they differ."""
        first, *others = (part.measures() for part in self.parts)
        for other in others:
            first = _together(first, other, self.name)
        return first


Node = Number | Reading | Negative | Binary | Combined


def _together(left: units.Dimensions, right: units.Dimensions, how: str) -> units.Dimensions:
    both = units.common(left, right)
    if both is not None and not both:
        raise InputError(f"{units.shown(left)} {how} {units.shown(right)}: expected units of the same kind")
    return both


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, its tree, and its place in the file."""

    text: str
    tree: Node
    source: Place = field(compare=False)

    def readings(self) -> Iterator[Reading]:
        """Return every quantity in the expression, from left to right."""
        return _readings(self.tree)

    @property
    def cells(self) -> list[str]:
        """The keys of the cells that it reads, without repetition."""
        return list(dict.fromkeys(reading.cell for reading in self.readings()))

    @property
    def is_plain(self) -> bool:
        """Whether it is one quantity of one cell."""
        return isinstance(self.tree, Reading)

    def evaluate(self, runs: Runs) -> float:
        """Return the value. Raises `NoValueError` if a quantity has none, or for a division by zero."""
        try:
            return float(self.tree.evaluate(runs))
        except ZeroDivisionError:
            raise NoValueError("division by zero") from None


def _readings(node: Node) -> Iterator[Reading]:
    if isinstance(node, Reading):
        yield node
    for part in node.parts:
        yield from _readings(part)
