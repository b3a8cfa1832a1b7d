"""Writes files that are either complete or absent.

A file is written under a temporary name in the same folder, then renamed. If the disk is full, or anything
else goes wrong, the temporary file is deleted, and `OutputError` names the file and the reason.
"""

from __future__ import annotations

import io
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO


@contextmanager
def whole(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing. It gets its name when it is complete.

    A durable file is on the disk by then, so a power cut leaves it complete or absent.
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    with failures_of(path):
        file = _Part(part)
    try:
        try:
            yield file
        except BaseException:
            if file.failure is not None:
                raise OutputError.of(path, file.failure) from None
            raise
        with failures_of(path):
            file.flush()
            if durable:
                os.fsync(file.fileno())
            file.close()
            part.replace(path)
    except BaseException:
        with suppress(OSError):
            file.close()
        with suppress(OSError):
            part.unlink()
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file."""
    with whole(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8."""
    write_bytes(path, text.encode())


def make_folder(path: Path) -> None:
    """Make a folder and its parents."""
    with failures_of(path):
        path.mkdir(parents=True, exist_ok=True)


def remove(path: Path) -> None:
    """Delete a file if it is there."""
    with failures_of(path):
        path.unlink(missing_ok=True)


@contextmanager
def failures_of(path: Path) -> Iterator[None]:
    """Raise system errors as `OutputError` for this file."""
    try:
        yield
    except OSError as error:
        raise OutputError.of(path, error) from None


class _Raw(io.FileIO):
    """The file under its buffer. It keeps its failure because libraries raise errors of their own instead."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            raise


class _Part(io.BufferedWriter):
    """An unfinished file. It is a subclass because polars bypasses Python when given a `BufferedWriter`."""

    def __init__(self, path: Path) -> None:
        self._file = _Raw(path, "x")
        super().__init__(self._file)

    @property
    def failure(self) -> OSError | None:
        """The error of the last write, if it failed."""
        return self._file.failure
