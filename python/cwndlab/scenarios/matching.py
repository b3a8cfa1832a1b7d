"""Patterns of files among the values of a sweep: `traces/*.down`."""

from __future__ import annotations

import glob
import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.system.given import require_utf8

if TYPE_CHECKING:
    from collections.abc import Sequence

_WILD = re.compile(r"(\*\*/|\*|\?|\[[^\]]+\])")
# What each of them matches, as a regular expression; others match one of some characters.
_MATCHED = {"**/": "((?:.*/)?)", "*": "([^/]*)", "?": "([^/])"}

# What each wildcard of a pattern stands for.
Wildcards = tuple[str, ...]
# A value that begins with one of these is TOML.
_TOML = ("[", "{", '"', "'")
# With one of these, a file name needs quotes to be one value.
_SEPARATORS = frozenset(",+[]{}()\"'")
# More names than this make no message.
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Row:
    """The values of the keys that vary together, and what the patterns among them matched."""

    cells: tuple[str, ...]
    matched: str | None = None


def rows(cells: Sequence[str], folder: Path | None, where: str) -> list[Row]:
    """Return a row for each file that the patterns among the cells match, or one row if none is a pattern.

    Several patterns match in pairs: what `*` stands for must be the same in all of them. Raises `InputError`
    if a pattern matches no file, or the files are no pairs.
    """
    found = {index: _files(cell, folder, where) for index, cell in enumerate(cells) if _is_pattern(cell)}
    if not found:
        return [Row(tuple(cells))]
    _check_pairs([(cells[index], files) for index, files in found.items()], where)
    names = next(iter(found.values()))
    return [
        Row(
            tuple(found[index][name] if index in found else cell for index, cell in enumerate(cells)),
            _shown(name) if len(found) > 1 else None,
        )
        for name in names
    ]


def is_path(text: str, folder: Path | None) -> bool:
    """Whether a value is the path of a file in some folder."""
    return len(PurePath(text).parts) > 1 and any(
        (root / text).is_file() for root in (Path(), folder) if root is not None
    )


def _is_pattern(cell: str) -> bool:
    return not cell.startswith(_TOML) and _WILD.search(cell) is not None


def _files(pattern: str, folder: Path | None, where: str) -> dict[Wildcards, str]:
    """Return the paths that match, by what the wildcards stand for."""
    for root in (Path(), folder):
        if root is None:
            continue
        # `Path.glob` knows no patterns that begin at the root.
        paths = sorted(glob.glob(pattern, root_dir=root, recursive=True), key=_in_order)  # noqa: PTH207
        if files := [path for path in paths if (root / path).is_file()]:
            break
    else:
        places = "the current folder" if folder in (None, Path()) else f"the current folder or in {folder}"
        raise InputError(f"{where}: expected files, found none that match {pattern!r} in {places}")
    for path in files:
        require_utf8(path, f"{where}: ")
    expression = re.compile("".join(map(_expression, _WILD.split(pattern))))
    return {_wildcards(expression, path): _quoted(path) for path in files}


def _in_order(path: str) -> list[str | int]:
    """Return a key that sorts `t9` before `t10`."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path)]


def _expression(piece: str) -> str:
    if piece in _MATCHED:
        return _MATCHED[piece]
    return f"({piece.replace('[!', '[^')})" if _WILD.fullmatch(piece) else re.escape(piece)


def _wildcards(expression: re.Pattern[str], path: str) -> Wildcards:
    match = expression.fullmatch(path)
    return (path,) if match is None else match.groups()


def _shown(wildcards: Wildcards) -> str:
    return " ".join(part.strip("/") for part in wildcards if part)


def _quoted(path: str) -> str:
    if not _SEPARATORS & set(path):
        return path
    # JSON and TOML quote alike.
    return json.dumps(path, ensure_ascii=False) if "'" in path else f"'{path}'"


def _check_pairs(columns: Sequence[tuple[str, dict[Wildcards, str]]], where: str) -> None:
    first, files = columns[0]
    for pattern, others in columns[1:]:
        for this, that, missing in (
            (first, pattern, files.keys() - others.keys()),
            (pattern, first, others.keys() - files.keys()),
        ):
            if missing:
                raise InputError(
                    f"{where}: {len(files)} files match {first!r} and {len(others)} match {pattern!r}; "
                    f"expected pairs in which * stands for the same, found no {that!r} for "
                    f"{_listed(missing)} of {this!r}"
                )


def _listed(names: set[Wildcards]) -> str:
    ordered = sorted(map(_shown, names))
    more = f" and {len(ordered) - MOST_NAMED} more" if len(ordered) > MOST_NAMED else ""
    return ", ".join(ordered[:MOST_NAMED]) + more
