"""Expressions over the cells of a paper, such as `goodput("cubic", "a") - goodput("reno", "a")`.

The syntax is Python's, but only numbers, names of functions, texts, `+ - * /` and calls are obeyed.
"""

from __future__ import annotations

import ast
import copy
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    # Numbers and texts, by position or by name, to a number.
    Function = Callable[..., float]

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
PLAIN: dict[str, Function] = {"min": min, "max": max, "abs": abs}


class NoValueError(Exception):
    """A quantity has no value in this run, for the reason given."""


@dataclass(frozen=True)
class Expression:
    """A checked expression."""

    text: str
    tree: ast.expr

    def cells(self) -> Iterator[str]:
        """The first arguments of its functions: the cells that it reads."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and node.args and _name(node) not in PLAIN:
                yield str(_literal(node.args[0], self.text))

    def qualified(self, experiment: str) -> str:
        """The same with every cell named in full: one text for equal expressions."""
        return ast.unparse(_InFull(experiment).visit(copy.deepcopy(self.tree)))

    @property
    def is_plain(self) -> bool:
        """Whether it is one quantity of one cell."""
        return isinstance(self.tree, ast.Call) and _name(self.tree) not in PLAIN

    def evaluate(self, functions: Mapping[str, Function]) -> float:
        """The value; raises `NoValueError` if a quantity has none, or for a division by zero."""
        try:
            return _evaluate(self.tree, {**functions, **PLAIN}, self.text)
        except ZeroDivisionError:
            raise NoValueError("division by zero") from None


def in_full(cell: str, experiment: str) -> str:
    """The key of a cell: one without an experiment is of this one."""
    return cell if "/" in cell else f"{experiment}/{cell}"


def parse(text: str, functions: Mapping[str, Any]) -> Expression:
    """Check an expression; raises `InputError` for anything that is not to be obeyed."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError(f"{text!r}: {error.msg}") from None
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = _name(call)
        if name not in functions and name not in PLAIN:
            known = ", ".join(sorted([*functions, *PLAIN]))
            raise InputError(f"{text!r}: unknown function {name!r}; there are: {known}")
    _check(tree, text)
    return Expression(text, tree)


class _InFull(ast.NodeTransformer):
    """Names every cell by its experiment, too."""

    def __init__(self, experiment: str) -> None:
        self.experiment = experiment

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if node.args and isinstance(node.args[0], ast.Constant) and _name(node) not in PLAIN:
            node.args[0] = ast.Constant(in_full(str(node.args[0].value), self.experiment))
        return node


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _check(node: ast.expr, text: str) -> None:
    """Refuse what `_evaluate` would not understand, before anything is run."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check(node.left, text)
        _check(node.right, text)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand, text)
    elif isinstance(node, ast.Call):
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if _name(node) in PLAIN:
                _check(argument, text)
            else:
                _literal(argument, text)
    elif not (isinstance(node, ast.Constant) and isinstance(node.value, int | float)):
        raise InputError(f"{text!r}: {ast.unparse(node)!r} is not allowed here")


def _literal(node: ast.expr, text: str) -> str | float:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, str | int | float):
        raise InputError(f"{text!r}: {ast.unparse(node)!r} must be a text or a number")
    return value


def _evaluate(node: ast.expr, functions: Mapping[str, Function], text: str) -> float:
    if isinstance(node, ast.BinOp):
        left, right = (_evaluate(side, functions, text) for side in (node.left, node.right))
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return -_evaluate(node.operand, functions, text)
    if isinstance(node, ast.Call):
        name = _name(node)
        if name in PLAIN:
            return functions[name](*(_evaluate(argument, functions, text) for argument in node.args))
        arguments = [_literal(argument, text) for argument in node.args]
        named = {str(keyword.arg): _literal(keyword.value, text) for keyword in node.keywords}
        return functions[name](*arguments, **named)
    return float(ast.literal_eval(node))
