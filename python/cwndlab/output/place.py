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


def is_free(folder: Path, request: Request) -> bool:
    """Whether a folder holds no result, or one of the same request.

    Versions before `about.json` did not write the request, so their results are of another one.
    """
    if not any((folder / name).exists() for name in MARKS):
        return True
    held = about.read(folder)
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
    return "another result" if held is None else f"the result of `{held.command}`"
