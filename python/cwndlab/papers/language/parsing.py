"""Parses and checks the texts of expressions.

The syntax is Python's, but only numbers, `+ - * /`, functions, and names of effects are allowed.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.papers.language.expression import (
    COMBINE,
    Binary,
    Combined,
    Expression,
    Negative,
    Node,
    Number,
    Reading,
)
from cwndlab.papers.language.place import Place, expected_one_of

if TYPE_CHECKING:
    from cwndlab.papers.language.quantity import Literal, Quantity

Quantities = Mapping[str, "Quantity"]

_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True)
class Effect:
    """A named effect that other expressions use. Its cells are those of their experiments."""

    text: str
    tree: ast.expr


Effects = Mapping[str, Effect]


def in_full(cell: str, experiment: str) -> str:
    """Return the key of a cell. A cell without an experiment belongs to this one."""
    return cell if "/" in cell else f"{experiment}/{cell}"


def parse(
    text: str,
    quantities: Quantities,
    experiment: str = "",
    effects: Effects | None = None,
    source: Place = Place("", 0),  # noqa: B008 (it cannot be changed)
) -> Expression:
    """Parse an expression of an experiment. Raises `InputError` for anything that is not allowed."""
    named = effects or {}
    read = _tree(text)
    tree = _Replaced(named).visit(copy.deepcopy(read))
    try:
        made = Expression(
            _in_words(text, read, tree, named), _Reader(quantities, experiment, named).node(tree), source
        )
        made.tree.measures()
    except RecursionError:
        raise InputError("the expression is nested too deeply") from None
    return made


def effect(text: str, quantities: Quantities) -> Effect:
    """Parse a named effect."""
    parse(text, quantities)
    return Effect(text, _tree(text))


def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError(f"{_short(text)}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"expected an expression, found {_short(text)}") from None


def _in_words(text: str, read: ast.expr, tree: ast.expr, effects: Effects) -> str:
    """Return the text to show, with the expressions of effects instead of their names."""
    if isinstance(read, ast.Name) and read.id in effects:
        return effects[read.id].text
    has_names = any(isinstance(node, ast.Name) and node.id in effects for node in ast.walk(read))
    return ast.unparse(tree) if has_names else text


class _Replaced(ast.NodeTransformer):
    """Replaces the names of effects by their expressions."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self.effects.get(node.id)
        return node if known is None else known.tree


@dataclass(frozen=True)
class _Reader:
    quantities: Quantities
    experiment: str
    effects: Effects

    def node(self, node: ast.expr) -> Node:
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            return Binary(_SIGNS[type(node.op)], self.node(node.left), self.node(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Negative(self.node(node.operand))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node, node.func.id)
        if isinstance(node, ast.Name):
            if not self.effects:
                raise InputError(f"{node.id}: expected a text in quotes; no effect has this name")
            raise InputError(f"name of an effect: {expected_one_of(self.effects, node.id)}")
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{_short(ast.unparse(node))} is not allowed here")
        return Number(float(value))

    def _call(self, node: ast.Call, name: str) -> Node:
        if name in COMBINE:
            return self._combined(node, name)
        if name not in self.quantities:
            raise InputError(f"function: {expected_one_of([*self.quantities, *COMBINE], name)}")
        quantity = self.quantities[name]
        by_place = [_literal(argument) for argument in node.args]
        named = {str(keyword.arg or "**"): _literal(keyword.value) for keyword in node.keywords}
        if not by_place or not isinstance(by_place[0], str):
            raise InputError(f"{name}: expected {quantity.usage}; the first argument is a cell in quotes")
        cell, *rest = by_place
        try:
            arguments = quantity.bound(rest, named)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        return Reading(quantity, in_full(str(cell), self.experiment), tuple(arguments.items()))

    def _combined(self, node: ast.Call, name: str) -> Combined:
        _, least, most = COMBINE[name]
        count = len(node.args)
        if node.keywords or count < least or (most is not None and count > most):
            wanted = f"{least} or more" if most is None else str(least)
            raise InputError(f"{name}: expected {wanted} arguments, found {count + len(node.keywords)}")
        return Combined(name, tuple(self.node(argument) for argument in node.args))


def _literal(node: ast.expr) -> Literal:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        value = None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{_short(ast.unparse(node))}: expected a text in quotes, or a number")
    return value


def _short(text: str) -> str:
    """Return a text that fits into a message."""
    longest = 60
    shown = repr(text)
    return shown if len(shown) <= longest else f"{shown[:longest]}..."
