"""What the user of a comparison or a sweep is looking for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Wanted:
    """The measure that is to be best, and limits to keep, as the user wrote them."""

    best: str | None = None
    limits: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of a command line that ask for it."""
        best = ["--best", self.best] if self.best is not None else []
        return [*best, *(word for limit in self.limits for word in ("--limit", limit))]

    def to_json(self) -> dict[str, Any]:
        """Return it as a part of a stored request."""
        return {"best": self.best, "limits": list(self.limits)}


NOTHING_WANTED = Wanted()


def wanted(stored: Mapping[str, Any] | None) -> Wanted:
    """Return what a stored request asks for. Requests of older versions ask for nothing."""
    return NOTHING_WANTED if stored is None else Wanted(stored["best"], tuple(stored["limits"]))
