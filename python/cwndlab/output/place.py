"""The folder that results go to. What it holds of another request is never replaced without a word.

The same request replaces its own results. Another one goes to the next free folder (`two-flows-2`), or, if
the user chose the folder, is an error unless the user also says that it may be replaced.
"""

from __future__ import annotations

import errno
from itertools import count
from typing import TYPE_CHECKING

from cwndlab.errors import InputError, OutputError
from cwndlab.output import about
from cwndlab.output.names import named_as_ours

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.results.request import Request

# Each kind of result has one of these files.
MARKS = ("result.json", "runs.json", "reproduction.json", "differences.json", "training.json")


def prepare(folder: Path) -> None:
    """Make the folder and check that it is writable, before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        # If the disk is full, choosing another folder would not help.
        kind = OutputError if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError
        raise kind(f"--out {folder}: cannot be written ({error.strerror})") from None
    except ValueError as error:
        raise InputError(f"--out {str(folder)!r}: not a valid file name ({error})") from None


def is_free(folder: Path, request: Request) -> bool:
    """Whether a folder holds no result, or one of the same request.

    Versions before `about.json` did not write the request, so their results are of another one. Files that
    have our names without being ours are not replaced either.
    """
    held = about.read(folder)
    if not _has_result(folder):
        return held is not None or not named_as_ours(folder)
    return held is not None and held.request == request


def free(default: Path, request: Request) -> Path:
    """Return the first of the folders `name`, `name-2`, `name-3`, ... that is free for this request."""
    numbered = (default.with_name(f"{default.name}-{number}") for number in count(2))
    return default if is_free(default, request) else next(each for each in numbered if is_free(each, request))


def require_free(folder: Path, request: Request, hint: str) -> None:
    """Raise `InputError` if the folder holds the result of another request."""
    if not is_free(folder, request):
        held = held_in(folder)
        raise InputError(f"{folder}: expected no result or one of the same request, found {held}; {hint}")


def held_in(folder: Path) -> str:
    """Return what a folder holds, in a few words: the command that made it."""
    held = about.read(folder)
    if held is not None:
        return f"the result of `{held.command}`"
    if _has_result(folder):
        return "another result"
    return f"{named_as_ours(folder)[0].relative_to(folder)}, which is of no result"


def _has_result(folder: Path) -> bool:
    try:
        return any((folder / name).exists() for name in MARKS)
    except OSError as error:
        # The name is too long, or leads into a folder that may not be read.
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None
