"""Algorithms that do not ship: the name that `--with` loads them by, and the hash of their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Origin:
    """The origin of an algorithm. `loaded_by` is the argument of `--with`, or None for one from a prompt."""

    name: str
    code_sha256: str
    loaded_by: str | None


@dataclass(frozen=True, eq=False)
class Registration:
    """The registration of an algorithm. `loaded_by` is that of `Origin`; `sha256` hashes its current code.

    For a controller in Python, `declaration` is the object passed to the extension module, and
    `registered_by` is the file or module that registers it, in another process too. Either may be None.
    """

    loaded_by: str | None
    sha256: Callable[[], str]
    declaration: object | None = None
    registered_by: str | None = None
