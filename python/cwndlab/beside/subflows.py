"""What the kernel's MPTCP does that the simulator does not, turned off: `python -m cwndlab.beside.subflows`.

Prints the table of docs/linux.md, "Multipath connections".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cwndlab.beside.validation import print_table
from cwndlab.linux.backend import engine_of
from cwndlab.running.execution import execute
from cwndlab.scenarios.scenario import Scenario
from cwndlab.statistics.estimate import estimate
from cwndlab.system.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from cwndlab.statistics.estimate import Estimate

SEEDS = tuple(range(1, 11))
LINKS = """\
duration = "30 s"
[[link]]
name = "a"
rate = "{mbps} Mbit/s"
delay = "10 ms"
queue = "{bdp} bdp"
[[link]]
name = "b"
rate = "{mbps} Mbit/s"
delay = "10 ms"
queue = "{bdp} bdp"
"""
SLOW = LINKS.format(mbps=10, bdp=1)
FAST = LINKS.format(mbps=100, bdp=0.25)
UNEQUAL = """\
duration = "30 s"
[[link]]
name = "a"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "1 bdp"
loss = 0.005
[[link]]
name = "b"
rate = "10 Mbit/s"
delay = "40 ms"
queue = "1 bdp"
loss = 0.01
"""
NO_TIMESTAMPS = "[tcp]\ntimestamps = false\nmss = 1460\nheader = 40\n"
ONE_PATH = '[[flow]]\nname = "m"\ncc = "linux:reno"\npath = ["a"]\n'
TWO_PATHS = '[[flow]]\nname = "m"\ncc = "linux:reno"\npaths = [["a"], ["b"]]\n'
OWN_SCHEDULER = 'mptcp = { scheduler = "linux" }\n'
HEADINGS = ("measure", "what Linux does", "value", "turned off", "value")


@dataclass(frozen=True)
class Trial:
    """A measure of a connection as Linux has it, and with one thing turned off."""

    measure: str
    on: str
    off: str
    what_on: str
    what_off: str
    value: Callable[[Mapping[str, Any]], float]
    unit: str

    def row(self) -> list[str]:
        """Run both, and return the row of the table."""
        on, off = (_measured(each, self.value) for each in (self.on, self.off))
        return [self.measure, self.what_on, self._text(on), self.what_off, self._text(off)]

    def _text(self, known: Estimate) -> str:
        return f"{known.value:.3f} [{known.low:.3f}, {known.high:.3f}] {self.unit}".rstrip()


def _goodput_of_a_path(outcome: Mapping[str, Any]) -> float:
    flow = outcome["flows"][0]
    goodput_mbps: float = flow["goodput_mbps"] / max(1, len(flow.get("subflows", ())))
    return goodput_mbps


def _goodput(outcome: Mapping[str, Any]) -> float:
    goodput_mbps: float = outcome["flows"][0]["goodput_mbps"]
    return goodput_mbps


def _sent_again_for_each_lost(outcome: Mapping[str, Any]) -> float:
    lost = sum(link["dropped_packets"] + link["lost_packets"] for link in outcome["links"])
    share: float = outcome["flows"][0]["retransmitted_packets"] / lost
    return share


TRIALS = (
    Trial(
        "goodput of each path of 10 Mbit/s",
        SLOW + TWO_PATHS,
        SLOW + ONE_PATH,
        "MPTCP's option in each segment",
        "TCP on one path",
        _goodput_of_a_path,
        "Mbit/s",
    ),
    Trial(
        "retransmitted packets for each one lost, paths of 100 Mbit/s with 0.25 BDP",
        FAST + TWO_PATHS,
        FAST + NO_TIMESTAMPS + TWO_PATHS,
        "timestamps and MPTCP's option leave no room for three SACK blocks",
        "no timestamps",
        _sent_again_for_each_lost,
        "",
    ),
    Trial(
        "goodput over two unequal paths",
        UNEQUAL + TWO_PATHS + OWN_SCHEDULER,
        UNEQUAL + TWO_PATHS,
        "its own scheduler queues data at a subflow before the window has room",
        "`saturate`",
        _goodput,
        "Mbit/s",
    ),
)


def _measured(text: str, value: Callable[[Mapping[str, Any]], float]) -> Estimate:
    scenario = Scenario(text.encode(), "subflows")
    in_linux = replace(scenario, engine=engine_of("linux", scenario.engine))
    [result] = execute([in_linux], SEEDS)
    return estimate([value(run.outcome) for run in result.runs])


def main() -> None:
    """Print the table."""
    with progress("subflows") as watch:
        rows = []
        for index, trial in enumerate(TRIALS):
            rows.append(trial.row())
            watch((index + 1) / len(TRIALS))
    print_table(HEADINGS, rows)


if __name__ == "__main__":
    main()
