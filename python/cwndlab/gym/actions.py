"""Checks actions: those of one agent, of a vector of environments, and of several agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

INTEGERS = (int, np.integer)
# Subclasses of these that are not numbers.
NO_INTEGERS = (bool, np.timedelta64)
# The most characters of a wrong action in a message.
SHOWN = 60


def checked(action: Any, count: int, of: str = "") -> int:
    """Return one of `count` actions as an `int`. In messages, `of` names the agent or environment.

    Accepts integers of any width, and arrays of them without dimensions. Raises `InputError` for anything
    else, such as a bool or a float: 1.0 usually comes from an agent with continuous actions, which have no
    meaning here.
    """
    found = action if isinstance(action, (int, np.generic)) else _scalar(action)
    if isinstance(found, INTEGERS) and not isinstance(found, NO_INTEGERS):
        chosen = int(found)
        if 0 <= chosen < count:
            return chosen
    raise InputError(f"action{of}: expected an integer from 0 to {count - 1}, found {_shown(found)}")


def checked_all(actions: Any, environments: int, count: int) -> NDArray[np.uint32]:
    """Return the actions of a vector of environments. Raises `InputError` if one is wrong or missing."""
    listed = isinstance(actions, (list, tuple))
    each = actions if listed else _array(actions)
    if ((len(each),) if listed else each.shape) != (environments,):
        raise InputError(
            f"actions: expected {environments} integers from 0 to {count - 1}, found {_shown(each)}"
        )
    if not listed and each.dtype.kind in "iu" and each.min() >= 0 and each.max() < count:
        return each.astype(np.uint32)
    chosen = [checked(action, count, f" of environment {n}") for n, action in enumerate(each)]
    return np.array(chosen, dtype=np.uint32)


def _scalar(value: Any) -> Any:
    """Return the value of an array without dimensions, of any library. Return other values unchanged."""
    if not hasattr(value, "__array__"):
        return value
    found = _array(value)
    return found[()] if found.ndim == 0 else found


def _array(value: Any) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        # For example, a tensor on another device.
        single = np.empty((), dtype=object)
        single[()] = value
        return single


def _shown(value: Any) -> str:
    """Return a wrong action as one line of text."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of length {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
