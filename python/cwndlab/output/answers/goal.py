"""What is wanted: the measure that is to be best, and limits that others must keep."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output.tables.columns import titled
from cwndlab.results.totals import MORE_IS_BETTER, TOTALS, require_total
from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.until import Until
    from cwndlab.results.wanted import Wanted
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.measure import Measure

LIMIT = re.compile(r"(?P<name>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[0-9.eE+-]+)\s*(?P<unit>\S*)")
# In units of those of the measures.
FACTORS = {
    "Mbit/s": {"kbit/s": 1e-3, "Gbit/s": 1e3},
    "ms": {"us": 1e-3, "s": 1e3},
    "": {"%": 1e-2},
}


@dataclass(frozen=True)
class Limit:
    """A bound of a measure, in the unit of the tables; `is_upper` says on which side."""

    key: str
    bound: float
    is_upper: bool

    def __str__(self) -> str:
        column = titled(self.key)
        return f"{column.title} {'<' if self.is_upper else '>'} {plain(self.bound)} {column.unit}".rstrip()

    def admits(self, known: Measure) -> bool:
        """Whether the mean keeps it."""
        return known.mean is not None and self._is_kept(known.mean)

    def is_sure(self, known: Measure) -> bool:
        """Whether the whole 95 % interval keeps it."""
        ends = known.interval
        return self.admits(known) if ends is None else all(map(self._is_kept, ends))

    def _is_kept(self, value: float) -> bool:
        shown = value * titled(self.key).scale
        return shown < self.bound if self.is_upper else shown > self.bound


@dataclass(frozen=True)
class Goal:
    """The measure that is to be best, among what keeps all limits."""

    best: str = "goodput_mbps"
    limits: tuple[Limit, ...] = field(default=())

    @property
    def more_is_better(self) -> bool:
        """Whether the best value is the greatest."""
        return self.best in MORE_IS_BETTER


def goal(best: str | None, limits: Sequence[str]) -> Goal:
    """Read `--best` and `--limit`. Raises `InputError` if a measure or a unit is unknown."""
    found = tuple(_limit(text) for text in limits)
    return Goal(limits=found) if best is None else Goal(total_named(best, f"--best {best}"), found)


def sensitive(name: str | None) -> str | None:
    """Read `--sensitivity`: return the key of a total. Raises `InputError` if it is unknown."""
    return None if name is None else total_named(name, f"--sensitivity {name}")


def require_totals(asked: Wanted, aim: Until | None, scenarios: Sequence[Scenario]) -> None:
    """Raise `InputError` if these scenarios cannot have a total that is asked for: no run would answer it."""
    named = goal(asked.best, asked.limits)
    wanted = [] if asked.best is None else [(named.best, f"--best {asked.best}")]
    for limit, text in zip(named.limits, asked.limits, strict=True):
        wanted.append((limit.key, f"--limit {text}"))
    if asked.sensitivity is not None:
        wanted.append((asked.sensitivity, f"--sensitivity {titled(asked.sensitivity).title}"))
    if aim is not None:
        wanted.append((aim.key, f"--until {aim.text}"))
    for key, where in wanted:
        require_total(key, where, scenarios)


def _limit(text: str) -> Limit:
    known = LIMIT.fullmatch(text.strip())
    example = 'expected a measure and a bound, as in "delay p95 < 100 ms"'
    if known is None:
        raise InputError(f"--limit {text}: {example}, found {text!r}")
    key = total_named(known["name"], f"--limit {text}")
    try:
        number = float(known["number"])
    except ValueError:
        raise InputError(f"--limit {text}: {example}, found the bound {known['number']!r}") from None
    unit = titled(key).unit
    factors = {unit: 1.0, **FACTORS.get(unit, {})}
    if known["unit"] not in factors:
        expected = ", ".join(each or "no unit" for each in factors)
        raise InputError(f"--limit {text}: expected {expected}, found {known['unit'] or 'no unit'}")
    return Limit(key, number * factors[known["unit"]], known["sign"].startswith("<"))


def total_named(name: str, where: str) -> str:
    """Return the total with this name: its key, with or without the unit, or its heading in the tables."""
    wanted = _plain(name)
    for key in TOTALS:
        column = titled(key)
        words, _, unit = key.rpartition("_")
        names = {key, column.title, *([words] if unit in ("mbps", "ms", "packets") else [])}
        if wanted in map(_plain, names):
            return key
    known = ", ".join(titled(key).title for key in TOTALS)
    raise InputError(f"{where}: expected one of {known}; found {name}")


def _plain(name: str) -> str:
    return name.strip().rstrip(".").replace("_", " ").casefold()
