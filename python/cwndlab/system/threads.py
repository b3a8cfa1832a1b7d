"""How many threads a caller may ask for."""

from __future__ import annotations

import operator

from cwndlab.errors import InputError

# More than any machine has cores. Each thread takes address space.
MOST = 10_000


def checked_threads(threads: int | None) -> int | None:
    """Return a number of threads, or None for all cores. Raises `InputError` if it is none."""
    if threads is None:
        return None
    try:
        count = operator.index(threads)
    except TypeError:
        raise InputError(f"threads={threads!r}: expected an integer from 1 to {MOST}") from None
    if not 1 <= count <= MOST:
        raise InputError(f"threads={threads!r}: expected 1 to {MOST}")
    return count
