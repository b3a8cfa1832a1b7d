"""Runs a scenario on both backends and compares each flow and link, seed by seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.linux.backend import MOST_BUFFER, engine_of
from cwndlab.results.recording import Record
from cwndlab.running.execution import execute
from cwndlab.scenarios.outline import keyed_links
from cwndlab.scenarios.source import written
from cwndlab.statistics.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.scenario import Scenario

SCHEMA = 1
# The kernel's algorithms of which the simulator has its own implementation.
COUNTERPARTS = {
    "linux:reno": "reno",
    "linux:cubic": "cubic",
    "linux:bbr": "bbr1",
    "linux:vegas": "vegas",
}
# The kernel's queues of which it has its own implementation, and what can be set of both.
QUEUES = {
    "linux:codel": ("codel", ("limit", "target", "interval", "ecn")),
    "linux:fq_codel": ("fq-codel", ("limit", "flows", "target", "interval", "quantum", "ecn")),
}
# Linux's hosts in virtual time take no time for an ACK; by default, the simulator's do.
NO_PROCESSING_DELAY = ("send_jitter", "0 s")
# Of each segment, what the kernel's MPTCP takes for its own option (RFC 8684 section 3.3.1).
MPTCP_OPTION_BYTES = 24
# What is compared, by the kind of component.
MEASURES = {
    "flow": ("goodput_mbps", "retransmitted_packets", "rtt_ms", "rtt_p95_ms", "completion_s"),
    "group": ("goodput_mbps", "completion_ms", "completion_p95_ms", "retransmitted_packets"),
    "link": ("queue_delay_ms", "queue_mean_bytes", "dropped_packets"),
}


@dataclass(frozen=True)
class Difference:
    """A measure on both backends: the means, and the difference Linux - simulator, paired by seed."""

    kind: str
    name: str
    measure: str
    sim: float
    linux: float
    difference: Estimate

    @property
    def relative(self) -> float | None:
        """The difference in units of Linux's mean; None if that is 0."""
        return self.difference.value / self.linux if self.linux else None

    def to_json(self) -> dict[str, Any]:
        """Return it as an entry of the JSON document."""
        ends = (self.difference.low, self.difference.high)
        return {
            "kind": self.kind,
            "name": self.name,
            "measure": self.measure,
            "sim": self.sim,
            "linux": self.linux,
            "difference": self.difference.value,
            "ci95": None if None in ends else list(ends),
        }


@dataclass(frozen=True)
class Both:
    """A scenario's results on both backends, with the same seeds."""

    sim: Result
    linux: Result

    @property
    def variants(self) -> list[tuple[str, Both]]:
        """It is the only variant, and needs no label."""
        return [("", self)]

    @property
    def differences(self) -> list[Difference]:
        """Every measure that all runs have on both backends."""
        return list(self._differences())

    def to_json(self) -> dict[str, Any]:
        """Return the document of both: the differences, and the documents of the two results."""
        return {
            "schema": SCHEMA,
            "differences": [each.to_json() for each in self.differences],
            "sim": self.sim.to_json(),
            "linux": self.linux.to_json(),
        }

    def _differences(self) -> Iterator[Difference]:
        pairs = list(zip(self.sim.runs, self.linux.runs, strict=True))
        for kind, measures in MEASURES.items():
            for index, component in enumerate(self.linux.runs[0].outcome[f"{kind}s"]):
                if kind == "link" and not _is_telling(component["name"], pairs):
                    continue
                for measure in measures:
                    values = [
                        tuple(run.outcome[f"{kind}s"][index][measure] for run in pair) for pair in pairs
                    ]
                    if any(None in pair for pair in values):
                        continue
                    gaps = [linux - sim for sim, linux in values]
                    sim, linux = (fmean(side) for side in zip(*values, strict=True))
                    yield Difference(kind, component["name"], measure, sim, linux, estimate(gaps))


def _is_telling(link: str, pairs: Sequence[tuple[SeedRun, SeedRun]]) -> bool:
    """Return whether this is a link of the scenario, or an access or return link that drops packets."""
    if not link.endswith((".access", ".back")):
        return True
    links = (each for pair in pairs for run in pair for each in run.outcome["links"])
    return any(each["name"] == link and each["dropped_packets"] for each in links)


def on_both(scenario: Scenario, *, runs: bool = True) -> tuple[Scenario, Scenario]:
    """Return the scenario for the simulator and for Linux, whose algorithms it names.

    The simulator's hosts take no time for an ACK, as those in virtual time. Its subflows leave room for
    MPTCP's option and push every burst, and its flows with one path have the kernel's largest send and
    receive buffers.

    Raises `ScenarioError` if Linux cannot serve it, and `InputError` if the simulator lacks an algorithm or
    a queue, or if no kernel has been built and it is to be run.
    """
    in_linux = replace(scenario, engine=engine_of("linux", scenario.engine, runs=runs))
    in_linux.validate()
    overrides = [NO_PROCESSING_DELAY]
    for index, flow in enumerate(in_linux.resolved["flow"]):
        if flow.get("mptcp") is not None:
            overrides += _room_for_option(index, flow["tcp"])
            overrides.append((f"flow.{index}.mptcp.push_bursts", "true"))
        else:
            buffers = [each for each in ("send_buffer", "receive_buffer") if flow["tcp"][each] == "unlimited"]
            overrides += [(f"flow.{index}.tcp.{each}", f"{MOST_BUFFER} B") for each in buffers]
        name = flow["cc"]["name"]
        if not name.startswith("linux:"):
            # The same code runs in both.
            continue
        if name not in COUNTERPARTS:
            known = ", ".join(COUNTERPARTS)
            raise InputError(
                f"flow.{index}.cc: expected an algorithm of both backends ({known}), found {name}"
            )
        overrides.append((f"flow.{index}.cc", COUNTERPARTS[name]))
    overrides += _queues(in_linux)
    in_sim = replace(scenario, overrides=(*scenario.overrides, *overrides))
    in_sim.validate()
    return in_sim, in_linux


def _room_for_option(index: int, tcp: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what shortens the payload by MPTCP's option; packets stay as long as they are."""
    yield f"flow.{index}.tcp.mss", str(tcp["mss"] - MPTCP_OPTION_BYTES)
    yield f"flow.{index}.tcp.header", str(tcp["header"] + MPTCP_OPTION_BYTES)


def _queues(in_linux: Scenario) -> Iterator[tuple[str, str]]:
    """Yield what gives the simulator its own queue for each of the kernel's.

    Raises `InputError` if it lacks one.
    """
    for key, link in keyed_links(in_linux.resolved):
        queue = link["queue"]
        kind = queue["kind"] if isinstance(queue, dict) else ""
        if not kind.startswith("linux:"):
            continue
        if kind not in QUEUES:
            raise InputError(
                f"{key}.queue: expected a queue of both backends ({', '.join(QUEUES)}), found {kind}"
            )
        name, settings = QUEUES[kind]
        value = {"kind": name} | {setting: queue[setting] for setting in settings}
        yield f"{key}.queue", written(value, f"{key}.queue")


def run_both(
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
    *,
    record: Record = Record.NONE,
    threads: int | None = None,
    fresh: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> list[Both]:
    """Run scenarios on both backends. After Ctrl-C, the results are marked as interrupted."""
    pairs = [on_both(scenario) for scenario in scenarios]
    both = [each for pair in pairs for each in pair]
    results = execute(both, seeds, record=record, threads=threads, fresh=fresh, watch=watch)
    return [Both(*pair) for pair in zip(results[::2], results[1::2], strict=True)]
