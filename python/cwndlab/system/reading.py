"""Reading whole files: never a pipe that nobody fills, and of a file that a user names never too much."""

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
# What this process was started with: who connected a pipe to it is filling it (`| cwndlab check /dev/stdin`).
_STDIN = Path("/dev/stdin")
_DESCRIPTORS = (Path("/dev/fd"), Path("/proc/self/fd"))


def read(path: Path, limit: int, expected: str, instead: Path | None = None) -> bytes:
    """Read a file of at most `limit` bytes; `expected` is what it should be, as `a scenario file (.toml)`.

    Raises `InputError` if that cannot be. Where there is nothing, `instead` is suggested.
    """
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or _is_open(path)):
            raise InputError(f"{path}: is a {_kind(mode)}; expected {expected}")
        with path.open("rb") as file:
            content = _read_up_to(limit + 1, file)
    except FileNotFoundError:
        hint = f"expected {expected}" if instead is None else f"did you mean {instead}?"
        raise InputError(f"{path}: no such file; {hint}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        # A zero byte, or what no file name can be encoded from.
        raise InputError(f"{str(path)!r}: is no file name ({error})") from None
    if len(content) > limit:
        raise InputError(f"{path}: has more than {limit // MIB} MiB; expected {expected}")
    return content


def read_regular(path: Path) -> bytes:
    """The content of a file of ours; anything but a regular file at this place is an `OSError`.

    Something else may have damaged or replaced it: a pipe without a writer would block, and a device may have
    no end.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read()


def _is_open(path: Path) -> bool:
    return path == _STDIN or path.parent in _DESCRIPTORS


def _read_up_to(count: int, file: BinaryIO) -> bytes:
    """Piece by piece: a call for all of a large limit would ask for its memory first."""
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
