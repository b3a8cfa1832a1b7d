"""Files that we write: whole under their names, or not there at all.

A file is written beside its place and renamed into it. If the disk is full, or anything else goes wrong, what
was written is deleted, and `OutputError` tells the file and the reason.
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
    """Open a file to write to; it takes its name when it is complete.

    A durable one is on the disk by then: after a power cut it is whole or not there.
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
    """Write a file of text in UTF-8."""
    write_bytes(path, text.encode())


def make_folder(path: Path) -> None:
    """Make a folder, and those above it."""
    with failures_of(path):
        path.mkdir(parents=True, exist_ok=True)


def remove(path: Path) -> None:
    """Delete a file if it is there."""
    with failures_of(path):
        path.unlink(missing_ok=True)


@contextmanager
def failures_of(path: Path) -> Iterator[None]:
    """Raise what the system refuses as an `OutputError` about this file."""
    try:
        yield
    except OSError as error:
        raise OutputError.of(path, error) from None


class _Raw(io.FileIO):
    """The file under its buffer. It keeps its failure, for libraries make errors of their own of it."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            raise


class _Part(io.BufferedWriter):
    """A file in the making. Its class is not `BufferedWriter`: to one of these polars writes past Python."""

    def __init__(self, path: Path) -> None:
        self._file = _Raw(path, "x")
        super().__init__(self._file)

    @property
    def failure(self) -> OSError | None:
        """Why it could not be written."""
        return self._file.failure
