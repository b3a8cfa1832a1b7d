"""Where algorithms come from that do not ship: what `--with` loads them by, and the hash of their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Origin:
    """Of one algorithm; `loaded_by` is what stands behind `--with`, None if it was defined at a prompt."""

    name: str
    code_sha256: str
    loaded_by: str | None


_known: dict[str, Origin] = {}


def note(origin: Origin) -> None:
    """Remember an algorithm; one of the same name is forgotten."""
    _known[origin.name] = origin


def known() -> Mapping[str, Origin]:
    """All by their names."""
    return _known
