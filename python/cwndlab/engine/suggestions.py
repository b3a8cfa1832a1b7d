"""Suggests corrections for unknown words, by the same rule as in scenario files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.engine.selection import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], otherwise: str, quote: str = "") -> str:
    """Return a suggestion of the nearest known words, as `did you mean bbr1, bbr2 or bbr3?`, or `otherwise`.

    `quote` surrounds each word, for words that may contain spaces.
    """
    near = [f"{quote}{each}{quote}" for each in SHIPPED.nearest(word, list(known))]
    if not near:
        return otherwise
    return f"did you mean {' or '.join([', '.join(near[:-1]), near[-1]] if near[1:] else near)}?"
