"""What a function of expressions is: its arguments, its unit, its meaning."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.papers.language.place import expected_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # Of a run; numbers and names, by position or by name.
    Compute = Callable[..., float]

Literal = str | float


class Kind(StrEnum):
    """What an argument is: a number, or the name of something in the run."""

    NUMBER = "number"
    FLOW = "flow"
    SENDER = "flow or group"
    LINK = "link"
    PROBE = "probe"


@dataclass(frozen=True)
class Quantity:
    """A function of one run.

    Its signature is that of `compute`: the run, and arguments whose names say what they are. `flow` is what
    the argument of that name accepts. `unit` is empty if it depends on what is asked for.
    """

    compute: Compute
    unit: str
    meaning: str
    flow: Kind = Kind.FLOW

    @property
    def name(self) -> str:
        """How expressions call it."""
        return self.compute.__name__

    @cached_property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """All but the run."""
        _, *rest = inspect.signature(self.compute).parameters.values()
        return {each.name: each for each in rest}

    def kind(self, argument: str) -> Kind:
        """What an argument is."""
        kinds = {"flow": self.flow, "link": Kind.LINK, "name": Kind.PROBE}
        return kinds.get(argument, Kind.NUMBER)

    @property
    def usage(self) -> str:
        """How it is called."""
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
        """The arguments by their names; raises `InputError` if they do not suit."""
        for name in by_name:
            if name not in self.arguments:
                raise InputError(f"argument {name}: {expected_one_of(self.arguments, name)}")
        try:
            bound = inspect.signature(self.compute).bind(None, *by_place, **by_name)
        except TypeError as error:
            raise InputError(f"expected {self.usage}; {error}") from None
        _, *given = bound.arguments.items()
        for name, value in given:
            self._check(name, value)
        return dict(given)

    def _check(self, argument: str, value: Literal) -> None:
        kind = self.kind(argument)
        if (kind is Kind.NUMBER) is isinstance(value, str):
            what = "a number" if kind is Kind.NUMBER else f"the name of a {kind} in quotes"
            found = f'"{value}"' if isinstance(value, str) else value
            raise InputError(f"argument {argument}: expected {what}, found {found}")
