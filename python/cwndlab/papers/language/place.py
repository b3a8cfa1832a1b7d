"""Places in the files of a paper, and the mistakes found there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Place:
    """A line of a file. `where` names the entry in words, such as `claim Q13: part 2: effect`."""

    file: str
    line: int
    where: str = ""

    def inside(self, where: str) -> Place:
        """Return the same line with a more precise `where`."""
        return Place(self.file, self.line, f"{self.where}: {where}" if self.where else where)


# The most names that a message lists.
MOST_LISTED = 14

# The place of anything that was not read from a file.
NOWHERE = Place("", 0)


@dataclass(frozen=True)
class Mistake:
    """A mistake at a place."""

    place: Place
    message: str

    @property
    def text(self) -> str:
        """The message, after the name of its entry."""
        return f"{self.place.where}: {self.message}" if self.place.where else self.message

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.text}"


class PaperError(InputError):
    """The files of a paper have mistakes; `mistakes` lists every one."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        found = sorted(dict.fromkeys(mistakes), key=lambda each: (each.place.file, each.place.line))
        super().__init__("\n".join(map(str, found)))
        self.mistakes = found


def expected_one_of(known: Iterable[str], found: str) -> str:
    """Return the message for an unknown name."""
    names = list(dict.fromkeys(known))
    hint = did_you_mean(found, names, "", quote='"')
    return f'expected {_listed(names)}, found "{found}"{hint and f"; {hint}"}'


def _listed(names: list[str]) -> str:
    if not names:
        return "no name here"
    listed = ", ".join(f'"{name}"' for name in names[:MOST_LISTED])
    others = f" and {counted(len(names) - MOST_LISTED, 'other')}" if len(names) > MOST_LISTED else ""
    return f"{'one of ' if len(names) > 1 else ''}{listed}{others}"
