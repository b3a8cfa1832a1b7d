"""Runs scenarios in Linux: an engine whose runs are made by the kernel's own TCP, in virtual time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.engine import Engine
from cwndlab.errors import InputError
from cwndlab.linux import choice, kernel
from cwndlab.linux.serving import Serving
from cwndlab.system import writing

if TYPE_CHECKING:
    from typing import Self

    from cwndlab._native import RunToken
    from cwndlab.linux.kernel import Kernel

    Overrides = list[tuple[str, str]]

# How often a run is asked how far it is.
POLL_S = 0.02
# What a run usually takes: to start, and for each packet expected.
USUAL_S = 0.1
USUAL_PER_PACKET_S = 3e-6
# A run that takes longer than this, and this for each packet expected, hangs.
LIMIT_S = 60.0
LIMIT_PER_PACKET_S = 200e-6
# Memory of a kernel, for each packet that it may hold at once, and for each connection. A connection has two
# threads, and a kernel allows one for each 2 MB. What is not used costs the host nothing.
MEMORY_MB = 512
PACKET_BYTES = 8192
CONNECTION_MB = 4.2
# The folder of a run, in the folder for temporary files; the number of our process follows.
FOLDER = "cwndlab-linux-"
# The last lines of its console in an error.
CONSOLE_LINES = 15


@dataclass(frozen=True, eq=False)
class Linux(Engine):
    """The kernel beside an engine: scenarios are checked for Linux, and run in it."""

    kernel: Kernel | None = None

    def check(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return every problem of a scenario, as JSON."""
        return self.module.check(text, file, overrides, "linux", self._linked)  # type: ignore[no-any-return]

    def resolve(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return everything that is in force in a scenario, as canonical JSON."""
        return self.module.resolve(text, file, overrides, "linux", self._linked)  # type: ignore[no-any-return]

    def components(self, text: bytes, file: str, overrides: Overrides) -> str:  # type: ignore[override]
        """Return the names of what a run reports on, as JSON."""
        return self.module.components(  # type: ignore[no-any-return]
            text, file, overrides, "linux", self._linked
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
    def _linked(self) -> bool:
        """Whether the kernel has the crate of the extension module."""
        return self.kernel is not None and self.kernel.crate is not None

    @property
    def _kernel(self) -> Kernel:
        return self.kernel or kernel.required()

    def run_seed(
        self, text: bytes, file: str, overrides: Overrides, seed: int, record: bool, token: RunToken
    ) -> tuple[str, Any, dict[str, Any] | None]:
        """Run a scenario with one seed.

        Raises `InterruptedError` if the token cancels the run, and `RuntimeError` with the last lines of the
        kernel's console if it breaks off or hangs, or with what a controller of this process says if that
        breaks it off.
        """
        checked = json.loads(self.check(text, file, overrides))
        saved = []
        if checked["knows_earlier_run"]:
            before = self._result(text, file, overrides, seed, checked, token, record=False, saved=[])
            saved = before["saved_ssthresh"]
        result = self._result(text, file, overrides, seed, checked, token, record=record, saved=saved)
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
    ) -> dict[str, Any]:
        """Return what a kernel writes of its run. Paths begin with the ssthresh that a run before saved."""
        _sweep()
        remote = self.module.remote_controllers(text, file, overrides, self._linked)
        with tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-") as name:
            folder = Path(name)
            output, progress = folder / "result.json", folder / "progress"
            request = {
                "text": text.decode(),
                "file": file,
                # The settings of controllers of this process are for them, not for the kernel.
                "overrides": [*overrides, *((key, name) for key, name, _ in remote)],
                "remote": [{"name": name, "probes": probes} for _, name, probes in remote],
                "seed": seed,
                "record": record,
                "saved": saved,
                "output": str(output),
                "progress": str(progress),
            }
            writing.write_text(folder / "request.json", json.dumps(request))
            limit_s = LIMIT_S + LIMIT_PER_PACKET_S * float(checked["packets_expected"] or 0)
            memory_mb = MEMORY_MB + CONNECTION_MB * float(checked["connections"] or 0)
            memory_mb += PACKET_BYTES * float(checked["packets_held"] or 0) / 2**20
            with ExitStack() as stack:
                serving = None
                if remote:
                    server = self.module.ControllerServer(text, file, overrides, self._linked, seed)
                    serving = stack.enter_context(Serving(server))
                instance = _Instance(self._kernel, folder, seed, int(memory_mb), serving)
                stack.enter_context(instance).follow(token, limit_s)
            result: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        return result


@cache
def _sweep() -> None:
    """Remove the folders of runs whose process was killed, once in each process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        number = folder.name.removeprefix(FOLDER).partition("-")[0]
        if number.isdecimal() and not Path("/proc", number).exists():
            shutil.rmtree(folder, ignore_errors=True)


class _Instance:
    """One kernel, which makes one run and ends."""

    def __init__(
        self, image: Kernel, folder: Path, seed: int, memory_mb: int, serving: Serving | None
    ) -> None:
        self._serving = serving
        self._console = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the kernel)
        self._progress = folder / "progress"
        arguments = [
            "time-travel=inf-cpu",
            "time-travel-start=0",
            f"mem={memory_mb}M",
            # Otherwise every run leaves a folder in ~/.uml.
            f"uml_dir={folder}/",
            "con=null",
            "con0=null",
            "stderr=1",
            "loglevel=4",
        ]
        environment = {
            "CWNDLAB_REQUEST": str(folder / "request.json"),
            "CWNDLAB_SEED": str(seed),
            "CWNDLAB_PARENT": str(os.getpid()),
            **{name: os.environ[name] for name in ("TMPDIR",) if name in os.environ},
        }
        lines = [serving.theirs.fileno()] if serving else []
        if lines:
            environment["CWNDLAB_LINE"] = str(lines[0])
        self._process = subprocess.Popen(
            [image.image, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._console,
            stderr=self._console,
            start_new_session=True,
            pass_fds=lines,
        )
        if serving:
            serving.passed_on()

    def follow(self, token: RunToken, limit_s: float) -> None:
        """Wait for the end, and pass on how much is done."""
        end = time.monotonic() + limit_s
        while not self._ended():
            if token.cancelled:
                raise InterruptedError("the run was interrupted")
            if time.monotonic() > end:
                raise RuntimeError(self._failure(f"it did not end within {limit_s:.0f} s"))
            token.report(self._done())
        if self._process.returncode:
            if self._serving:
                self._serving.check()
            raise RuntimeError(self._failure(f"it ended with status {self._process.returncode}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the kernel and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._console.close()

    def _ended(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(POLL_S)
        return self._process.returncode is not None

    def _done(self) -> float:
        try:
            return int(self._progress.read_text()) / 1000
        except (OSError, ValueError):
            return 0.0

    def _failure(self, reason: str) -> str:
        self._console.seek(0)
        console = self._console.read().decode(errors="replace").splitlines()
        last = "\n".join(f"  {line}" for line in console[-CONSOLE_LINES:])
        return f"the kernel failed: {reason}; the end of its console:\n{last}"


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
