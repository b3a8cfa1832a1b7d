"""Detects that memory ran out, and words the message."""

from __future__ import annotations

import errno
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import CwndlabError

if TYPE_CHECKING:
    from collections.abc import Iterator

# The loader and others report a lack of memory in these words, without a MemoryError.
_SIGNS = ("cannot allocate memory", "failed to map segment", "can't start new thread")
# A library that could not be loaded for lack of memory may fail much later, with any error. If the process
# has used this share of its limit by then, the limit is taken as the cause.
_NEAR = 0.7
# Measured: the libraries that write a result map 1.1 GB with one thread, 1.4 GB with two and 1.9 GB with 32.
# With less, one of them kills the process by a signal, or hangs.
_LEAST = 1_200_000_000
_USUAL_MB = 1900


def require_least() -> None:
    """Raise an error if the limit of the address space leaves no room for the libraries that we load."""
    limit = _limit()
    if limit is not None and limit < _LEAST:
        raise CwndlabError(
            f"not enough memory: `ulimit -v` allows {limit // 1_000_000} MB of address space; "
            f"the libraries of a run need {_LEAST // 1_000_000} to {_USUAL_MB} MB"
        )


def ran_out(error: BaseException) -> bool:
    """Whether a lack of memory is the cause of this error, for certain or most likely."""
    return any(_is_sign(each) for each in _chain(error)) or _limit_is_near()


def message(error: BaseException) -> str:
    """Return one line with the details of the error, and the limit if there is one."""
    details = " ".join(str(error).split())
    kind = "" if isinstance(error, MemoryError) else f"{type(error).__name__}: "
    limit = _limit()
    allowed = "" if limit is None else f"; `ulimit -v` allows {limit // 1_000_000} MB of address space"
    return f"not enough memory{f' ({kind}{details})' if kind or details else ''}{allowed}"


def _is_sign(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    text = str(error).lower()
    return any(sign in text for sign in _SIGNS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _limit() -> int | None:
    """Return the limit of the address space in bytes."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _limit_is_near() -> bool:
    limit, peak = _limit(), _peak()
    return limit is not None and peak is not None and peak > _NEAR * limit


def _peak() -> int | None:
    """Return the largest address space of this process so far, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    peaks = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmPeak:")]
    return peaks[0] if peaks else None
