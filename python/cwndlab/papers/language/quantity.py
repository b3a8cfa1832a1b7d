"""A function of expressions: its arguments, its unit, its meaning."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.papers.language.place import expected_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # A function of a run, and of numbers and names by position or by name.
    Compute = Callable[..., float]

Literal = str | float


class Kind(StrEnum):
    """The kind of an argument: a number, or a name in the run."""

    NUMBER = "number"
    FLOW = "flow"
    SENDER = "flow or group"
    LINK = "link"
    PROBE = "probe"


@dataclass(frozen=True)
class Quantity:
    """A function of one run.

    Its signature is that of `compute`: the run, and arguments whose names determine their kinds. `flow` is
    the kind of the argument with that name. `unit` is empty if it depends on the arguments. No value is less
    than `least` or more than `most`; the events that it counts are some of those of `part_of`.
    """

    compute: Compute
    unit: str
    meaning: str
    flow: Kind = Kind.FLOW
    least: float = 0.0
    most: float = math.inf
    part_of: str = ""

    @property
    def name(self) -> str:
        """The name of the function in expressions."""
        return self.compute.__name__

    @cached_property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """The arguments after the run."""
        _, *rest = inspect.signature(self.compute).parameters.values()
        return {each.name: each for each in rest}

    def kind(self, argument: str) -> Kind:
        """Return the kind of an argument."""
        kinds = {"flow": self.flow, "link": Kind.LINK, "name": Kind.PROBE}
        return kinds.get(argument, Kind.NUMBER)

    @property
    def usage(self) -> str:
        """The call with its arguments, for messages and docs."""
        optional = {
            each.name: each.name if each.default is None else f"{each.name}={each.default}"
            for each in self.arguments.values()
        }
        shown = [
            name if each.default is inspect.Parameter.empty else f"[{optional[name]}]"
            for name, each in self.arguments.items()
        ]
        return f"{self.name}({', '.join(['cell', *shown])})"

    def bound(self, by_place: Sequence[Literal], by_name: Mapping[str, Literal]) -> dict[str, Literal]:
        """Return the arguments by name. Raises `InputError` if they do not fit the signature."""
        for name in by_name:
            if name not in self.arguments:
                raise InputError(f"argument {name}: {expected_one_of(self.arguments, name)}")
        try:
            bound = inspect.signature(self.compute).bind(None, *by_place, **by_name)
        except TypeError as error:
            raise InputError(f"expected {self.usage}; {error}") from None
        _, *arguments = bound.arguments.items()
        for name, value in arguments:
            self._check(name, value)
        return dict(arguments)

    def _check(self, argument: str, value: Literal) -> None:
        kind = self.kind(argument)
        if (kind is Kind.NUMBER) is isinstance(value, str):
            what = "a number" if kind is Kind.NUMBER else f"the name of a {kind} in quotes"
            found = f'"{value}"' if isinstance(value, str) else value
            raise InputError(f"argument {argument}: expected {what}, found {found}")
