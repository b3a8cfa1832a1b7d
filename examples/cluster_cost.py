"""What a Dask cluster costs: CPU time for each job, and the time of the same runs with 1, 2 and 4 workers.

Prints the tables of docs/distribution.md. Needs `pip install 'cwndlab[dask]'`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import distributed
import psutil

import cwndlab as cl
from cwndlab.controllers.loading import load
from cwndlab.running import on_dask

# A short run, of which the cluster's own cost is a large part; one of about half a second; and one that waits
# half a second in place of computing, so that it needs no core.
SHORT = "scenarios/one-flow.toml", {"duration": "0.1 s"}
LONG = "scenarios/two-flows.toml", {"duration": "600 s"}
WAITS = "scenarios/one-flow.toml", {"duration": "0.1 s", "flow.0.cc": "waits"}
SHORT_RUNS, LONG_RUNS, REPEATED = 500, 24, 3
WAITING = """
import time
import cwndlab as cl

@cl.controller("waits")
class Waits:
    def __init__(self, setup):
        time.sleep(0.5)
        self.cwnd_bytes = 10 * setup.mss_bytes

    def on_ack(self, ack): ...
    def on_event(self, event): ...
"""


def cpu_s(*processes: psutil.Process) -> float:
    """The CPU time that these processes have taken."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


class Cluster:
    """A scheduler and workers with one thread each, every one a process of its own."""

    def __init__(self, stack: ExitStack, workers: int) -> None:
        file = Path(tempfile.mkdtemp()) / "scheduler.json"
        ends = ["--scheduler-file", str(file), "--no-dashboard"]
        self.scheduler = self._started(stack, ["dask_scheduler", "--port", "0", *ends])
        self.workers = [
            self._started(stack, ["dask_worker", "--nthreads", "1", "--no-nanny", *ends])
            for _ in range(workers)
        ]
        self.client = stack.enter_context(distributed.Client(scheduler_file=str(file)))
        self.client.wait_for_workers(workers)
        # Everything is loaded, and the workers are checked.
        run(SHORT, 8 * workers, self.client.get_executor())

    @staticmethod
    def _started(stack: ExitStack, words: list[str]) -> psutil.Process:
        line = [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:]]
        process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        return psutil.Process(process.pid)


def run(what: tuple[str, dict[str, str]], seeds: int, executor: object) -> float:
    """Make the runs, and return how long that took in seconds."""
    began = time.perf_counter()
    cl.run(what[0], seeds, what[1], record="none", fresh=True, executor=executor)
    return time.perf_counter() - began


def costs(job_s: float) -> None:
    """Print the CPU time of each process for each run, with jobs of this length."""
    on_dask.JOB_S = job_s
    here = psutil.Process()
    with ThreadPoolExecutor(1) as thread:
        run(SHORT, 20, thread)
        before = cpu_s(here)
        run(SHORT, SHORT_RUNS, thread)
        alone = cpu_s(here) - before
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        parts = {"scheduler": [cluster.scheduler], "workers": cluster.workers, "caller": [here]}
        before_each = {name: cpu_s(*processes) for name, processes in parts.items()}
        run(SHORT, SHORT_RUNS, cluster.client.get_executor())
        spent = {name: cpu_s(*processes) - before_each[name] for name, processes in parts.items()}
    each = ", ".join(f"{name} {1000 * s / SHORT_RUNS:.2f}" for name, s in spent.items())
    print(f"jobs of {job_s} s: CPU ms per run: {each}; without a cluster {1000 * alone / SHORT_RUNS:.2f}")


def scaling() -> None:
    """Print how long the same runs take, with different numbers of workers in turn."""
    on_dask.JOB_S = 1.0
    took: dict[str, list[float]] = {}
    for _ in range(REPEATED):
        for threads in (1, 2):
            with ThreadPoolExecutor(threads) as pool:
                took.setdefault(f"{threads} threads, no cluster", []).append(run(LONG, LONG_RUNS, pool))
        for workers in (1, 2, 4):
            with ExitStack() as stack:
                executor = Cluster(stack, workers).client.get_executor()
                took.setdefault(f"{workers} workers", []).append(run(LONG, LONG_RUNS, executor))
                took.setdefault(f"{workers} workers, runs that wait", []).append(
                    run(WAITS, LONG_RUNS, executor)
                )
    for name, times in took.items():
        print(f"{name}: {', '.join(f'{each:.1f}' for each in sorted(times))} s")


if __name__ == "__main__":
    file = Path(tempfile.mkdtemp()) / "waits.py"
    file.write_text(WAITING)
    load([str(file)])
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for _ in range(REPEATED):
        costs(0.0)
        costs(1.0)
    scaling()
    print(f"load {os.getloadavg()[0]:.1f}")
