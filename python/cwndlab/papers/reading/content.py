"""The values of a paper's file with their lines, and readers that check them.

A reader takes an entry and returns its value, or raises `InputError` with the expected value. `Entry.read`
records the error as a mistake at the entry's place and continues, so that all mistakes are reported at once.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.papers.language.place import Mistake, Place, expected_one_of
from cwndlab.system import reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

Made = TypeVar("Made")
Steps = tuple[str | int, ...]

# Far larger than any file of a paper.
MAX_BYTES = 16 * reading.MIB
# The field of a value that holds its place in the file.
SOURCE = "source"


@dataclass(frozen=True)
class Entry:
    """A value and its place. All entries of a paper share one list of mistakes.

    `lines` maps the path of each value in the file to its line. `path` is the path of this value.
    """

    value: Any
    place: Place
    mistakes: list[Mistake]
    lines: Mapping[Steps, int] = dataclasses.field(default_factory=dict)
    path: Steps = ()

    def child(self, value: Any, where: str, *steps: str | int) -> Entry:
        """Return a value inside this one, at the end of `steps`."""
        path = (*self.path, *steps)
        line = self.lines.get(path, self.place.line)
        place = dataclasses.replace(self.place.inside(where), line=line)
        return dataclasses.replace(self, value=value, place=place, path=path)

    def key(self, name: str) -> Entry:
        """Return the value of a key, or None if the key is missing."""
        return self.child(self.value.get(name), name, name)

    def tables(self, name: str) -> list[Entry]:
        """Return the tables of an array, named by their id or label, or numbered. Names must be unique."""
        entries = self.value.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
            self.key(name).refuse(f"expected [[{name}]] tables, found {shown(entries)}")
            return []
        names = [each.get("id") or each.get("label") for each in entries]
        found = [
            self.child(value, f"{name} {called or index + 1}", name, index)
            for index, (value, called) in enumerate(zip(entries, names, strict=True))
        ]
        for index, entry in enumerate(found):
            if names[index] and names[index] in names[:index]:
                entry.refuse(f"another {name} has this name")
        return found

    def refuse(self, message: str) -> None:
        """Record a mistake."""
        self.mistakes.append(Mistake(self.place, message))

    def read(self, reader: Callable[[Entry], Made]) -> Made | None:
        """Return the value that the reader returns, or None after a mistake."""
        try:
            return reader(self)
        except InputError as error:
            self.refuse(str(error))
            return None


Reader = Callable[[Entry], Any]
Readers = Mapping[str, Reader]


def toml(path: Path, mistakes: list[Mistake]) -> Entry | None:
    """Return the content of a TOML file, or None if it cannot be read."""
    top = Entry({}, Place(str(path), 1), mistakes)
    content = top.read(lambda _: _text(path, "a file of a paper (TOML)"))
    if content is None:
        return None
    try:
        value = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message, line = _syntax_error(str(error), content)
        mistakes.append(Mistake(Place(str(path), line), f"not TOML: {message}"))
        return None
    lines = {tuple(steps): line for steps, line in json.loads(SHIPPED.toml_lines(content))}
    return Entry(value, top.place, mistakes, lines)


def rows(path: Path, columns: Sequence[str], mistakes: list[Mistake]) -> list[Entry]:
    """Return the rows of a CSV file with exactly these columns, named by their ids."""
    top = Entry({}, Place(str(path), 1), mistakes)
    content = top.read(lambda _: _text(path, "a table of numbers (CSV)"))
    if content is None:
        return []
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    found = []
    try:
        head = next(reader, [])
        if head != list(columns):
            top.refuse(_wrong_head(columns, head))
            return []
        for cells in reader:
            line = reader.line_num - sum(cell.count("\n") for cell in cells)
            called = cells[0] if cells else ""
            place = Place(str(path), line, called or "row")
            entry = Entry(dict(zip(columns, cells, strict=False)), place, mistakes)
            if len(cells) == len(columns):
                found.append(entry)
            elif cells:
                entry.refuse(f"expected {len(columns)} cells, found {len(cells)}")
    except csv.Error as error:
        mistakes.append(Mistake(Place(str(path), reader.line_num), f"not CSV: {error}"))
    return found


def _wrong_head(columns: Sequence[str], head: Sequence[str]) -> str:
    unknown = [name for name in head if name not in columns]
    if unknown:
        return f"column: {expected_one_of(columns, unknown[0])}"
    missing = [name for name in columns if name not in head]
    if missing:
        return f"column {missing[0]} is missing"
    return f"expected the columns {','.join(columns)}, found {','.join(head)}"


def _text(path: Path, expected: str) -> str:
    try:
        return reading.read(path, MAX_BYTES, expected).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} is not UTF-8; expected {expected}") from None
    except InputError as error:
        # The place of the mistake names the file.
        raise InputError(str(error).removeprefix(f"{path}: ")) from None


def _syntax_error(message: str, content: str) -> tuple[str, int]:
    """Return tomllib's message, and the line number from its end."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message, re.DOTALL)
    if match is None:
        return message, 1
    return match[1], int(match[2]) if match[2] else max(1, content.count("\n"))


def record(
    kind: Callable[..., Made], entry: Entry, readers: Readers, also: Collection[str] = (), **others: Any
) -> Made | None:
    """Return a dataclass from the keys of a table or a row, or None after a mistake.

    Each key has a reader. Keys in `also` are read elsewhere, and `others` holds their values. A field without
    a default is required.
    """
    before = len(entry.mistakes)
    fields = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    check_keys(entry, [*readers, *also])
    made = {name: entry.key(name).read(reader) for name, reader in readers.items() if name in entry.value}
    for name in readers:
        if name not in entry.value and _is_required(fields[name]):
            entry.refuse(f"{name} is missing")
    if len(entry.mistakes) > before:
        return None
    source = {SOURCE: entry.place} if SOURCE in fields else {}
    return kind(**{**made, **others, **source})


def check_keys(entry: Entry, allowed: Sequence[str]) -> None:
    """Record a mistake for each key that is not allowed."""
    for name in entry.value:
        if name not in allowed:
            entry.key(name).refuse(f"unknown key; {expected_one_of(allowed, name)}")


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def text(entry: Entry) -> str:
    """Read a text."""
    if not isinstance(entry.value, str):
        raise InputError(f"expected a text, found {shown(entry.value)}")
    return entry.value


def number(entry: Entry) -> float:
    """Read a number."""
    value = entry.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"expected a number, found {shown(value)}")
    return value


def positive(entry: Entry) -> float:
    """Read a number above 0."""
    value = number(entry)
    if value <= 0:
        raise InputError(f"expected a number above 0, found {shown(entry.value)}")
    return value


def flag(entry: Entry) -> bool:
    """Read true or false."""
    if not isinstance(entry.value, bool):
        raise InputError(f"expected true or false, found {shown(entry.value)}")
    return entry.value


def texts(entry: Entry) -> tuple[str, ...]:
    """Read a list of texts that is not empty."""
    if not isinstance(entry.value, list) or not entry.value:
        raise InputError(f"expected a list of texts, found {shown(entry.value)}")
    return tuple(text(entry.child(value, "", index)) for index, value in enumerate(entry.value))


def settings(entry: Entry) -> dict[str, str]:
    """Read a table of texts."""
    if not isinstance(entry.value, dict):
        raise InputError(f"expected a table of texts, found {shown(entry.value)}")
    found = {name: entry.key(name).read(text) for name in entry.value}
    return {name: value for name, value in found.items() if value is not None}


def tables_of_settings(entry: Entry) -> dict[str, dict[str, str]]:
    """Read a table of tables of texts."""
    if not isinstance(entry.value, dict):
        raise InputError(f"expected a table of tables, found {shown(entry.value)}")
    found = {name: entry.key(name).read(settings) for name in entry.value}
    return {name: value for name, value in found.items() if value is not None}


def choice(*allowed: str) -> Callable[[Entry], str]:
    """Return a reader of one of these texts."""

    def read(entry: Entry) -> str:
        return chosen(allowed, text(entry))

    return read


def chosen(allowed: Iterable[str], found: str) -> str:
    """Return the text if it is allowed."""
    known = list(allowed)
    if found not in known:
        raise InputError(expected_one_of(known, found))
    return found


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    return "a date or a time"
