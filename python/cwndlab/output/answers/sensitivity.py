"""The sentences that say which keys of a sweep matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.output.tables.columns import titled
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.sensitivity import KeyIndices
    from cwndlab.results.sweep import Sweep

# A key whose share is surely below this hardly matters.
HARDLY = 0.05


def of_sensitivity(sweep: Sweep) -> Iterator[str]:
    """Say which key matters most for a total, if the intervals show it, and which keys hardly matter."""
    found = sweep.sensitivity
    if isinstance(found, InputError):
        yield f"{str(found)[0].upper()}{str(found)[1:]}."
        return
    if not found:
        return
    title = titled(sweep.wanted.sensitivity or "").title
    most, *others = sorted(found, key=lambda each: each.total.mean or 0.0, reverse=True)
    alone, total = (with_interval(share.scaled(100)) for share in (most.alone, most.total))
    shares = f"{alone} % of its variance alone, {total} % with other keys"
    rivals = [each.key for each in others if _ends(each)[1] >= _ends(most)[0]]
    if rivals:
        names = " and ".join([most.key, *rivals])
        yield f"Which of {names} matters most for {title} is not shown: their intervals overlap."
        yield f"{most.key} has {shares}."
    else:
        yield f"{most.key} matters most for {title}: {shares}."
    hardly = [each.key for each in found if _ends(each)[1] < HARDLY]
    if hardly:
        verb = "matters" if len(hardly) == 1 else "matter"
        yield f"{', '.join(hardly)} hardly {verb}: less than {100 * HARDLY:.0f} %, with other keys."


def _ends(indices: KeyIndices) -> tuple[float, float]:
    """Return the ends of the interval of a key's share with other keys."""
    known = indices.total.mean or 0.0
    return indices.total.interval or (known, known)
