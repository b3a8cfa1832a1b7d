"""How the points of a sweep were chosen, and the points as labels of values."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from cwndlab.scenarios.axis import Axis

# More points are a typing error.
MAX_POINTS = 100_000


class Method(StrEnum):
    """How points are chosen: all combinations, the rows of files, or drawn from ranges.

    `SALTELLI` draws two samples and mixes them, which shows how much each key matters.
    """

    GRID = "grid"
    FILE = "file"
    LHS = "lhs"
    SOBOL = "sobol"
    SALTELLI = "saltelli"


# The methods of `--design`.
DRAWING = (Method.LHS, Method.SOBOL)


@dataclass(frozen=True, slots=True)
class Design:
    """How the points of a sweep were chosen.

    `over` has what `--over` was given, unless it is a grid. `size` points were drawn with `seed`. `order` has
    the place of the point at each row of Saltelli's design; a point may stand in several rows.
    """

    method: Method = Method.GRID
    over: tuple[str, ...] = ()
    size: int | None = None
    seed: int | None = None
    order: tuple[int, ...] = ()

    @property
    def is_grid(self) -> bool:
        """Whether every value of a key meets every value of the others."""
        return self.method is Method.GRID

    @property
    def words(self) -> list[str]:
        """The words of a command line that choose these points; none for a grid."""
        over = [word for text in self.over for word in ("--over", text)]
        if self.size is None:
            return over
        return [*over, *self._drawing, "--sample-seed", str(self.seed)]

    @property
    def _drawing(self) -> list[str]:
        design = ["--design", self.method] if self.method in DRAWING else []
        return ["--sample", str(self.size), *design]

    def to_json(self) -> dict[str, Any]:
        """Return it as a part of a document."""
        return {
            "method": self.method,
            "over": list(self.over),
            "size": self.size,
            "seed": self.seed,
            **({"order": list(self.order)} if self.order else {}),
        }


GRID = Design()


def design(stored: Mapping[str, Any] | None) -> Design:
    """Return the design of a document. Those of older versions are grids."""
    if stored is None:
        return GRID
    return Design(
        Method(stored["method"]),
        tuple(stored["over"]),
        stored["size"],
        stored["seed"],
        tuple(stored.get("order", ())),
    )


@dataclass(frozen=True, slots=True)
class Row:
    """The label of a value on each axis, and where each value stands, for messages."""

    labels: tuple[str, ...]
    places: tuple[str, ...]

    def beside(self, other: Row) -> Row:
        """Return the row with the values of both."""
        return Row(self.labels + other.labels, self.places + other.places)

    def with_label(self, number: int, label: str) -> Row:
        """Return the row with another value on one axis."""
        return Row((*self.labels[:number], label, *self.labels[number + 1 :]), self.places)


@dataclass(frozen=True, slots=True)
class Plan:
    """The axes of a sweep, and the points over them, no two of which are equal."""

    axes: tuple[Axis, ...]
    rows: tuple[Row, ...]
    design: Design = field(default=GRID)


def gridded(axes: Sequence[Axis]) -> Plan:
    """Return all combinations of the axes' values; the last axis changes fastest."""
    return combined([along(axis) for axis in axes])


def along(axis: Axis) -> Plan:
    """Return the values of one axis as a plan."""
    places = (f"--over {axis.key}",)
    return Plan((axis,), tuple(Row((label,), places) for label in axis.labels))


def combined(plans: Sequence[Plan], design: Design = GRID) -> Plan:
    """Return all combinations of the plans' points.

    Raises `InputError` if they share a key, or if there are too many.
    """
    require_different([axis for plan in plans for axis in plan.axes], "--over")
    require_few(math.prod(len(plan.rows) for plan in plans), "--over")
    rows = [Row((), ())]
    for plan in plans:
        rows = [row.beside(more) for row, more in itertools.product(rows, plan.rows)]
    return Plan(tuple(axis for plan in plans for axis in plan.axes), tuple(rows), design)


def require_different(axes: Sequence[Axis], option: str) -> None:
    """Raise `InputError` if two axes vary the same key."""
    keys = [key for axis in axes for key in axis.keys]
    if len(set(keys)) < len(keys):
        raise InputError(f"{option}: a key is repeated")


def require_few(count: int, options: str) -> None:
    """Raise `InputError` if there are more points than anybody wants."""
    if count > MAX_POINTS:
        raise InputError(f"{options}: expected at most {MAX_POINTS} combinations, found {count}")
