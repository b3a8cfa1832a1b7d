"""Reads the JSON of iperf3 and of flent. Each mistake is an `InputError` that names the key."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.traces.measured import Measured, Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

# Times that touch, but for rounding.
_ROUNDING_S = 0.01
# A year, and a petabit: beyond any measurement.
_LATEST_S = 4e7
_MOST_BYTES = 1e15

_PAYLOAD = (
    "{tool} counts payload, without headers: with segments of 1448 bytes and timestamps, the link carried "
    "1.036 times as much (--scale 1.036)"
)


def is_iperf3(document: dict[str, Any]) -> bool:
    """Whether a document is that of `iperf3 --json`."""
    return "intervals" in document and "start" in document


def is_flent(document: dict[str, Any]) -> bool:
    """Whether a document is a data file of flent."""
    return "x_values" in document and "results" in document


def iperf3(document: dict[str, Any]) -> Measured:
    """Read the intervals of `iperf3 --json`, those of the receiver if the document has them."""
    if document.get("error"):
        raise InputError(f"iperf3 failed: {document['error']}")
    server = document.get("server_output_json")
    where, of_server = "", False
    if isinstance(server, dict) and "intervals" in server and _sends(document):
        document, where, of_server = server, "server_output_json.", True
    intervals = _list(document["intervals"], f"{where}intervals")
    pieces = [
        piece
        for n, each in enumerate(intervals)
        if (piece := _interval(each, f"{where}intervals[{n}].sum")) is not None
    ]
    _ordered(pieces, f"{where}intervals")
    warnings = [_PAYLOAD.format(tool="iperf3")]
    if not of_server and _sends(document):
        warnings.append(
            "these are the sender's intervals: what it gave to its socket, which the buffer there smooths; "
            "use --get-server-output or -R"
        )
    side = "receiver" if of_server or not _sends(document) else "sender"
    return _measured(f"iperf3, {len(pieces)} intervals of the {side}", pieces, warnings)


def _sends(document: dict[str, Any]) -> bool:
    """Whether the intervals of a document are those of a sender."""
    intervals = document.get("intervals")
    first = intervals[0] if isinstance(intervals, list) and intervals else None
    total = first.get("sum") if isinstance(first, dict) else None
    return isinstance(total, dict) and total.get("sender") is True


def _interval(interval: Any, key: str) -> Piece | None:
    """Return the bytes of all streams in an interval; those that `iperf3 -O` omits are not counted."""
    total = interval.get("sum") if isinstance(interval, dict) else None
    if not isinstance(total, dict):
        raise InputError(f"{key}: expected an object, found {_shown(total)}")
    if total.get("omitted") is True:
        return None
    begin, end = (_number(total.get(name), f"{key}.{name}", _LATEST_S) for name in ("start", "end"))
    carried = _number(total.get("bytes"), f"{key}.bytes", _MOST_BYTES)
    if end <= begin:
        raise InputError(f"{key}.end: expected a time after {begin:g} s, found {end:g} s")
    return Piece(begin, end, carried)


def _ordered(pieces: Sequence[Piece], key: str) -> None:
    for before, after in pairwise(pieces):
        if after.begin_s < before.end_s - _ROUNDING_S:
            raise InputError(
                f"{key}: expected intervals that follow each other, found one that begins at "
                f"{after.begin_s:g} s, before {before.end_s:g} s"
            )


def flent(document: dict[str, Any], series: str | None = None) -> Measured:
    """Read one series of a data file of flent, in Mbit/s. It must be named if there are several."""
    results = document["results"]
    if not isinstance(results, dict) or not results:
        raise InputError(f"results: expected an object with series, found {_shown(results)}")
    if series is None and len(results) > 1:
        raise InputError(f"expected --series NAME, one of: {', '.join(map(str, results))}")
    name = next(iter(results)) if series is None else series
    if name not in results:
        raise InputError(f"--series {name}: expected one of {', '.join(map(str, results))}")
    _check_unit(document, name)
    times = _list(document["x_values"], "x_values")
    values = _list(results[name], f"results.{name}")
    if len(times) != len(values):
        raise InputError(f"results.{name}: expected {len(times)} values as in x_values, found {len(values)}")
    return _series(name, times, values)


def _check_unit(document: dict[str, Any], name: str) -> None:
    about: Any = document
    for key in ("metadata", "SERIES_META", name, "UNITS"):
        about = about.get(key) if isinstance(about, dict) else None
    if isinstance(about, str) and not about.startswith("Mbit"):
        raise InputError(f"--series {name}: expected a series in Mbits/s, found one in {about}")


def _series(name: str, times: list[Any], values: list[Any]) -> Measured:
    present = [n for n, value in enumerate(values) if value is not None]
    if len(present) < 2:
        raise InputError(f"results.{name}: expected at least two values, found {len(present)}")
    kept = range(present[0], present[-1] + 1)
    at = [_number(times[n], f"x_values[{n}]", _LATEST_S) for n in kept]
    for n, (before, after) in enumerate(pairwise(at), kept.start + 1):
        if after <= before:
            raise InputError(f"x_values[{n}]: expected a time after {before:g} s, found {after:g} s")
    rates: list[float] = []
    for n in kept:
        value = values[n]
        # Nothing was measured here.
        rates.append(
            rates[-1] if value is None else _number(value, f"results.{name}[{n}]", _MOST_BYTES / 1e6)
        )
    ends = [*at[1:], at[-1] + (at[-1] - at[-2])]
    pieces = [
        Piece(begin, end, 125_000 * rate * (end - begin))
        for begin, end, rate in zip(at, ends, rates, strict=True)
    ]
    warnings = [_PAYLOAD.format(tool="flent")]
    if missing := len(kept) - len(present):
        warnings.append(f"{missing} values are missing: the one before each holds on")
    return _measured(f"flent, {len(pieces)} values of {name}", pieces, warnings)


def _measured(what: str, pieces: list[Piece], warnings: list[str]) -> Measured:
    if not pieces:
        raise InputError("expected intervals, found none")
    if not any(piece.bytes for piece in pieces):
        raise InputError("expected some bytes, found none in any interval")
    first = pieces[0].begin_s
    moved = [Piece(each.begin_s - first, each.end_s - first, each.bytes) for each in pieces]
    # Clocks of tools are a little off a whole tenth of a second.
    every = round(median(each.end_s - each.begin_s for each in moved), 2)
    return Measured(what, moved, every or 0.01, warnings)


def _list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{key}: expected a list, found {_shown(value)}")
    return value


def _number(value: Any, key: str, most: float) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not math.isfinite(value) or not 0 <= value <= most:
        raise InputError(f"{key}: expected a number from 0 to {most:g}, found {_shown(value)}")
    return float(value)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
