"""Describes a trace or a file of delays: its length, its mean, percentiles and outages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from cwndlab.engine import Engine

# Percentiles of the windows; 0 and 100 are the smallest and the largest.
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)
# Windows of rates: a few round trips. Delays have values of their own for each 10 ms.
RATE_WINDOW = "100 ms"
DELAY_WINDOW = "10 ms"

_FORMATS = {
    "mahimahi": "mahimahi's format, {lines:,} opportunities of 1504 bytes",
    "csv": "CSV, {lines:,} values",
    "delays": "{lines:,} delays, one for each {every}",
}
_BARS = "▁▂▃▄▅▆▇█"
# Of the line of bars in a terminal.
WIDTH = 72


@dataclass(frozen=True)
class Replay:
    """What a recording is like. `values` are Mbit/s or ms, one for each window."""

    name: str
    facts: dict[str, Any]
    values: list[float]

    @property
    def is_delay(self) -> bool:
        """Whether it has delays, and not rates."""
        return "delays_ms" in self.facts

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return "ms" if self.is_delay else "Mbit/s"

    @property
    def mean(self) -> float:
        """The mean over the whole recording."""
        return float(self.facts["mean_ms" if self.is_delay else "mean_mbps"])

    @property
    def percentiles(self) -> dict[str, float]:
        """Percentiles of the windows by their names: `min`, `p5` to `p95`, `max`."""
        import numpy as np

        names = {0: "min", 100: "max"}
        values = np.percentile(self.values, PERCENTILES)
        return {names.get(p, f"p{p}"): float(value) for p, value in zip(PERCENTILES, values, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """Return the facts, with percentiles in the place of the single windows."""
        values = "delays_ms" if self.is_delay else "rates_mbps"
        facts = {key: value for key, value in self.facts.items() if key not in (values, "outages")}
        facts[values.replace("s_m", "_m")] = self.percentiles
        if not self.is_delay:
            facts["outages"] = [{"at_s": at, "length_s": length} for at, length in self.facts["outages"]]
        return facts

    def lines(self) -> Iterator[str]:
        """Yield the description, line by line."""
        facts, unit = self.facts, self.unit
        every = _time(facts["every_s"]) if facts.get("every_s") else ""
        what = "delays" if self.is_delay else "trace"
        yield f"{self.name} ({what}): {_FORMATS[facts['format']].format(lines=facts['lines'], every=every)}"
        if facts["length_s"] is None:
            yield f"  lasts without end: {self.mean:.4g} {unit}"
            return
        yield f"  length      {_time(facts['length_s'])}; a run that is longer begins it again"
        yield f"  mean        {self.mean:.4g} {unit}"
        window = _time(facts["window_s"])
        kind = "at the beginning of each window" if self.is_delay else "in windows"
        yield f"  {unit + ' ' + kind} of {window} ({len(self.values):,}):"
        yield "    " + "  ".join(f"{name} {value:.4g}" for name, value in self.percentiles.items())
        if not self.is_delay:
            yield self._outages(window)
        means = self._means(min(WIDTH, len(self.values)))
        yield f"  means of {_time(facts['length_s'] / len(means))}, the full bar is {max(means):.4g} {unit}:"
        yield f"  {_bars(means)}"

    def _outages(self, window: str) -> str:
        outages, share = self.facts["outages"], 100 * self.facts["outage_share"]
        head = f"  outages of at least {window}:"
        if not outages:
            return f"{head} none"
        at, longest = max(outages, key=lambda outage: outage[1])
        number = f"{len(outages):,}, {share:.3g} % of the time"
        return f"{head} {number}; the longest {_time(longest)}, at {_time(at)}"

    def _means(self, pieces: int) -> list[float]:
        """Return the means of equal pieces of the recording."""
        import numpy as np

        return [float(piece.mean()) for piece in np.array_split(np.asarray(self.values), pieces)]

    def figure(self) -> Figure:
        """Draw it over time."""
        from cwndlab.output.drawing.replay import draw_replay

        label = "delay (ms)" if self.is_delay else "rate (Mbit/s)"
        outages: Sequence[tuple[float, float]] = self.facts.get("outages", ())
        window_s = self.facts["window_s"]
        return draw_replay(self.values, window_s, self.mean, label, Path(self.name).name, outages)

    def draw_into(self, path: Path) -> None:
        """Draw it into a file, in the format of its ending. Raises `InputError` for an unknown ending."""
        from cwndlab.output.drawing.formats import FORMATS
        from cwndlab.output.drawing.style import save_as

        if path.suffix.removeprefix(".") not in FORMATS:
            raise InputError(f"--plot {path}: expected a file that ends with .png, .svg or .pdf")
        save_as(self.figure(), path)


def _bars(values: Sequence[float]) -> str:
    """Return a bar for each value, relative to the largest; zero is a blank."""
    top = max(values) or 1.0
    highest = len(_BARS) - 1
    return "".join(_BARS[min(int(value / top * len(_BARS)), highest)] if value else " " for value in values)


def describe(engine: Engine, name: str, window: str | None = None, *, delays: bool = False) -> Replay:
    """Read a trace that ships, or a file. Raises `InputError` with the line of a mistake."""
    window_ns = round(seconds_of("--window", window or (DELAY_WINDOW if delays else RATE_WINDOW)) * 1e9)
    try:
        facts: dict[str, Any] = json.loads(engine.describe_trace(name, window_ns, delays))
    except ValueError as error:
        hint = "" if delays else _hint(str(error))
        raise InputError(f"{error}{hint}") from None
    return Replay(name, facts, facts["delays_ms" if delays else "rates_mbps"])


def _hint(message: str) -> str:
    falls = "must not decrease" in message or "expected a whole number of milliseconds" in message
    return "; if these are delays, add --delays" if falls else ""


def seconds_of(option: str, window: str) -> float:
    """Return a time that an option gives. Raises `InputError` if it is none, or out of range."""
    from cwndlab.scenarios.scenario import seconds

    try:
        found = seconds(window)
    except (KeyError, ValueError):
        found = 0.0
    if not 1e-6 <= found <= 1e6:
        raise InputError(f'{option} {window}: expected a time from "1 us" to "1000000 s", such as "100 ms"')
    return found


def _time(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds * 1000:.4g} ms" if seconds < 1 else f"{seconds:.6g} s"
