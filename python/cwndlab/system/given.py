"""Names of files and folders that somebody gave."""

from __future__ import annotations

import os
from pathlib import Path

from cwndlab.errors import InputError

NO_NAME = "expected a name, found an empty text"


def given_path(given: str | os.PathLike[str], where: str) -> Path:
    """Return a path. Raises `InputError` for an empty text and for bytes that are not UTF-8.

    `Path` takes an empty text, as of a variable that is not set, for the current folder.
    """
    if given == "":
        raise InputError(f"{where}: {NO_NAME}")
    require_utf8(os.fspath(given), f"{where}: ")
    return Path(given)


def require_utf8(text: str, before: str = "") -> None:
    """Raise `InputError` if a text holds other bytes, which no file of ours can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
        raise InputError(f"{before}{shown}: expected UTF-8, found other bytes") from None
