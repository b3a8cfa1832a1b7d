"""What was probably meant by a word that is not known: the rule is that of the scenario files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.engine.selection import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], otherwise: str, quote: str = "") -> str:
    """Suggest the nearest known words, as `did you mean bbr1, bbr2 or bbr3?`; else say `otherwise`.

    Words that may have blanks stand in quotes.
    """
    near = [f"{quote}{each}{quote}" for each in SHIPPED.nearest(word, list(known))]
    if not near:
        return otherwise
    return f"did you mean {' or '.join([', '.join(near[:-1]), near[-1]] if near[1:] else near)}?"
