"""Timeout patterns of a Reno flow and of the short flows beside it, in both backends.

`python -m cwndlab.beside.patterns` prints the table of docs/linux.md.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from cwndlab.beside.both import run_both
from cwndlab.beside.validation import print_table
from cwndlab.scenarios.scenario import Scenario
from cwndlab.statistics.estimate import estimate
from cwndlab.system.progress import progress

if TYPE_CHECKING:
    from cwndlab.beside.both import Both

SEEDS = tuple(range(1, 11))
SCENARIO = b"""\
duration = "60 s"
timeout_patterns = true
[[link]]
name = "path"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "1 bdp"
[[flow]]
name = "long"
cc = "linux:reno"
path = ["path"]
[[flow]]
name = "short"
cc = "linux:reno"
path = ["path"]
arrivals = { per_second = 4, size = "60 kB" }
"""
MEASURES = ("rtt_samples", "rtt_peaks", "fast_recoveries", "timeouts", "retransmitted_packets")
HEADINGS = ("of", "measure", "simulator", "Linux", "Linux - simulator")


def _row(both: Both, kind: str, measure: str) -> list[str]:
    sim, linux = ([run.outcome[kind][0][measure] for run in side.runs] for side in (both.sim, both.linux))
    known = estimate([theirs - ours for ours, theirs in zip(sim, linux, strict=True)])
    name = both.sim.runs[0].outcome[kind][0]["name"]
    return [
        name,
        measure,
        f"{fmean(sim):.1f}",
        f"{fmean(linux):.1f}",
        f"{known.value:+.1f} [{known.low:+.1f}, {known.high:+.1f}]",
    ]


def main() -> None:
    """Print the table."""
    with progress("timeout patterns") as watch:
        [both] = run_both([Scenario(SCENARIO, "timeout patterns")], SEEDS, watch=watch)
    print_table(HEADINGS, (_row(both, kind, each) for kind in ("flows", "groups") for each in MEASURES))


if __name__ == "__main__":
    main()
