"""Points of a sweep from a CSV file: its columns are keys of the scenario, its rows are points."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.axis import WITH, Axis, shortened
from cwndlab.scenarios.design import Plan, Row, require_few
from cwndlab.system import reading
from cwndlab.system.given import given_path

if TYPE_CHECKING:
    from collections.abc import Sequence

# Far above any list of points.
MAX_BYTES = 64 * reading.MIB
ENDING = ".csv"
# Before a file whose name does not tell what it is.
MARK = "@"

Line = tuple[int, list[str]]


def named_file(text: str) -> Path | None:
    """Return the file that an `--over` names, as `points.csv` or `@points`; None if it names keys."""
    if text.startswith(MARK):
        return given_path(text[len(MARK) :], f"--over {text}")
    return Path(text) if "=" not in text and text.endswith(ENDING) else None


def points_of(file: Path, folder: Path | None = None) -> Plan:
    """Return the points of a file.

    Values that are paths are shortened in tables; they are those of the current folder, or else of `folder`.
    Raises `InputError` with file and line if it cannot be read, or a row is no point.
    """
    lines = _lines(file)
    if len(lines) < 2:
        found = "no line" if not lines else "only the line of keys"
        raise InputError(f"{file}: expected a line of keys and a line for each point, found {found}")
    (first, keys), *rows = lines
    _check_keys(keys, f"{file}:{first}")
    for line, cells in rows:
        _check_cells(cells, keys, f"{file}:{line}")
    require_few(len(rows), f"--over {file}")
    _check_different(file, rows)
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    axes = tuple(_axis(key, column, folder) for key, column in zip(keys, columns, strict=True))
    points = tuple(
        Row(
            tuple(axis.label(cell) for axis, cell in zip(axes, cells, strict=True)),
            tuple(f"{file}:{line}: {key}" for key in keys),
        )
        for line, cells in rows
    )
    return Plan(axes, points)


def _lines(file: Path) -> list[Line]:
    """Return the cells of each line that has some, with its number."""
    content = reading.read(file, MAX_BYTES, "a CSV file of points")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}:{line}: expected UTF-8, found the byte {content[error.start]:#04x}"
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    lines = []
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                lines.append((reader.line_num, stripped))
    except csv.Error as error:
        raise InputError(f"{file}:{reader.line_num}: expected a line of CSV ({error})") from None
    return lines


def _check_keys(keys: Sequence[str], where: str) -> None:
    for key in keys:
        if not key or WITH in key or "=" in key:
            raise InputError(f"{where}: expected a key of the scenario in each column, found {key!r}")
    if len(set(keys)) < len(keys):
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"{where}: expected different keys, found {repeated} twice")


def _check_cells(cells: Sequence[str], keys: Sequence[str], where: str) -> None:
    if len(cells) != len(keys):
        raise InputError(f"{where}: expected {len(keys)} values, found {len(cells)}")
    for key, cell in zip(keys, cells, strict=True):
        if not cell:
            raise InputError(f"{where}: expected a value of {key}, found none")


def _check_different(file: Path, rows: Sequence[Line]) -> None:
    known: dict[tuple[str, ...], int] = {}
    for line, cells in rows:
        before = known.setdefault(tuple(cells), line)
        if before != line:
            raise InputError(f"{file}:{line}: expected a new point, found that of line {before}")


def _axis(key: str, column: Sequence[str], folder: Path | None) -> Axis:
    values = tuple(dict.fromkeys(column))
    return Axis(key, values, tuple(shortened(values, folder)))
