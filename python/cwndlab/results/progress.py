"""How much of a study was done before Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Progress:
    """The finished runs of those asked for, and the variants with any finished run of all."""

    runs: int
    runs_asked: int
    variants: int
    variants_asked: int


def progress(counts: Sequence[tuple[int, int | None]]) -> Progress | None:
    """Return how much was done, from each variant's finished runs and those asked for, if they are known.

    None if they are not known, as after loading.
    """
    asked = [of for _, of in counts if of is not None]
    if len(asked) < len(counts):
        return None
    done = [runs for runs, _ in counts]
    return Progress(sum(done), sum(asked), sum(map(bool, done)), len(done))
