"""How much memory runs need, and how much there is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.running.pool import available_cores
from cwndlab.scenarios.scenario import seconds
from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cwndlab.results.recording import Record
    from cwndlab.scenarios.scenario import Scenario

# What needs more than this share of the memory is warned of.
WARNED_SHARE = 0.5

# Bytes of resident memory at the peak, measured on 2026-11-22 (Linux, Python 3.11; docs/speed.md).
# Python with its libraries, when figures have been drawn.
BASE = 200e6
# Of each seed, with 10^4 to 10^5 flows: a sender (flow, subflow, transfer that is there at once) with its
# measures, intervals, distributions and rows in the tables; and a direction of a link with a rate.
SENDER = 9_500
DIRECTION = 8_000
# Of each run at a time: a packet that is sent and not yet acknowledged. 250 to 350 with 0.17 to 0.67 million.
PACKET = 350
# Of each recorded seed: a sender or a direction, and one value of it. With 1000 to 10^5 flows.
RECORDED = 2_400
VALUE = 30

# What the recorder keeps at most (crates/sim/src/record.rs), and columns of a component.
MOST_VALUES = 4_000_000
MOST_SAMPLES = 10_000
COLUMNS = 9


@dataclass(frozen=True)
class Memory:
    """The memory that this process may use, and what of the machine's is free, in bytes."""

    total: float
    free: float


def needed(scenarios: Sequence[Scenario], seeds: int, record: Record, threads: int | None) -> float:
    """About how many bytes it takes to run these scenarios with so many seeds, and to save them."""
    at_once = min(threads or available_cores(), seeds * len(scenarios))
    packets = max((scenario.packets_held for scenario in scenarios), default=0)
    recorded = sum(record.holds(index) for index in range(seeds))
    kept = sum(seeds * _kept(scenario) + recorded * _recorded(scenario) for scenario in scenarios)
    return BASE + at_once * packets * PACKET + kept


def warning(scenarios: Sequence[Scenario], seeds: int, record: Record, threads: int | None) -> str | None:
    """What to tell if that is more than half of the memory, or than what is free."""
    there = memory()
    if there is None:
        return None
    need = needed(scenarios, seeds, record, threads)
    if need <= min(WARNED_SHARE * there.total, there.free):
        return None
    count = seeds * len(scenarios)
    runs = f"{counted(count, 'run')} {'needs' if count == 1 else 'need'}"
    return (
        f"{runs} about {_gigabytes(need)} of memory; there are {_gigabytes(there.total)}, "
        f"{_gigabytes(there.free)} of them free; fewer seeds need less"
    )


def memory(root: Path = Path("/")) -> Memory | None:
    """The machine's memory, or a control group's limit if that is less; None if the system tells nothing."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return _by_pages()
    told = {line.partition(":")[0]: line.partition(":")[2].split()[:1] for line in lines}
    try:
        total, free = (1024 * int(told[key][0]) for key in ("MemTotal", "MemAvailable"))
    except (KeyError, IndexError, ValueError):
        return None
    total = min([total, *_limits(root)])
    return Memory(total, min(total, free))


def _by_pages() -> Memory | None:
    """What systems without /proc tell."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
    return Memory(total, total) if total > 0 else None


def _limits(root: Path) -> Iterator[int]:
    """The limits of the control groups that this process is in, of either version."""
    groups = root / "sys/fs/cgroup"
    own = _group(root)
    for folder in (own, *own.parents):
        yield from _limit(groups / folder / "memory.max")
    yield from _limit(groups / "memory/memory.limit_in_bytes")


def _group(root: Path) -> Path:
    """The control group of this process, relative to the top; in a container that is the top."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return Path()
    paths = (line.removeprefix("0::").lstrip("/") for line in lines if line.startswith("0::"))
    return Path(next(paths, ""))


def _limit(path: Path) -> Iterator[int]:
    try:
        text = path.read_text().strip()
    except OSError:
        return
    # `max` where there is none.
    if text.isdecimal():
        yield int(text)


def _kept(scenario: Scenario) -> float:
    return scenario.senders * SENDER + scenario.directions * DIRECTION


def _recorded(scenario: Scenario) -> float:
    """Transfers of arrival processes are not recorded; to count them does no harm."""
    components = scenario.senders + scenario.directions
    samples = min(MOST_SAMPLES, scenario.duration_s / seconds(scenario.resolved["record"]["interval"]))
    return components * RECORDED + min(MOST_VALUES, components * COLUMNS * samples) * VALUE


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
