"""Where something stands in the files of a paper, and what is wrong there."""

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
    """A line of a file; `where` names the entry in words, as `claim Q13: part 2: effect`."""

    file: str
    line: int
    where: str = ""

    def inside(self, where: str) -> Place:
        """The same line, more exactly."""
        return Place(self.file, self.line, f"{self.where}: {where}" if self.where else where)


# A message lists no more names than this.
MOST_LISTED = 14

# Of what was made elsewhere than from a file.
NOWHERE = Place("", 0)


@dataclass(frozen=True)
class Mistake:
    """What is wrong at a place."""

    place: Place
    message: str

    @property
    def told(self) -> str:
        """The message with the entry that it is about."""
        return f"{self.place.where}: {self.message}" if self.place.where else self.message

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.told}"


class PaperError(InputError):
    """The files of a paper have mistakes; `mistakes` lists every one."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        found = sorted(dict.fromkeys(mistakes), key=lambda each: (each.place.file, each.place.line))
        super().__init__("\n".join(map(str, found)))
        self.mistakes = found


def expected_one_of(known: Iterable[str], found: str) -> str:
    """The message for a name that is none of those known."""
    names = list(dict.fromkeys(known))
    hint = did_you_mean(found, names, "", quote='"')
    return f'expected {_listed(names)}, found "{found}"{hint and f"; {hint}"}'


def _listed(names: list[str]) -> str:
    if not names:
        return "nothing: there is none"
    listed = ", ".join(f'"{name}"' for name in names[:MOST_LISTED])
    others = f" and {counted(len(names) - MOST_LISTED, 'other')}" if len(names) > MOST_LISTED else ""
    return f"{'one of ' if len(names) > 1 else ''}{listed}{others}"
