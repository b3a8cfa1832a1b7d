"""What a tool measured, whatever it was: bytes in pieces of time; and the traces that it makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Bytes of one opportunity of mahimahi's format.
OPPORTUNITY = 1504
# A trace that the simulator would not read, or only slowly.
MOST_LINES = 20_000_000

# A measurement shows what was carried. This holds for every one of them.
NOT_CAPACITY = (
    "a measurement shows what was carried, not what could have been: where the sender had too little to send "
    "(application, window or congestion control), the trace is slower than the link"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that were carried from `begin_s` to `end_s`, evenly; or at once, if both are the same."""

    begin_s: float
    end_s: float
    bytes: float


@dataclass(frozen=True)
class Measured:
    """Pieces in order of time, the first at 0 s. `every_s` is the length of CSV windows that suits them."""

    what: str
    pieces: list[Piece]
    every_s: float
    warnings: list[str] = field(default_factory=list)

    @property
    def length_s(self) -> float:
        """The time from the first piece to the end of the last."""
        return self.pieces[-1].end_s

    def mahimahi(self, scale: float = 1.0) -> str:
        """Return an opportunity for each 1504 bytes, at the millisecond in which they are complete.

        If nothing is complete at the end, one more opportunity keeps the length of the cycle.
        """
        total = scale * sum(piece.bytes for piece in self.pieces)
        if total / OPPORTUNITY > MOST_LINES:
            raise InputError(
                f"expected at most {MOST_LINES:,} opportunities, found {total / OPPORTUNITY:,.0f}; "
                "use --to csv"
            )
        end = max(1, _ceiled(self.length_s * 1000))
        lines = [min(end, _ceiled(1000 * at)) for at in self._opportunities(scale)]
        if not lines or lines[-1] < end:
            lines.append(end)
        return "".join(f"{ms}\n" for ms in lines)

    def _opportunities(self, scale: float) -> Iterator[float]:
        """Yield when each 1504 bytes are complete."""
        waiting = 0.0
        for piece in self.pieces:
            left = scale * piece.bytes
            per_byte = (piece.end_s - piece.begin_s) / left if left else 0.0
            at = piece.begin_s
            while waiting + left >= OPPORTUNITY:
                needed = OPPORTUNITY - waiting
                left, waiting, at = left - needed, 0.0, at + needed * per_byte
                yield at
            waiting += left

    def csv(self, every_s: float | None = None, scale: float = 1.0) -> str:
        """Return the rate of each whole window, in Mbit/s. A rest that is shorter is left out."""
        every = min(every_s or self.every_s, self.length_s)
        windows = max(1, int(self.length_s / every + 1e-6))
        if windows > MOST_LINES:
            raise InputError(
                f"expected at most {MOST_LINES:,} windows, found {windows:,}; use a longer --every"
            )
        carried = [0.0] * windows
        for piece in self.pieces:
            for window, share in _shares(piece, every):
                if window < windows:
                    carried[window] += scale * piece.bytes * share
        rows = (f"{_plain(n * every)},{_plain(8e-6 * each / every)}\n" for n, each in enumerate(carried))
        return "seconds,Mbit/s\n" + "".join(rows)


def _shares(piece: Piece, every: float) -> Iterator[tuple[int, float]]:
    """Yield the windows that a piece is in, with its share in each."""
    length = piece.end_s - piece.begin_s
    if length <= 0:
        yield int(piece.begin_s / every), 1.0
        return
    at = piece.begin_s
    window = int(at / every)
    while at < piece.end_s:
        until = min(piece.end_s, max((window + 1) * every, at))
        yield window, (until - at) / length
        at, window = until, window + 1


def _ceiled(ms: float) -> int:
    """Round up, but for the error of a sum."""
    return -int(-(ms - 1e-6) // 1)


def _plain(number: float) -> str:
    """Return a number with six decimals at most, and never as 1e-05."""
    return f"{number:.6f}".rstrip("0").rstrip(".")
