"""Packet captures of bulk transfers: arrivals for a trace, and a table of losses, timeouts and RTT peaks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.statistics.numbers import counted
from cwndlab.system.reading import is_file
from cwndlab.traces.arrivals import EVERY_S
from cwndlab.traces.measured import Measured, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cwndlab.engine import Engine

# pcap with microseconds and nanoseconds, in either order of bytes; pcapng.
_MAGIC = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)

_FROM_ACKS = (
    "the capture was made beside the sender, so the arrivals are those that ACKs report: late or lost ACKs "
    "make them burstier, and packets that arrived twice are missing"
)
_OTHERS = (
    "the capture has {n} TCP connections, and only the one with the most data counts: what others carried "
    "is missing"
)


@dataclass(frozen=True)
class Capture:
    """What a capture shows of the connection with the most data."""

    name: str
    facts: dict[str, Any]
    pieces: list[Piece]

    @property
    def measured(self) -> Measured:
        """The arrivals, for a trace. Raises `InputError` if there are too few."""
        if not self.pieces or self.pieces[-1].end_s <= 0:
            raise InputError(f"{self.name}: expected arrivals of data at two times at least")
        warnings = [_FROM_ACKS] if self.facts["captured_at"] == "sender" else []
        if self.facts["connections"] > 1:
            warnings.append(_OTHERS.format(n=self.facts["connections"]))
        return Measured(f"{len(self.pieces):,} arrivals of data", self.pieces, EVERY_S, warnings)

    def to_json(self) -> dict[str, Any]:
        """Return the facts; each loss has its time and its kind."""
        losses = [{"at_s": at, "kind": kind} for at, kind in self.facts.get("losses", ())]
        return self.facts | ({"losses": losses} if "losses" in self.facts else {})

    def lines(self) -> Iterator[str]:
        """Yield the description, line by line."""
        facts = self.facts
        connections = counted(facts["connections"], "TCP connection")
        yield f"{self.name} (capture): {facts['packets']:,} packets, {connections}"
        yield f"  most data     {facts['from']} to {facts['to']}, captured beside the {facts['captured_at']}"
        payload = facts["payload_bytes"]
        rate = f", {8e-6 * payload / facts['length_s']:.4g} Mbit/s" if facts["length_s"] > 0 else ""
        yield f"  length        {facts['length_s']:.6g} s"
        yield f"  data          {facts['data_segments']:,} segments, {payload / 1e6:.4g} MB of payload{rate}"
        if facts["captured_at"] == "receiver":
            yield "  Losses and RTTs show only in a capture that was made beside the sender."
            return
        yield from self._table()

    def _table(self) -> Iterator[str]:
        facts = self.facts
        if facts["rtt_samples"]:
            yield f"  RTT           mean {facts['rtt_ms']:.4g} ms, least {facts['rtt_min_ms']:.4g} ms"
        yield f"  sent again    {counted(facts['retransmitted_packets'], 'segment')}"
        yield f"  {'':22}{'all':>9}{'at a peak of the RTT':>23}"
        peaks = {
            "RTT samples": (facts["rtt_samples"], facts["rtt_peaks"]),
            "timeouts": (facts["timeouts"], facts["timeouts_at_peak"]),
            "fast recoveries": (facts["fast_recoveries"], facts["fast_recoveries_at_peak"]),
        }
        for name, (every, at_peak) in peaks.items():
            yield f"  {name:22}{every:>9,}{at_peak:>23,}"
        for name, key in (("tail loss probes", "tail_loss_probes"), ("unclear", "unclear_retransmissions")):
            yield f"  {name:22}{facts[key]:>9,}"


def is_capture(path: Path) -> bool:
    """Return whether a regular file begins as a capture does."""
    if not is_file(path):
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) in _MAGIC
    except OSError:
        return False


def read(engine: Engine, path: Path) -> Capture:
    """Read a capture. Raises `InputError` if it is damaged, or has no TCP data."""
    try:
        facts, at_ns, sizes = engine.read_capture(str(path))
    except ValueError as error:
        raise InputError(str(error)) from None
    first = at_ns[0] if at_ns else 0
    times = ((each - first) / 1e9 for each in at_ns)
    return Capture(
        str(path), json.loads(facts), [Piece(at, at, size) for at, size in zip(times, sizes, strict=True)]
    )
