"""Reads and writes lists of seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.system.arguments import WHOLES, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_SEED = 2**64 - 1
MAX_COUNT = 100_000
# Enough for a first look.
DEFAULT_COUNT = 5

_PART = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)


def parse_seeds(text: str) -> list[int]:
    """Read `20` (a count: 1 to 20), `7-7` or `1-20` (a range) or `3,5,8-10` (a list).

    Raises `InputError` for anything else.
    """
    where, compact = f"--seeds {text}", text.replace(" ", "")
    if re.fullmatch(r"\d+", compact, re.ASCII):
        return counted(int(compact), where)
    return listed((seed for part in compact.split(",") for seed in _expand(part, where)), where)


def shown_seeds(seeds: Sequence[int]) -> str:
    """Write seeds as `parse_seeds` reads them: `1-20`, or `3,5,8-10`."""
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], seed]
        else:
            runs.append([seed])
    # A lone number would be read as a count.
    if len(runs) == 1 and len(runs[0]) == 1:
        return f"{seeds[0]}-{seeds[0]}"
    return ",".join("-".join(map(str, run)) for run in runs)


def counted(count: int, where: str = "seeds") -> list[int]:
    """Return the seeds 1 to `count`. Raises `InputError` if `count` is out of range."""
    _require_count(count, where)
    return list(range(1, count + 1))


def listed(seeds: Iterable[int], where: str = "seeds") -> list[int]:
    """Return the seeds as a list. Raises `InputError` if one is no whole number, out of range or repeated."""
    read = list(seeds) if isinstance(seeds, Iterator) else seeds
    require(where, read, WHOLES)
    result = list(map(int, read))
    _require_count(len(result), where)
    known = set()
    for seed in result:
        if not 0 <= seed <= MAX_SEED:
            raise InputError(f"{where}: expected numbers from 0 to {MAX_SEED}, found {seed}")
        if seed in known:
            raise InputError(f"{where}: expected different seeds, found {seed} again")
        known.add(seed)
    return result


def _require_count(count: int, where: str) -> None:
    if not 1 <= count <= MAX_COUNT:
        raise InputError(f"{where}: expected 1 to {MAX_COUNT} seeds, found {count}")


def _expand(part: str, where: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        expected = "a number (20), a range (1-20) or a list (3,5,8-10)"
        raise InputError(f"{where}: expected {expected}, found {part or 'an empty text'}")
    first = int(match[1])
    last = int(match[2] or first)
    if last < first:
        raise InputError(f"{where}: expected a range from the lower to the higher seed, found {part}")
    if last - first >= MAX_COUNT:
        raise InputError(f"{where}: expected at most {MAX_COUNT} seeds, found {last - first + 1}")
    return range(first, last + 1)
