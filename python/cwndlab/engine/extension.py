"""The file of the extension module."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from cwndlab import _native


@cache
def extension_hash() -> str:
    """SHA-256 of the extension module's file."""
    with Path(str(_native.__file__)).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
