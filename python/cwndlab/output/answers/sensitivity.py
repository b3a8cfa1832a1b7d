"""The sentences that say which keys of a sweep matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output.answers.words import either, subject
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.sensitivity import KeyIndices
    from cwndlab.results.sweep import Sweep

# A key whose share is surely below this hardly matters.
HARDLY = 0.05
# With fewer draws the intervals are too narrow for an order: docs/howto/sample.md has how often it is wrong.
ENOUGH = 32


def of_sensitivity(sweep: Sweep) -> Iterator[str]:
    """Say which key matters most for a total, if the intervals show it, and which keys hardly matter."""
    found = sweep.sensitivity
    if isinstance(found, InputError):
        yield f"{str(found)[0].upper()}{str(found)[1:]}."
        return
    if not found:
        return
    total = subject(sweep.wanted.sensitivity or "")
    if found[0].total.n < ENOUGH:
        yield (
            f"{found[0].total.n} draws are too few to say which key matters for {total}: "
            f"a sample of {ENOUGH} or more is needed."
        )
        return
    most, *others = sorted(found, key=lambda each: each.total.mean or 0.0, reverse=True)
    rivals = [each.key for each in others if _ends(each)[1] >= _ends(most)[0]]
    if rivals:
        names = either([most.key, *rivals])
        yield f"It is not shown whether {names} matters most for {total}: their intervals overlap."
    else:
        yield f"{most.key} matters most for {total}."
    alone, together = (with_interval(share.scaled(100)) for share in (most.alone, most.total))
    yield (
        f"On its own, {most.key} explains {alone} % of the variance of {total}; with its interactions, "
        f"{together} %."
    )
    hardly = [each.key for each in found if _ends(each)[1] < HARDLY]
    if hardly:
        verb = "matters" if len(hardly) == 1 else "matter"
        each = "" if len(hardly) == 1 else " each"
        limit = f"less than {100 * HARDLY:.0f} % of the variance{each}, even with other keys"
        yield f"{', '.join(hardly)} hardly {verb}: {limit}."


def _ends(indices: KeyIndices) -> tuple[float, float]:
    """Return the ends of the interval of a key's share with other keys."""
    known = indices.total.mean or 0.0
    return indices.total.interval or (known, known)
