"""The distance of each reading from the numbers of a paper, which shows the answer that fits them best."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cwndlab.papers.contents.readings import Reading
    from cwndlab.papers.judging.evaluation import Evaluated, Row


@dataclass(frozen=True)
class Closeness:
    """The rows measured in a reading, and the root mean square of ours minus the paper's, in `unit`.

    Only plain quantities of the most frequent unit count, because a difference would count its parts twice.
    """

    reading: Reading
    rows: list[Row]
    distance: float
    unit: str


def closeness(evaluated: Iterable[Evaluated]) -> list[Closeness]:
    """Return the closeness of each reading with measured rows, over the rows that all of them share.

    Left out are readings of some claims only, which lack most rows, and those that were fitted to the rows.
    """
    measured = [
        (each.reading, {row.target.id: row for row in each.rows if _counts(row)})
        for each in evaluated
        if not each.reading.only and not each.reading.fitted
    ]
    known = [(reading, rows) for reading, rows in measured if rows]
    if not known:
        return []
    common = [key for key in known[0][1] if all(key in rows for _, rows in known)]
    units = Counter(known[0][1][key].target.unit for key in common)
    if not units:
        return []
    [(unit, _)] = units.most_common(1)
    shown = [key for key in common if known[0][1][key].target.unit == unit]
    return [
        Closeness(reading, [rows[key] for key in shown], _distance([rows[key] for key in shown]), unit)
        for reading, rows in known
    ]


def _counts(row: Row) -> bool:
    target = row.target
    return (
        row.ours is not None and target.number is not None and bool(target.effect and target.effect.is_plain)
    )


def _distance(rows: Sequence[Row]) -> float:
    gaps = [row.ours.value - (row.target.number or 0) for row in rows if row.ours is not None]
    return math.sqrt(sum(gap * gap for gap in gaps) / len(gaps))
