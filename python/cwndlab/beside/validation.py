"""The simulator beside Linux over a range of paths: `python -m cwndlab.beside.validation`.

Prints the three tables of docs/validation.md: all paths, the tests of what gaps come from, and what the
simulator's processing delay changes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from cwndlab.beside.both import COUNTERPARTS, NO_PROCESSING_DELAY, Both, Difference, on_both, run_both
from cwndlab.results.recording import Record
from cwndlab.running.execution import execute
from cwndlab.scenarios.scenario import Scenario
from cwndlab.system.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cwndlab.results.result import Result

SEEDS = tuple(range(1, 6))
# Two flows vary more from seed to seed.
SEEDS_OF_TWO = tuple(range(1, 101))
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
DELAYED_HEADINGS = (
    "path",
    "algorithm",
    "goodput, Mbit/s: without",
    "with",
    "mean RTT, ms: without",
    "with",
    "95th percentile: without",
    "with",
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
    # How often it is run, if not as often as most.
    runs: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that it is run with."""
        if self.runs:
            return tuple(range(1, self.runs + 1))
        return SEEDS_OF_TWO if self.other else SEEDS

    def scenario(self, algorithm: str) -> Scenario:
        """Return its scenario with this algorithm: its name, or a table with parameters."""
        cc = algorithm if algorithm.startswith("{") else f'"{algorithm}"'
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
cc = {cc}
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
AT_ONCE = "tcp = { delayed_ack = 1 }"
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


@dataclass(frozen=True)
class Trial:
    """A change on both sides that tests what a gap comes from: without the cause, there is none."""

    what: str
    case: Case
    algorithm: str


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


TRIALS = (
    Trial("twice as long", replace(_case("300 Mbit/s, 100 ms, 1 BDP"), seconds=60), "linux:reno"),
    Trial(
        "slow start to 40 segments",
        replace(_case("LTE trace, 40 ms, 250 kB"), flow="tcp = { initial_ssthresh = 40 }"),
        "linux:vegas",
    ),
    Trial(
        "CUBIC starts at 5 s",
        replace(_case("50 Mbit/s, 40 ms, beside CUBIC"), other=OTHER.format("cubic").replace("2 s", "5 s")),
        "linux:vegas",
    ),
    # What two flows do to each other depends on when their few delayed ACKs leave.
    Trial(
        "no delayed ACKs",
        replace(_case("50 Mbit/s, 40 ms, beside CUBIC"), flow=AT_ONCE, other=OTHER.format("cubic") + AT_ONCE),
        "linux:vegas",
    ),
)


def rows(made: list[tuple[Case, str]], title: str) -> Iterator[tuple[Case, str, Both]]:
    """Run these cases with these algorithms on both backends."""
    for seeds in dict.fromkeys(case.seeds for case, _ in made):
        group = [(case, algorithm) for case, algorithm in made if case.seeds == seeds]
        with progress(title) as watch:
            results = run_both([case.scenario(name) for case, name in group], seeds, watch=watch)
        for (case, algorithm), both in zip(group, results, strict=True):
            yield case, algorithm, both


def _gap(difference: Difference) -> str:
    """Return how far the simulator is from Linux, in per cent of Linux, with the 95 % interval."""
    known = difference.difference
    low, high = known.low or 0.0, known.high or 0.0
    percent = [-100 * each / difference.linux for each in (known.value, high, low)]
    return f"{percent[0]:+.1f} [{percent[1]:+.1f}, {percent[2]:+.1f}]"


def row(case: Case, both: Both) -> list[str]:
    """Return the row of a table with `HEADINGS`."""
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
    return [
        case.name,
        both.linux.runs[0].outcome["flows"][0]["cc"].removeprefix("linux:"),
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


def _means(result: Result) -> list[float]:
    """Return the first flow's mean goodput and mean and 95th percentile of the RTT."""
    flows = [run.outcome["flows"][0] for run in result.runs]
    return [fmean(flow[measure] for flow in flows) for measure in ("goodput_mbps", "rtt_ms", "rtt_p95_ms")]


def delayed(compared: list[tuple[Case, str, Both]]) -> Iterator[list[str]]:
    """Return the rows of what the simulator's default processing delay changes beyond the bounds."""
    scenarios = []
    for case, algorithm, _ in compared:
        in_sim, _ = on_both(case.scenario(algorithm))
        kept = tuple(each for each in in_sim.overrides if each != NO_PROCESSING_DELAY)
        scenarios.append(replace(in_sim, overrides=kept))
    bounds = (GOODPUT_GAP, DELAY_GAP, DELAY_GAP)
    for seeds in (SEEDS, SEEDS_OF_TWO):
        chosen = [index for index, (case, _, _) in enumerate(compared) if case.seeds == seeds]
        results = execute([scenarios[index] for index in chosen], seeds, record=Record.NONE)
        for index, result in zip(chosen, results, strict=True):
            case, algorithm, both = compared[index]
            pairs = list(zip(_means(both.sim), _means(result), strict=True))
            if any(abs(late / still - 1) > bound for (still, late), bound in zip(pairs, bounds, strict=True)):
                cells = [f"{value:.2f}" for pair in pairs for value in pair]
                yield [case.name, algorithm.removeprefix("linux:"), *cells]


def print_table(headings: tuple[str, ...], body: Iterable[list[str]]) -> None:
    """Print a table in Markdown, each row as soon as it is known."""
    print(f"| {' | '.join(headings)} |")
    print("|---" * len(headings) + "|")
    for cells in body:
        print(f"| {' | '.join(cells)} |", flush=True)
    print()


def main() -> None:
    """Print the tables."""
    compared = list(rows([(case, name) for case in CASES for name in COUNTERPARTS], "simulator beside Linux"))
    print_table(HEADINGS, (row(case, both) for case, _, both in compared))
    tried = rows([(trial.case, trial.algorithm) for trial in TRIALS], "what gaps come from")
    changes = {(trial.case, trial.algorithm): trial.what for trial in TRIALS}
    print_table(
        ("changed", *HEADINGS), ([changes[case, name], *row(case, both)] for case, name, both in tried)
    )
    print_table(DELAYED_HEADINGS, delayed(compared))
    print(f"{len(compared)} scenarios", file=sys.stderr)


if __name__ == "__main__":
    main()
