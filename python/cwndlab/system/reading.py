"""Reads whole files. It never waits for a pipe without a writer, and never reads more than a limit."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from typing import BinaryIO

MIB = 2**20
_CHUNK = MIB
# The descriptors that this process inherited. A pipe among them has a writer (`| cwndlab check /dev/stdin`).
_STDIN = Path("/dev/stdin")
_DESCRIPTORS = (Path("/dev/fd"), Path("/proc/self/fd"))


def read(path: Path, limit: int, expected: str, instead: str | None = None) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises `InputError` if it cannot. The message says what was `expected`, such as `a scenario file (.toml)`;
    if there is no such file, it suggests `instead`.
    """
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or _is_open(path)):
            raise InputError(f"{path}: expected {expected}, found a {_kind(mode)}")
        with path.open("rb") as file:
            content = _read_up_to(limit + 1, file)
    except FileNotFoundError:
        hint = f"expected {expected}" if instead is None else f"did you mean {instead}?"
        raise InputError(f"{path}: no such file; {hint}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        # A zero byte, or characters that a file name cannot encode.
        raise InputError(f"{str(path)!r}: not a valid file name ({error})") from None
    if len(content) > limit:
        raise InputError(f"{path}: expected {expected}, found more than {limit // MIB} MiB")
    return content


def read_regular(path: Path) -> bytes:
    """Return the content of one of our own files. Raises `OSError` if it is not a regular file.

    Another program may have damaged or replaced it. A pipe without a writer would block, and a device may
    have no end.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read()


def is_file(path: Path) -> bool:
    """Return whether this is a regular file. A name that is too long, or cannot be followed, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _is_open(path: Path) -> bool:
    return path == _STDIN or path.parent in _DESCRIPTORS


def _read_up_to(count: int, file: BinaryIO) -> bytes:
    """Read in chunks. A single call would allocate memory for the whole limit first."""
    content = bytearray()
    while piece := file.read(min(_CHUNK, count - len(content))):
        content += piece
    return bytes(content)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
