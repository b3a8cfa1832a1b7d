"""Parameters of a controller, declared as attributes of its class and set in scenario files."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cwndlab.errors import InputError
from cwndlab.system.arguments import NUMBER, TEXT, TEXTS, optional, require

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T", bool, int, float, str)

# Attributes of a controller that mean something else: the key of `cc = { ... }` that chooses it, what it
# decides, and what its class declares.
RESERVED = (
    "name",
    "cwnd_bytes",
    "pacing_rate_bps",
    "send_quantum_bytes",
    "next_timer_s",
    "probes",
    "ecn",
    "own_window_in_recovery",
    "bounded",
)
# The largest whole number of a scenario, and the largest float.
WHOLE = 2**63 - 1
FLOAT = sys.float_info.max


@dataclass(frozen=True)
class Parameter:
    """One declaration. `name` is set when the class is complete."""

    default: Any
    kind: str
    low: float | None
    high: float | None
    words: list[str] = field(default_factory=list)
    unit: str = ""
    meaning: str = ""
    source: str = ""
    name: str = ""


def parameter(
    default: T,
    *,
    low: float | None = None,
    high: float | None = None,
    words: Sequence[str] = (),
    unit: str = "",
    meaning: str = "",
    source: str = "",
) -> T:
    """Declare a parameter of a controller: `gain = cwndlab.parameter(1.0, low=0.1, high=10)`.

    The default determines the type: a bool, an int (a whole number of at least 0), a float, or a str, which
    must be one of `words`. With `unit="s"`, a number is a time in seconds, which scenario files write as
    `"200 ms"`. `low` and `high` bound a number. `cwndlab show` prints `unit`, `meaning` and `source`. Raises
    `InputError` if the default does not fit the other arguments.
    """
    at = f"parameter({default!r})"
    for argument, text in (("unit", unit), ("meaning", meaning), ("source", source)):
        require(f"{at}: {argument}", text, TEXT)
    for argument, bound in (("low", low), ("high", high)):
        require(f"{at}: {argument}", bound, optional(NUMBER))
    require(f"{at}: words", words, TEXTS)
    kind = _kind(default, words, unit)
    if kind in ("flag", "word") and (low is not None or high is not None):
        raise InputError(f"parameter({default!r}): expected low and high only for a number")
    if kind == "word" and not words:
        raise InputError(f"parameter({default!r}): a text default needs words=[...], found none")
    if kind == "word" and default not in words:
        raise InputError(f"parameter({default!r}): expected one of words={list(words)}")
    if kind in ("count", "time"):
        low = 0 if low is None else low
        if low < 0:
            raise InputError(
                f"parameter({default!r}): expected low=0 or more for a whole number or a time, found {low}"
            )
    if kind in ("count", "number", "time"):
        _check_within(default, low, high, WHOLE if kind == "count" else FLOAT)
    declared = Parameter(default, kind, low, high, list(words), unit, meaning, source or "its class")
    # The decorator puts the default in its place.
    return cast("T", declared)


def _kind(default: object, words: Sequence[str], unit: str) -> str:
    if isinstance(default, str):
        return "word"
    if words:
        raise InputError(f"parameter({default!r}): expected words only for a str")
    if isinstance(default, bool):
        return "flag"
    if isinstance(default, int) and unit != "s":
        return "count"
    if isinstance(default, int | float):
        return "time" if unit == "s" else "number"
    raise InputError(f"parameter({default!r}): expected a bool, an int, a float or a str as the default")


def _check_within(default: Any, low: float | None, high: float | None, most: float) -> None:
    # This is also not true of NaN.
    if not abs(default) <= most:
        raise InputError(f"parameter({default!r}): expected a finite default of at most {most:.4g}")
    if not (low is None or low <= default) or not (high is None or default <= high):
        raise InputError(f"parameter({default!r}): expected a default within low={low} and high={high}")


def declared_by(cls: type) -> list[Parameter]:
    """Return the parameters of a class and its bases, in the order of their declaration.

    Replaces each parameter by its default, so that the class also works without a scenario.
    """
    found: dict[str, Parameter] = dict(getattr(cls, "_cwndlab_parameters", {}))
    for base in reversed(cls.__mro__):
        for name, value in list(vars(base).items()):
            if isinstance(value, Parameter):
                if name in RESERVED:
                    raise InputError(f"parameter {name!r}: this name is taken; choose another")
                found[name] = replace(value, name=name)
                setattr(base, name, value.default)
    type.__setattr__(cls, "_cwndlab_parameters", found)
    return list(found.values())
