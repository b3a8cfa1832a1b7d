"""The cases of `cwndlab bench` that run in Linux's own TCP. There are none without a kernel."""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import Any

from cwndlab.linux import kernel
from cwndlab.linux.backend import engine_of
from cwndlab.results.recording import Record
from cwndlab.running.execution import execute
from cwndlab.scenarios.scenario import Scenario

_ALGORITHMS = {f"linux-{name}": f"linux:{name}" for name in ("reno", "cubic", "bbr")}
_SECONDS = 30
_SCENARIO = f"""
duration = "{_SECONDS} s"

[[link]]
name  = "bottleneck"
rate  = "100 Mbit/s"
delay = "30 ms"
queue = "1 bdp"

[[flow]]
name = "a"
cc   = "{{}}"
path = ["bottleneck"]
"""


def cases() -> list[str]:
    """Return the names of the cases."""
    return [] if kernel.current() is None else list(_ALGORITHMS)


def measure(case: str, repeats: int) -> dict[str, Any]:
    """Run a case and return the best of `repeats` by the CPU time of the kernel and of this process."""
    scenario = Scenario(_SCENARIO.format(_ALGORITHMS[case]).encode(), case)
    in_linux = replace(scenario, engine=engine_of("linux", scenario.engine))
    best_s = float("inf")
    for _ in range(repeats):
        began_s = _cpu_s()
        [result] = execute([in_linux], [1], record=Record.NONE, threads=1, fresh=True)
        best_s = min(best_s, _cpu_s() - began_s)
    [link] = result.runs[0].outcome["links"]
    packets = link["served_packets"] + link["dropped_packets"]
    return {
        "name": case,
        "packets": packets,
        "cpu_s": best_s,
        "ns_per_packet": best_s * 1e9 / packets,
        "x_real_time": _SECONDS / best_s,
    }


def _cpu_s() -> float:
    """Return the CPU time of this process and of its kernels that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
