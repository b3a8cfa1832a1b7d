"""Checks the types of the arguments of public functions.

`@checked(seeds=COUNT, threads=optional(COUNT))` over a function raises `ArgumentError` for a value of another
type, before anything is done with it. What a value means is checked where it is used.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from math import inf
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cwndlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

# The largest number that a float holds.
MOST = sys.float_info.max
# The most characters of a wrong value in a message.
SHOWN = 60


@dataclass(frozen=True)
class Kind:
    """What a value may be: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]

    def __or__(self, other: Kind) -> Kind:
        """Return the kind of values that are of either kind."""
        return Kind(f"{self.words} or {other.words}", lambda value: self.fits(value) or other.fits(value))


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number of Python or numpy. True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a number that a float can hold, with infinity. True and False are none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    size: Any = abs(value)
    return bool(size <= MOST or size == inf)


def _all(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the test for a list of such values. A text is no list of letters; an iterator is not read."""

    def test(value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        return isinstance(value, Iterator) or all(map(fits, value))

    return test


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


WHOLE = Kind("a whole number", is_whole)
WHOLES = Kind("a list of whole numbers", _all(is_whole))
TEXT = Kind("a text", _is_text)
TEXTS = Kind("a list of texts", _all(_is_text))
TEXTS_OR_WHOLES = Kind(
    "a list of texts or whole numbers", _all(lambda each: _is_text(each) or is_whole(each))
)
PATH = Kind("a path", lambda value: isinstance(value, str | PathLike))
FUNCTION = Kind("a function", callable)
NUMBER = Kind("a number", lambda value: is_number(value))
YES_OR_NO = Kind("True or False", lambda value: isinstance(value, bool))
DICTIONARY = Kind(
    "a dictionary whose keys are texts",
    lambda value: isinstance(value, Mapping) and all(map(_is_text, value)),
)
SOURCE = Kind("a path, a text or a dictionary", lambda value: PATH.fits(value) or DICTIONARY.fits(value))
BYTES = Kind("the bytes of a file", lambda value: isinstance(value, bytes))


def optional(kind: Kind) -> Kind:
    """Return the kind that also takes None, which needs no word."""
    return Kind(kind.words, lambda value: value is None or kind.fits(value))


def checked(**kinds: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check these arguments of a function at each call. Raises `ArgumentError` if one is of another kind."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            given = _bound(function, signature, args, keywords)
            for name, kind in kinds.items():
                if name in given:
                    require(name, given[name], kind)
            return function(*args, **keywords)

        return call

    return decorate


def _bound(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> Mapping[str, Any]:
    """Return the given arguments by name. Raises `TypeError` as a call does, with the nearest name."""
    try:
        return signature.bind(*args, **keywords).arguments
    except TypeError as error:
        known = list(signature.parameters)
        unknown = [name for name in keywords if name not in known]
        near = get_close_matches(unknown[0], known, 1) if unknown else []
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TypeError(f"{function.__qualname__}() {error}{hint}") from None


def require(name: str, value: Any, kind: Kind) -> None:
    """Raise `ArgumentError` if the value of this argument is of another kind."""
    if not kind.fits(value):
        raise ArgumentError(name, f"expected {kind.words}, found {_shown(value)}")


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
