"""Overrides as a user gives them: their form, and that none replaces an earlier one."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.axis import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# A key and its value.
Override = tuple[str, str]
# In a key: every entry of a list.
EVERY = "*"


def parse_override(text: str) -> Override:
    """Split `key=value`. The value is written as in a scenario file; text needs no quotes.

    Raises `InputError` if the key or the value is missing.
    """
    key, sign, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not sign or not key or not value:
        raise InputError(f"--set {text}: expected key=value, for example flow.0.cc=cubic")
    return key, value


def parse_overrides(texts: Iterable[str]) -> tuple[Override, ...]:
    """Split each `key=value`. Raises `InputError` if one is wrong, or replaces an earlier one."""
    overrides = tuple(map(parse_override, texts))
    require_kept(overrides, lambda override: f"--set {'='.join(override)}")
    return overrides


def require_kept(overrides: Sequence[Override], named: Callable[[Override], str]) -> None:
    """Raise `InputError` if one of these overrides replaces an earlier one: its key is the same, or above it.

    `named` returns how the user gave an override.
    """
    for earlier, later in combinations(overrides, 2):
        if _covers(later[0], earlier[0]):
            above = len(_parts(later[0])) < len(_parts(earlier[0]))
            remedy = f"; to set both, give {later[0]} first" if above else ""
            raise replaced(named(earlier), f"{named(later)} after it{remedy}")


def replaced(option: str, again: str) -> InputError:
    """Return the error for an option whose key is set again."""
    return InputError(f"{option}: expected a key that nothing sets again, found {again}")


def _covers(later: str, earlier: str) -> bool:
    """Whether a key sets at least what an earlier one does, by their texts."""
    return _each(later, earlier, lambda again, first: again in (first, EVERY))


def may_cover(later: str, earlier: str) -> bool:
    """Whether it may: a number and a name, or `*` and either, may mean the same entry of a list."""
    return _each(
        later,
        earlier,
        lambda again, first: (
            again == first or EVERY in (again, first) or again.isdecimal() != first.isdecimal()
        ),
    )


def _each(later: str, earlier: str, fits: Callable[[str, str], bool]) -> bool:
    """Whether a key is not longer than an earlier one, and each of its parts fits the part there."""
    parts, first = _parts(later), _parts(earlier)
    return len(parts) <= len(first) and all(map(fits, parts, first))


def _parts(key: str) -> list[str]:
    return [part.strip('"') for part in split(key, ".")]
