"""The simulator beside Linux over a range of paths: `python -m cwndlab.beside.validation`.

Prints the table of docs/validation.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.beside.both import COUNTERPARTS, Both, Difference, run_both
from cwndlab.scenarios.scenario import Scenario
from cwndlab.system.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS = (1, 2, 3, 4, 5)
# A larger gap needs an explanation.
GOODPUT_GAP = 0.03
DELAY_GAP = 0.15
HEADINGS = (
    "path",
    "algorithm",
    "goodput, Mbit/s: simulator",
    "Linux",
    "gap, %",
    "retransmissions: simulator",
    "Linux",
    "mean RTT, ms: simulator",
    "Linux",
    "95th percentile: simulator",
    "Linux",
    "gaps",
)


@dataclass(frozen=True)
class Case:
    """A path, and what the flow of each algorithm meets there."""

    name: str
    rate_mbps: float
    rtt_ms: float
    queue: str = "1 bdp"
    link: str = ""
    flow: str = ""
    other: str = ""
    seconds: float = 30

    def scenario(self, algorithm: str) -> Scenario:
        """Return its scenario with this algorithm."""
        queue = self.queue if self.queue.startswith("{") else f'"{self.queue}"'
        rate = (
            self.link if self.link.startswith("trace") else f'rate = "{self.rate_mbps:g} Mbit/s"\n{self.link}'
        )
        text = f"""\
duration = "{self.seconds:g} s"
[[link]]
name = "path"
{rate}
delay = "{self.rtt_ms / 2:g} ms"
queue = {queue}
[[flow]]
name = "flow"
cc = "{algorithm}"
path = ["path"]
{self.flow}
{self.other}
"""
        return Scenario(text.encode(), f"{self.name} ({algorithm})")


OTHER = """\
[[flow]]
name = "other"
cc = "linux:{}"
path = ["path"]
start = "2 s"
"""
CASES = (
    Case("1 Mbit/s, 50 ms, 1 BDP", 1, 50, "20 packets", seconds=60),
    Case("10 Mbit/s, 5 ms, 4 BDP", 10, 5, "4 bdp"),
    Case("10 Mbit/s, 300 ms, 1 BDP", 10, 300, seconds=120),
    Case("50 Mbit/s, 20 ms, 0.1 BDP", 50, 20, "0.1 bdp"),
    Case("100 Mbit/s, 40 ms, 0.5 BDP", 100, 40, "0.5 bdp"),
    Case("100 Mbit/s, 40 ms, 8 BDP", 100, 40, "8 bdp", seconds=60),
    Case("300 Mbit/s, 100 ms, 1 BDP", 300, 100),
    Case("1000 Mbit/s, 10 ms, 1 BDP", 1000, 10, seconds=15),
    Case("20 Mbit/s, 40 ms, 0.1 % random loss", 20, 40, link="loss = 1e-3", seconds=60),
    Case("20 Mbit/s, 40 ms, 1 % random loss", 20, 40, link="loss = 1e-2", seconds=60),
    Case("20 Mbit/s, 40 ms, 3 % random loss", 20, 40, link="loss = 3e-2", seconds=60),
    Case("50 Mbit/s, 40 ms, beside CUBIC", 50, 40, "2 bdp", other=OTHER.format("cubic"), seconds=60),
    Case("50 Mbit/s, 40 ms, 100 kB", 50, 40, flow='bytes = "100 kB"', seconds=10),
    Case("50 Mbit/s, 40 ms, 2 MB", 50, 40, flow='bytes = "2 MB"', seconds=10),
    Case("50 Mbit/s, 40 ms, FQ-CoDel", 50, 40, '{ kind = "fq-codel" }'),
    Case("50 Mbit/s, 40 ms, FQ-CoDel, ECN", 50, 40, '{ kind = "fq-codel" }', flow="tcp = { ecn = true }"),
    Case("LTE trace, 40 ms, 250 kB", 9, 40, "250 kB", link='trace = "synthetic:lte-down"', seconds=60),
)


def rows() -> Iterator[tuple[Case, str, Both]]:
    """Run every case with every algorithm on both backends."""
    made = [(case, algorithm) for case in CASES for algorithm in COUNTERPARTS]
    with progress("simulator beside Linux") as watch:
        results = run_both([case.scenario(algorithm) for case, algorithm in made], SEEDS, watch=watch)
    for (case, algorithm), both in zip(made, results, strict=True):
        yield case, algorithm, both


def _gap(difference: Difference) -> str:
    """Return how far the simulator is from Linux, in per cent of Linux, with the 95 % interval."""
    known = difference.difference
    low, high = known.low or 0.0, known.high or 0.0
    percent = [-100 * each / difference.linux for each in (known.value, high, low)]
    return f"{percent[0]:+.1f} [{percent[1]:+.1f}, {percent[2]:+.1f}]"


def _row(case: Case, algorithm: str, both: Both) -> str:
    known = {(each.name, each.measure): each for each in both.differences}
    goodput = known["flow", "goodput_mbps"]
    resent = known["flow", "retransmitted_packets"]
    mean, tail = known["flow", "rtt_ms"], known["flow", "rtt_p95_ms"]
    gaps = [
        name
        for name, difference, bound in (
            ("goodput", goodput, GOODPUT_GAP),
            ("RTT", mean, DELAY_GAP),
            ("RTT p95", tail, DELAY_GAP),
        )
        if abs(difference.relative or 0) > bound
    ]
    cells = [
        case.name,
        algorithm.removeprefix("linux:"),
        f"{goodput.sim:.2f}",
        f"{goodput.linux:.2f}",
        _gap(goodput),
        f"{resent.sim:.0f}",
        f"{resent.linux:.0f}",
        f"{mean.sim:.1f}",
        f"{mean.linux:.1f}",
        f"{tail.sim:.1f}",
        f"{tail.linux:.1f}",
        ", ".join(gaps),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    print(f"| {' | '.join(HEADINGS)} |")
    print("|---" * len(HEADINGS) + "|")
    for case, algorithm, both in rows():
        print(_row(case, algorithm, both), flush=True)
    print(f"{len(CASES) * len(COUNTERPARTS)} scenarios, {len(SEEDS)} seeds", file=sys.stderr)


if __name__ == "__main__":
    main()
