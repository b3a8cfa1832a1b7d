"""What the user of a comparison or a sweep is looking for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Wanted:
    """The measure that is to be best, limits to keep, and the total whose sensitivity is wanted.

    They are as the user wrote them, the last one by its name.
    """

    best: str | None = None
    limits: tuple[str, ...] = ()
    sensitivity: str | None = None

    @property
    def words(self) -> list[str]:
        """The words of a command line that ask for it."""
        best = ["--best", self.best] if self.best is not None else []
        sensitivity = ["--sensitivity", self.sensitivity] if self.sensitivity is not None else []
        return [*sensitivity, *best, *(word for limit in self.limits for word in ("--limit", limit))]

    def to_json(self) -> dict[str, Any]:
        """Return it as a part of a stored request."""
        return {"best": self.best, "limits": list(self.limits), "sensitivity": self.sensitivity}


NOTHING_WANTED = Wanted()


def wanted(stored: Mapping[str, Any] | None) -> Wanted:
    """Return what a stored request asks for. Requests of older versions ask for nothing."""
    if stored is None:
        return NOTHING_WANTED
    return Wanted(stored["best"], tuple(stored["limits"]), stored.get("sensitivity"))
