"""Reads how precise a total is to become: `goodput ±1 %`, `delay p95 ±2 ms`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output.answers.goal import FACTORS, total_named
from cwndlab.output.tables.columns import titled
from cwndlab.results.until import Until
from cwndlab.statistics.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_WRITTEN = re.compile(r"(?P<name>.+?)\s*(?:±|\+-|\+/-)\s*(?P<number>[0-9.eE+-]+)\s*(?P<unit>\S*)")
SHARE = "%"


def precision(text: str, seeds: Sequence[int]) -> Until:
    """Read `--until`. A percentage is a share of the mean.

    Raises `InputError` if a measure or a unit is unknown, or the seeds are too few to estimate anything.
    """
    where = f"--until {text}"
    found = _WRITTEN.fullmatch(text.strip())
    example = 'expected a total and a half-width, as in "goodput ±1 %" or "delay p95 +-2 ms"'
    if found is None:
        raise InputError(f"{where}: {example}, found {text!r}")
    key = total_named(found["name"], where)
    try:
        number = float(found["number"])
    except ValueError:
        raise InputError(f"{where}: {example}, found the half-width {found['number']!r}") from None
    if not 0 < number < float("inf"):
        raise InputError(f"{where}: expected a finite half-width above 0, found {found['number']}")
    if len(seeds) < 2:
        raise InputError(f"{where}: expected --seeds with 2 seeds or more, found {len(seeds)}")
    column = titled(key)
    factors = {column.unit: 1.0, **FACTORS.get(column.unit, {}), SHARE: 1e-2}
    if found["unit"] not in factors:
        expected = ", ".join(each or "no unit" for each in factors)
        raise InputError(f"{where}: expected {expected}, found {found['unit'] or 'no unit'}")
    is_share = found["unit"] == SHARE
    half_width = number * factors[found["unit"]]
    shown = f"{plain(number)} %" if is_share else f"{plain(half_width)} {column.unit}".rstrip()
    return Until(f"{column.title} ±{shown}", key, half_width, is_share, tuple(seeds))
