"""Finds out what a file is, and reads it."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.system import reading
from cwndlab.traces import capture, documents
from cwndlab.traces.arrivals import arrivals

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.engine import Engine
    from cwndlab.traces.measured import Measured

MAX_BYTES = 512 * reading.MIB
EXPECTED = "a capture, the JSON of iperf3 or flent, or CSV with `seconds,bytes`"
_NO_SERIES = "only a file of flent has series"
_GZIP = b"\x1f\x8b"


def read(engine: Engine, path: Path, series: str | None = None) -> Measured:
    """Read a measurement. Raises `InputError`, which names the file, if it is none or has a mistake."""
    if capture.is_capture(path):
        if series is not None:
            raise InputError(f"--series {series}: {_NO_SERIES}")
        return capture.read(engine, path).measured
    content = reading.read(path, MAX_BYTES, EXPECTED)
    try:
        return _measured(content, series)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _measured(content: bytes, series: str | None) -> Measured:
    if content.startswith(_GZIP):
        content = _unpacked(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"expected {EXPECTED}, found no text (byte {error.start + 1})") from None
    if text.lstrip().startswith(("{", "[")):
        return _document(_json(text), series)
    if series is not None:
        raise InputError(f"--series {series}: {_NO_SERIES}")
    return arrivals(text)


def _document(document: Any, series: str | None) -> Measured:
    if isinstance(document, dict) and documents.is_flent(document):
        return documents.flent(document, series)
    if series is not None:
        raise InputError(f"--series {series}: {_NO_SERIES}")
    if isinstance(document, dict) and documents.is_iperf3(document):
        return documents.iperf3(document)
    raise InputError(f"expected {EXPECTED}, found other JSON")


def _unpacked(content: bytes) -> bytes:
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacking.decompress(content, MAX_BYTES)
    except zlib.error as error:
        raise InputError(f"cannot be unpacked ({error})") from None
    if not unpacking.eof:
        raise InputError(
            f"cannot be unpacked: it is cut off, or has more than {MAX_BYTES // reading.MIB} MiB"
        )
    return unpacked


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}: expected JSON, found a mistake in it ({error.msg})") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"expected JSON, found a mistake in it ({error})") from None
