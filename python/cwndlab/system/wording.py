"""Puts the errors that commands and functions share in terms of a function's arguments.

The code below both names options, as `--sample -2`. A program gave an argument, `sample=-2`.
"""

from __future__ import annotations

import re
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from cwndlab.errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

# Arguments that are called otherwise than their options.
_ARGUMENTS = {
    "set": "overrides",
    "cc": "algorithms",
    "flow": "flows",
    "limit": "limits",
    "label": "labels",
    "out": "folder",
    "format": "formats",
    "replace": "replace=True",
}
# Dictionaries: what follows the option is a key.
_KEYED = ("overrides", "over", "across", "labels")
_FIRST = re.compile(r"--([a-z][a-z-]*)(?: (.+?))?: ")
_KEY = re.compile(r"--(set|over|across|label) ([^\s:;,=]+)(?=$|[:;]| and --)")
# To load controllers a program has no argument; it imports them. Names of files may have two hyphens, too.
_OPTION = re.compile(r"(?<![^\s(`'\"])--(?!with\b)([a-z][a-z-]*)( [A-Z]\b)?")

# A command that a message quotes stays as it is.
_COMMAND = re.compile(r"(`cwndlab [^`]*`)")


def in_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Name arguments instead of options in the errors of a function."""

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*args, **keywords)
        except (InputError, OutputError) as error:
            error.reword(worded)
            raise

    return call


def worded(message: str) -> str:
    """Return a message that names arguments instead of options. Each of its lines is one."""
    return "\n".join(map(_worded, message.split("\n")))


def _worded(message: str) -> str:
    first = _FIRST.match(message)
    start, rest = (_given(first), message[first.end() :]) if first else ("", message)
    parts = _COMMAND.split(rest)
    parts[::2] = map(_reworded, parts[::2])
    return start + "".join(parts)


def _reworded(text: str) -> str:
    text = _KEY.sub(lambda found: f"{_argument(found[1])}[{found[2]!r}]", text)
    return _OPTION.sub(lambda found: _argument(found[1]) + (found[2] or "").replace(" ", "="), text)


def _given(found: re.Match[str]) -> str:
    """Return the argument that a message begins with, and its value."""
    name, value = _argument(found[1]), found[2]
    if value is None:
        return f"{name}: "
    # The path of a file of points is no key.
    if name in _KEYED and not value.endswith(".csv"):
        return f"{name}[{value!r}]: "
    is_literal = value.lstrip("-").isdecimal() or value.startswith(("'", '"'))
    return f"{name}={value if is_literal else repr(value)}: "


def _argument(option: str) -> str:
    return _ARGUMENTS.get(option, option.replace("-", "_"))
