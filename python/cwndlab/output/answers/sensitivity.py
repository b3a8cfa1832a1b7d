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
    """Say which key matters most for the total that was asked for, and which hardly do."""
    found = sweep.sensitivity
    if isinstance(found, InputError):
        yield f"{str(found)[0].upper()}{str(found)[1:]}."
        return
    if not found:
        return
    title = titled(sweep.wanted.sensitivity or "").title
    most = max(found, key=lambda each: each.total.mean or 0.0)
    alone, total = (with_interval(share.scaled(100)) for share in (most.alone, most.total))
    yield f"{most.key} matters most for {title}: {alone} % of its variance alone, {total} % with other keys."
    hardly = [each.key for each in found if _upper_end(each) < HARDLY]
    if hardly:
        verb = "matters" if len(hardly) == 1 else "matter"
        yield f"{', '.join(hardly)} hardly {verb}: less than {100 * HARDLY:.0f} %, with other keys."


def _upper_end(indices: KeyIndices) -> float:
    ends = indices.total.interval
    return ends[1] if ends is not None else indices.total.mean or 0.0
