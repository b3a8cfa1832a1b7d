"""Algorithms of this process that do not ship: what `--with` loads them by, and the hash of their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Origin:
    """Of one algorithm; `loaded_by` is what stands behind `--with`, None if it was defined at a prompt."""

    name: str
    code_sha256: str
    loaded_by: str | None


@dataclass(frozen=True, eq=False)
class Registration:
    """Of one algorithm: what it is loaded by, and how to hash its code as it is now.

    `declaration` is what the extension module was given of a controller in Python.
    """

    loaded_by: str | None
    sha256: Callable[[], str]
    declaration: object | None = None


_known: dict[str, Registration] = {}


def note(
    name: str, loaded_by: str | None, sha256: Callable[[], str], declaration: object | None = None
) -> None:
    """Remember an algorithm; one of the same name is forgotten."""
    _known[name] = Registration(loaded_by, sha256, declaration)


def known() -> Mapping[str, Registration]:
    """All by their names."""
    return _known


def in_python() -> dict[str, Registration]:
    """The controllers in Python, in the order of their registration."""
    return {name: each for name, each in _known.items() if each.declaration is not None}


def origin(name: str) -> Origin:
    """Where an algorithm that is known comes from."""
    found = _known[name]
    return Origin(name, found.sha256(), found.loaded_by)
