"""The cases of `cwndlab bench`."""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from cwndlab.benchmark import in_linux
from cwndlab.benchmark.process import in_own_process
from cwndlab.engine import in_use
from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab._native import Ack

# One CUBIC flow. Run with Reno in Rust and with Reno in Python, it shows the cost of a call into Python.
_BASE = "one-flow-100mbit"
_PYTHON_CONTROLLER = "python-controller"
# A step of an environment, compared with the same decision inside the simulation.
_GYM_STEP = "gym-step"
# Few packets between two decisions, so that the simulation itself does not hide the difference.
_GYM_LINK = """
duration = "200 s"

[[link]]
name  = "bottleneck"
rate  = "10 Mbit/s"
delay = "5 ms"

[[flow]]
name = "a"
cc   = "dqn-newreno"
path = ["bottleneck"]
"""
# The action that leaves the window as it is.
_STAY = 3


def chosen(wanted: Sequence[str]) -> list[str]:
    """Return all cases, or the named ones. Raises `InputError` if one is unknown."""
    known = [*in_use().bench_cases(), _PYTHON_CONTROLLER]
    if importlib.util.find_spec("gymnasium"):
        known.append(_GYM_STEP)
    known += in_linux.cases()
    for case in wanted:
        if case not in known:
            hint = did_you_mean(case, known, f"expected one of {', '.join(known)}")
            raise InputError(f"--case {case}: no such case; {hint}")
    return list(wanted) or known


def measure(case: str, repeats: int) -> dict[str, Any]:
    """Run one case and return the best of `repeats` by CPU time."""
    return in_own_process("cases", case, repeats)


def _measured(case: str, repeats: int) -> dict[str, Any]:
    if case == _PYTHON_CONTROLLER:
        return _python_controller(repeats)
    if case == _GYM_STEP:
        return _gym_step(repeats)
    if case in in_linux.cases():
        return in_linux.measure(case, repeats)
    measured: dict[str, Any] = json.loads(in_use().bench(case, repeats, []))
    return measured


def _python_controller(repeats: int) -> dict[str, Any]:
    """Measure Reno in Python. A step is an ACK; its cost is the extra time over Reno in Rust."""
    from cwndlab.benchmark.reno import Reno

    def run(algorithm: str, times: int) -> dict[str, Any]:
        measured: dict[str, Any] = json.loads(in_use().bench(_BASE, times, [("flow.0.cc", algorithm)]))
        return measured

    rust, python = run("reno", repeats), run("python-reno", repeats)
    # Counted in a separate run, because counting would slow the timed runs.
    acks = 0
    on_ack = Reno.on_ack

    def counted(self: Reno, ack: Ack) -> None:
        nonlocal acks
        acks += 1
        on_ack(self, ack)

    Reno.on_ack = counted  # type: ignore[method-assign]
    run("python-reno", 1)
    us_per_op = (python["cpu_s"] - rust["cpu_s"]) * 1e6 / acks
    return {**python, "name": _PYTHON_CONTROLLER, "us_per_op": us_per_op}


def _gym_step(repeats: int) -> dict[str, Any]:
    """Measure steps from outside. The cost of a step is the extra time over the same agent inside."""
    from cwndlab.gym.single import FlowEnv

    env = FlowEnv("cwndlab/DqnNewReno-v0", scenario=_GYM_LINK)
    inside = f'{{ name = "always", actions = "newreno", action = {_STAY} }}'
    steps = 0

    def outside() -> None:
        nonlocal steps
        env.reset(seed=1)
        steps, ended = 0, False
        while not ended:
            _, _, _, ended, _ = env.step(_STAY)
            steps += 1

    def best(work: Callable[[], object]) -> float:
        def once() -> float:
            begin = time.process_time()
            work()
            return time.process_time() - begin

        return min(once() for _ in range(repeats))

    beyond_s = best(outside) - best(lambda: env.course.with_algorithm(1, inside))
    return {"name": _GYM_STEP, "us_per_op": beyond_s * 1e6 / steps}


if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], int(sys.argv[2]))))
