"""Estimates how much memory runs need, and reads how much there is."""

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

# Runs that need more than this share of the memory cause a warning.
WARNED_SHARE = 0.5

# Bytes of resident memory at the peak, measured on 2026-11-22 (Linux, Python 3.11; docs/speed.md).
# Python with its libraries, after drawing figures.
BASE = 200e6
# For each seed, with 10^4 to 10^5 flows: a sender (flow, subflow, concurrent transfer) with its measures,
# intervals, distributions and rows in the tables; and a direction of a link with a rate.
SENDER = 9_500
DIRECTION = 8_000
# For each concurrent run: a packet sent and not yet acknowledged. 250 to 350 with 0.17 to 0.67 million.
PACKET = 350
# For each concurrent run in Linux, measured on 2026-11-28: its kernel (39 MiB with two flows), a pair of
# hosts with the connections between them (0.7 to 1.2 MiB with 200 to 4700 pairs), and a packet that is not
# yet acknowledged (8.2 kB with 50,000).
KERNEL = 40e6
KERNEL_HOSTS = 1.25e6
KERNEL_PACKET = 8_300
# For each recorded seed: a sender or a direction, and one of its values. With 1000 to 10^5 flows.
RECORDED = 2_400
VALUE = 30

# Upper limits of the recorder (crates/sim/src/record.rs), and the columns of a component.
MOST_VALUES = 4_000_000
MOST_SAMPLES = 10_000
COLUMNS = 9


@dataclass(frozen=True)
class Memory:
    """The memory that this process may use, and how much of it is free, in bytes."""

    total: float
    free: float


def needed(scenarios: Sequence[Scenario], seeds: int, record: Record, threads: int | None) -> float:
    """Estimate the bytes needed to run these scenarios with `seeds` seeds each, and to save the results."""
    at_once = min(threads or available_cores(), seeds * len(scenarios))
    largest = max((_under_way(scenario) for scenario in scenarios), default=0)
    recorded = sum(record.holds(index) for index in range(seeds))
    kept = sum(seeds * _kept(scenario) + recorded * _recorded(scenario) for scenario in scenarios)
    return BASE + at_once * largest + kept


def warning(scenarios: Sequence[Scenario], seeds: int, record: Record, threads: int | None) -> str | None:
    """Return a warning if that is more than half of the memory, or more than is free, else None."""
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
        f"of which {_gigabytes(there.free)} are free; fewer seeds need less"
    )


def memory(root: Path = Path("/")) -> Memory | None:
    """Return the machine's memory, or the limit of a control group if that is less; None if unknown."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return _by_pages()
    fields = {line.partition(":")[0]: line.partition(":")[2].split()[:1] for line in lines}
    try:
        total, free = (1024 * int(fields[key][0]) for key in ("MemTotal", "MemAvailable"))
    except (KeyError, IndexError, ValueError):
        return None
    total = min([total, *_limits(root)])
    return Memory(total, min(total, free))


def _by_pages() -> Memory | None:
    """Return the memory on systems without /proc. All of it counts as free."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
    return Memory(total, total) if total > 0 else None


def _limits(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of this process, for both versions."""
    groups = root / "sys/fs/cgroup"
    own = _group(root)
    for folder in (own, *own.parents):
        yield from _limit(groups / folder / "memory.max")
    yield from _limit(groups / "memory/memory.limit_in_bytes")


def _group(root: Path) -> Path:
    """Return the control group of this process, relative to the top. In a container, it is the top."""
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
    # The file has `max` if there is no limit.
    if text.isdecimal():
        yield int(text)


def _under_way(scenario: Scenario) -> float:
    if scenario.engine.backend == "linux":
        return KERNEL + KERNEL_HOSTS * scenario.hosts + KERNEL_PACKET * scenario.packets_held
    return PACKET * scenario.packets_held


def _kept(scenario: Scenario) -> float:
    return scenario.senders * SENDER + scenario.directions * DIRECTION


def _recorded(scenario: Scenario) -> float:
    """Return the bytes of a recording. Counts transfers too, though they are not recorded: a safe excess."""
    components = scenario.senders + scenario.directions
    samples = min(MOST_SAMPLES, scenario.duration_s / seconds(scenario.resolved["record"]["interval"]))
    return components * RECORDED + min(MOST_VALUES, components * COLUMNS * samples) * VALUE


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"
