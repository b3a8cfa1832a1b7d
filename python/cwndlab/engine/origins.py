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
    `texts` gives the user's modules that it consists of, by paths below a common folder. A `replaceable` one
    makes room for another file's controller of the same name.
    """

    loaded_by: str | None
    sha256: Callable[[], str]
    declaration: object | None = None
    registered_by: str | None = None
    texts: Callable[[], dict[str, bytes]] | None = None
    replaceable: bool = False
