"""Algorithms that do not ship: what `--with` loads them by, and the hash of their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Origin:
    """Of one algorithm; `loaded_by` is what stands behind `--with`, None if it was defined at a prompt."""

    name: str
    code_sha256: str
    loaded_by: str | None


@dataclass(frozen=True, eq=False)
class Registration:
    """Of one algorithm: what it is loaded by, and how to hash its code as it is now.

    `declaration` is what the extension module was given of a controller in Python, and `registered_by` the
    file or the module that registers it in another process as well; None if there is none.
    """

    loaded_by: str | None
    sha256: Callable[[], str]
    declaration: object | None = None
    registered_by: str | None = None
