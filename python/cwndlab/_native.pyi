"""The simulator: what `crates/py` offers. All strings returned are JSON."""

from typing import Any, Literal, TypedDict

from numpy import float64, uint32
from numpy.typing import NDArray

Column = NDArray[float64]
Counts = NDArray[uint32]

# One value an interval, NaN where the flow did not run: `goodput_mbps`, `cwnd_segments`, `loss_events`,
# then the probes of its algorithm at the end of the interval.
FlowIntervals = dict[str, Column]

class GroupIntervals(TypedDict):
    """One value an interval; NaN before the group's start."""

    goodput_mbps: Column

# Kind, name, measure, the middle of each bucket that is not empty in ms, and how many times lie in it.
Distribution = tuple[
    Literal["flow", "link", "group"],
    str,
    Literal["rtt_ms", "queue_delay_ms", "completion_ms"],
    Column,
    Counts,
]

class Detail(TypedDict):
    """What every run keeps beside its measures.

    `end_s` has the ends of the intervals, and `jain` Jain's index of each second after the warm-up: (end_s,
    jain), NaN where it is not defined.
    """

    end_s: Column
    flows: list[tuple[str, FlowIntervals]]
    groups: list[tuple[str, GroupIntervals]]
    jain: tuple[Column, Column]
    distributions: list[Distribution]

class RunToken:
    """A handle on one running seed, safe to use from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...

def check(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def resolve(text: bytes, file: str, overrides: list[tuple[str, str]]) -> str: ...
def run_seed(
    text: bytes,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int,
    record: bool,
    token: RunToken,
) -> tuple[str, Detail, dict[str, Any] | None]: ...
def catalogue() -> str: ...
def bench_cases() -> list[str]: ...
def bench(case: str, repeats: int) -> str: ...
