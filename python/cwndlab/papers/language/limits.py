"""The limits of an expression: what it can be at least and at most, whatever the runs.

An interval of a mean can end beyond them, such as a share below 0 %. It is cut there: what lies outside is
impossible, so the interval covers the truth as often as before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cwndlab.papers.language.expression import Binary, Combined, Negative, Number, Reading

if TYPE_CHECKING:
    from cwndlab.papers.language.expression import Expression, Node

Limits = tuple[float, float]

ANY: Limits = (-math.inf, math.inf)
# A unit that makes any number in it a share of a whole.
OF_THE_TIME = "% of the time"


def limits(expression: Expression, unit: str = "") -> Limits:
    """Return the limits of an expression in a unit. A difference in `OF_THE_TIME` may be negative."""
    low, high = _limits(expression.tree)
    if unit == OF_THE_TIME and not _has_difference(expression.tree):
        return max(low, 0.0), min(high, 100.0)
    return low, high


def _limits(node: Node) -> Limits:
    match node:
        case Number():
            return node.value, node.value
        case Reading():
            return node.quantity.least, node.quantity.most
        case Negative():
            low, high = _limits(node.part)
            return -high, -low
        case Combined():
            return _combined(node)
        case Binary():
            return _binary(node)


def _combined(node: Combined) -> Limits:
    lows, highs = zip(*map(_limits, node.parts), strict=True)
    if node.name == "abs":
        return max(0.0, lows[0], -highs[0]), max(abs(lows[0]), abs(highs[0]))
    choose = min if node.name == "min" else max
    return choose(lows), choose(highs)


def _binary(node: Binary) -> Limits:
    (low, high), (least, most) = _limits(node.left), _limits(node.right)
    match node.sign:
        case "+":
            return low + least, high + most
        case "-":
            return (0.0 if _is_part(node.right, node.left) else low - most), high - least
        case "*":
            return _product((low, high), (least, most))
    factor, counted = _scaled(node.left)
    if factor >= 0 and _is_part(counted, node.right):
        return 0.0, factor
    if least < 0:
        return ANY
    return _product((low, high), (_inverse(most), _inverse(least)))


def _inverse(value: float) -> float:
    return 1 / value if value else math.inf


def _product(one: Limits, other: Limits) -> Limits:
    corners = [left * right if left and right else 0.0 for left in one for right in other]
    return min(corners), max(corners)


def _scaled(node: Node) -> tuple[float, Node]:
    """Return a number times a part, if the node is that."""
    if isinstance(node, Binary) and node.sign == "*" and isinstance(node.left, Number):
        return node.left.value, node.right
    return 1.0, node


def _is_part(some: Node, whole: Node) -> bool:
    """Whether one counts some of the events that the other counts."""
    return (
        isinstance(some, Reading)
        and isinstance(whole, Reading)
        and some.quantity.part_of == whole.quantity.name
        and (some.cell, some.arguments) == (whole.cell, whole.arguments)
    )


def _has_difference(node: Node) -> bool:
    if isinstance(node, Negative) or (isinstance(node, Binary) and node.sign == "-"):
        return True
    return any(map(_has_difference, node.parts))
