"""Runs scenarios in Linux: an engine whose runs are made by the kernel's own TCP, in virtual time."""

from __future__ import annotations

import copyreg
import hashlib
import json
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.engine import Engine
from cwndlab.engine.selection import named
from cwndlab.errors import InputError
from cwndlab.linux import choice, kernel
from cwndlab.linux.instance import Instance, Size, request
from cwndlab.linux.serving import Serving

if TYPE_CHECKING:
    from cwndlab._native import RunToken
    from cwndlab.linux.instance import Overrides
    from cwndlab.linux.kernel import Kernel

# How often a run is asked how far it is.
POLL_S = 0.02
# What a run usually takes: to start, for each packet expected, for each connection or transfer, and for each
# pair of hosts. MPTCP's packets took 7 to 12 us (two runs of han2024 at once on two cores, 2026-11-27).
# 75,000 transfers on 1024 pairs of hosts took 20 and 24 s with their packets (lim2004, 2026-11-27).
USUAL_S = 0.1
USUAL_PER_PACKET_S = 3e-6
USUAL_PER_PACKET_OF_MPTCP_S = 1e-5
USUAL_PER_CONNECTION_S = 3e-4
USUAL_PER_HOSTS_S = 2.5e-3
# The largest buffers if a scenario sets no limit, in bytes (MOST_BUFFER of crates/linux/kernel/hosts.c).
MOST_BUFFER = 256 << 20
# What the check of a scenario says of its size.
SIZES = ("packets_expected", "packets_held", "connections", "hosts")


@dataclass(frozen=True, eq=False)
class Linux(Engine):
    """The kernel beside an engine: scenarios are checked for Linux, and run in it."""

    kernel: Kernel | None = None

    def check(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return every problem of a scenario, as JSON."""
        return self.module.check(text, file, overrides, "linux", self.linked)  # type: ignore[no-any-return]

    def resolve(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return everything that is in force in a scenario, as canonical JSON."""
        return self.module.resolve(text, file, overrides, "linux", self.linked)  # type: ignore[no-any-return]

    def components(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return the names of what a run reports on, as JSON."""
        return self.module.components(  # type: ignore[no-any-return]
            text, file, overrides, "linux", self.linked
        )

    @cached_property
    def sha256(self) -> str:
        """A hash of the extension module and the kernel."""
        with self.file.open("rb") as file:
            module = hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.sha256(f"{module} {self._kernel.sha256}".encode()).hexdigest()

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return "linux"

    @property
    def relative_cost(self) -> float:
        """How long a packet takes, relative to the simulator: about 3 us against 0.15 us."""
        return 20.0

    @property
    def linked(self) -> bool:
        """Whether the kernel has the crate of the extension module."""
        return self.kernel is not None and self.kernel.crate is not None

    @property
    def _kernel(self) -> Kernel:
        return self.kernel or kernel.required()

    def run_seed(
        self,
        text: bytes,
        file: str,
        overrides: Overrides,
        seed: int,
        record: bool,
        token: RunToken,
        qlog: str | None = None,
        pcap: str | None = None,
    ) -> tuple[str, Any, dict[str, Any] | None]:
        """Run a scenario with one seed. Exports go into the folders `qlog` and `pcap`.

        Raises `InterruptedError` if the token cancels the run, and `RuntimeError` with the last lines of the
        kernel's console if it breaks off or hangs, or with what a controller of this process says if that
        breaks it off.
        """
        checked = json.loads(self.check(text, file, overrides))
        saved = []
        if checked["knows_earlier_run"]:
            before = self._result(text, file, overrides, seed, checked, token, record=False, saved=[])
            saved = before["saved_ssthresh"]
        result = self._result(
            text, file, overrides, seed, checked, token, record=record, saved=saved, qlog=qlog, pcap=pcap
        )
        recording = result.get("recording")
        return json.dumps(result["outcome"]), _detail(result["detail"]), recording and _recording(recording)

    def _result(
        self,
        text: bytes,
        file: str,
        overrides: Overrides,
        seed: int,
        checked: dict[str, Any],
        token: RunToken,
        *,
        record: bool,
        saved: list[int | None],
        qlog: str | None = None,
        pcap: str | None = None,
    ) -> dict[str, Any]:
        """Return what a kernel writes of its run. Paths begin with the ssthresh that a run before saved."""
        size = Size(*(float(checked[name] or 0) for name in SIZES))
        remote = self.module.remote_controllers(text, file, overrides, self.linked)
        asked = request(text, file, overrides, remote, seed, record=record, saved=saved, qlog=qlog, pcap=pcap)
        with ExitStack() as stack:
            serving = None
            if remote:
                server = self.module.ControllerServer(text, file, overrides, self.linked, seed)
                serving = stack.enter_context(Serving(server))
            line = serving.theirs if serving else None
            instance = stack.enter_context(Instance(self._kernel, asked, size, line))
            _follow(instance, token, size.limit_s, serving)
            return instance.result()


def _follow(instance: Instance, token: RunToken, limit_s: float, serving: Serving | None) -> None:
    """Wait for the end of a run, and pass on how much is done.

    A run hangs if it does not go on for `limit_s`; controllers of this process may take their time.
    """
    done, end = 0.0, time.monotonic() + limit_s
    while not instance.ended(POLL_S):
        if token.cancelled:
            raise InterruptedError("the run was interrupted")
        before, done = done, max(done, instance.done())
        if done > before:
            end = time.monotonic() + limit_s
        if time.monotonic() > end:
            raise RuntimeError(instance.failure(f"it did not go on for {limit_s:.0f} s"))
        token.report(done)
    if serving:
        serving.check()
    instance.check()


def _columns(columns: dict[str, list[float | None]]) -> dict[str, Any]:
    import numpy as np

    # JSON has no NaN: null stands for it.
    return {name: np.array(values, dtype="float64") for name, values in columns.items()}


def _detail(detail: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    tables = {
        kind: [(name, _columns(columns)) for name, columns in detail[kind]]
        for kind in ("flows", "subflows", "groups")
    }
    distributions = [
        (kind, name, measure, np.array(middle, dtype="float64"), np.array(counts, dtype="uint32"))
        for kind, name, measure, middle, counts in detail["distributions"]
    ]
    end_s, jain = (np.array(column, dtype="float64") for column in detail["jain"])
    return {
        **tables,
        "end_s": np.array(detail["end_s"], dtype="float64"),
        "jain": (end_s, jain),
        "distributions": distributions,
        "weights": [(name, bytes.fromhex(file)) for name, file in detail["weights"]],
    }


def _recording(recording: dict[str, Any]) -> dict[str, Any]:
    tables = [(kind, name, _columns(columns)) for kind, name, columns in recording["tables"]]
    time_s = _columns({"time_s": recording["time_s"]})["time_s"]
    return {
        **recording,
        "time_s": time_s,
        "tables": tables,
        "events": [tuple(each) for each in recording["events"]],
    }


def engine_of(backend: str, engine: Engine, *, runs: bool = True) -> Engine:
    """Return the engine of this backend.

    Raises `InputError` if there is no such backend, or if it is to make runs and no kernel has been built.
    """
    if backend == "sim":
        return engine
    if backend != "linux":
        raise InputError(f"backend {backend}: expected sim or linux")
    found = choice.for_runs(engine) if runs else choice.with_crate_of(engine)
    return Linux(engine.module, engine.registered, kernel=found)


def _copied(name: str, found: Kernel | None) -> Linux:
    engine = named(name)
    return Linux(engine.module, engine.registered, kernel=found)


# A copy is beside the engine of the same name, as a copy of that is.
copyreg.pickle(Linux, lambda linux: (_copied, (linux.name, linux.kernel)))
