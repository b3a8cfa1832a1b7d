"""Reads arrivals of packets: CSV with `seconds,bytes`, in order of time, with or without a line of titles."""

from __future__ import annotations

import math

from cwndlab.errors import InputError
from cwndlab.traces.measured import Measured, Piece

# Windows of CSV: packets come one by one.
EVERY_S = 0.1
# The year 9999 as seconds since 1970, and far more than a packet.
_LATEST_S = 2.6e11
_MOST_BYTES = 1e12


def arrivals(text: str) -> Measured:
    """Read the arrivals. Raises `InputError` with the line of a mistake."""
    pieces: list[Piece] = []
    first = 0.0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (number == 1 and _is_title(line)):
            continue
        seconds, size = _row(line, number)
        if not pieces:
            first = seconds
        at = seconds - first
        if pieces and at < pieces[-1].begin_s:
            raise InputError(f"line {number}: {seconds:g} s is before the line above: sort them by time")
        pieces.append(Piece(at, at, size))
    if not any(piece.bytes for piece in pieces):
        raise InputError("expected lines with `seconds,bytes`, found no bytes")
    if pieces[-1].end_s <= 0:
        raise InputError("expected bytes at two times at least, found all at one")
    return Measured(f"{len(pieces):,} arrivals", pieces, EVERY_S)


def _is_title(line: str) -> bool:
    try:
        float(line.split(",")[0])
    except ValueError:
        return True
    return False


def _row(line: str, number: int) -> tuple[float, float]:
    fields = line.split(",")
    try:
        seconds, size = map(float, fields)
    except ValueError:
        raise InputError(f"line {number}: expected `seconds,bytes`, found `{line[:40]}`") from None
    if not (math.isfinite(seconds) and 0 <= seconds <= _LATEST_S):
        raise InputError(f"line {number}: expected a time from 0 to {_LATEST_S:g} s, found {seconds:g} s")
    if not 0 <= size <= _MOST_BYTES:
        raise InputError(f"line {number}: expected from 0 to {_MOST_BYTES:g} bytes, found {size:g}")
    return seconds, size
