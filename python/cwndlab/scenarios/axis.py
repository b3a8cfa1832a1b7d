"""What varies in a sweep: keys, their values, and the short names of these values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios import matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Between keys that vary together, and between their values.
WITH = "+"

_OPENING = "[{("
_CLOSING = "]})"
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class Axis:
    """A key of the scenario with its values, or several keys whose values vary together, joined by `+`.

    `labels` name the values in tables and figures. They differ from the values if these are paths, or vary
    together. `drawn` is the range, or the choices, that the values were drawn from in a sample.
    """

    key: str
    values: tuple[str, ...]
    labels: tuple[str, ...] = ()
    drawn: str = ""
    # Looked up for each point: a search would take long where there are many values.
    _value_of: dict[str, str] = field(init=False, repr=False, compare=False)
    _label_of: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        labels = self.labels or self.values
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "_value_of", dict(zip(labels, self.values, strict=True)))
        object.__setattr__(self, "_label_of", dict(zip(self.values, labels, strict=True)))

    @property
    def keys(self) -> list[str]:
        """The keys that vary together; mostly one."""
        return _keys(self.key)

    def overrides(self, label: str) -> list[tuple[str, str]]:
        """Return the value of each key under this label."""
        value = self.value(label)
        parts = [value] if len(self.keys) == 1 else split(value, WITH)
        return list(zip(self.keys, parts, strict=True))

    def value(self, label: str) -> str:
        """Return the value with this label."""
        return self._value_of[label]

    def label(self, text: str) -> str:
        """Return the label of a value, given as the value or as the label itself."""
        return self._label_of.get(text, text)


def parse_axis(text: str, option: str = "--over", folder: Path | None = None) -> Axis:
    """Read `key=value,value,...` or `key+key=value+value,value+value,...`.

    Commas and pluses inside brackets, braces and quotes do not separate values. Relative paths are those of
    the current folder, or else of `folder`. Raises `InputError` if the text has no key, an empty value or a
    repeated one, if no file matches a pattern, or if patterns do not match in pairs.
    """
    key, values = key_and_values(text, option)
    return axis(key, split(values), f"{option} {text}", folder)


def key_and_values(text: str, option: str) -> tuple[str, str]:
    """Split `key=values`. Raises `InputError` without a key or an equals sign."""
    key, sign, values = text.partition("=")
    if not sign or not key.strip():
        example = 'link.0.queue="1 bdp,4 bdp"' if option == "--over" else 'link.0.trace="traces/*.down"'
        raise InputError(f"{option} {text}: expected key=value,value, for example {example}")
    return key.strip(), values


def axis(key: str, texts: Sequence[str], where: str, folder: Path | None = None) -> Axis:
    """Return the axis of a key with these values, some of which may be patterns of files.

    Raises what `parse_axis` raises, with `where` before the message.
    """
    keys = _keys(key)
    if not all(keys) or len(set(keys)) < len(keys):
        raise InputError(f"{where}: expected different keys joined by {WITH}, found {key!r}")
    if not texts:
        raise InputError(f"{where}: expected values, found none")
    rows = [row for text in texts for row in matching.rows(_cells(text, len(keys), where), folder, where)]
    values = tuple(WITH.join(row.cells) for row in rows)
    _check_distinct(values, where)
    return Axis(WITH.join(keys), values, tuple(_labels(rows, folder)))


def split_values(text: str, where: str) -> tuple[str, ...]:
    """Split at the commas outside brackets, braces and quotes.

    Raises `InputError`, with `where` before the message, if a value is empty or repeated.
    """
    values = tuple(split(text))
    _check_distinct(values, where)
    return values


def split(text: str, separator: str = ",") -> list[str]:
    """Split at the separators outside brackets, braces and quotes."""
    return [part.strip() for part in _split(text, separator)]


def _keys(key: str) -> list[str]:
    return [part.strip() for part in key.split(WITH)]


def _cells(text: str, keys: int, where: str) -> list[str]:
    """Return the value of each key that varies together."""
    cells = [text] if keys == 1 else split(text, WITH)
    if len(cells) != keys:
        raise InputError(
            f"{where}: {keys} keys vary together; expected {keys} values joined by {WITH}, found {text!r}"
        )
    if not all(cells):
        raise InputError(f"{where}: a value is empty")
    return cells


def _check_distinct(values: Sequence[str], where: str) -> None:
    if not all(values):
        raise InputError(f"{where}: a value is empty")
    if len(set(values)) < len(values):
        raise InputError(f"{where}: a value is repeated")


def _labels(rows: Sequence[matching.Row], folder: Path | None) -> list[str]:
    """Return a short name for each row: what its patterns matched, or its values without needless folders."""
    columns = [shortened(column, folder) for column in zip(*(row.cells for row in rows), strict=True)]
    if len(columns) == 1:
        return columns[0]
    for names in (
        [row.matched for row in rows],
        [_common_stem(cells) for cells in zip(*columns, strict=True)],
    ):
        if all(names) and len(set(names)) == len(rows):
            return [str(name) for name in names]
    # One value for all keys is told once.
    return [
        f" {WITH} ".join(cells if len(set(cells)) > 1 else cells[:1]) for cells in zip(*columns, strict=True)
    ]


def shortened(values: Sequence[str], folder: Path | None) -> list[str]:
    """Return the values, those that are paths with as few of their folders as keep them distinct."""
    texts = [value.strip(_QUOTES) for value in values]
    paths = {text: PurePath(text).parts for text in texts if matching.is_path(text, folder)}
    for length in range(1, max(map(len, paths.values()), default=0) + 1):
        names = {text: "/".join(parts[-length:]) for text, parts in paths.items()}
        if len(set(names.values())) == len(names):
            return [names.get(text, value) for text, value in zip(texts, values, strict=True)]
    return list(values)


def _common_stem(names: Sequence[str]) -> str | None:
    """Return the name without its ending that all these file names share."""
    stems = {str(PurePath(name).with_suffix("")) for name in names if PurePath(name).suffix}
    return stems.pop() if len(stems) == 1 else None


def _split(text: str, separator: str) -> Iterator[str]:
    depth, quote, part = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        depth += (not quote) * ((character in _OPENING) - (character in _CLOSING))
        if character == separator and not quote and depth == 0:
            yield part
            part = ""
        else:
            part += character
    yield part
