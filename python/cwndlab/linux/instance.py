"""One process that is a kernel: what it is given, its console, and its end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from cwndlab.system import writing

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from typing import Self

    from cwndlab.linux.kernel import Kernel

    Overrides = list[tuple[str, str]]
    # The algorithms whose controllers this process has: the key, the name, the probes, the ECN codepoint.
    Remote = list[tuple[str, str, list[str], str]]

# A run hangs if it makes no progress for this time, and this for each packet expected.
LIMIT_S = 60.0
LIMIT_PER_PACKET_S = 200e-6
# Memory of a kernel, for each packet that it may hold at once, for the sockets of each connection, and for
# each pair of hosts. A pair has two threads, and a kernel allows one for each 2 MB. What is not used costs
# the machine nothing.
MEMORY_MB = 512
PACKET_BYTES = 8192
CONNECTION_BYTES = 16384
HOSTS_MB = 4.2
# The folder of a run, in the folder for temporary files; the number of our process follows.
FOLDER = "cwndlab-linux-"
# The last lines of its console in an error, without the addresses of a stack.
CONSOLE_LINES = 15
OURS = "cwndlab: "
ADDRESSES = re.compile(r" (\[<|[0-9a-f]{5,} )")


@dataclass(frozen=True)
class Size:
    """About how much a run carries."""

    packets_expected: float
    packets_held: float
    connections: float
    hosts: float

    @property
    def limit_s(self) -> float:
        """The time without progress after which it hangs."""
        return LIMIT_S + LIMIT_PER_PACKET_S * self.packets_expected

    @property
    def memory_mb(self) -> int:
        """The memory that its kernel gets."""
        content_bytes = PACKET_BYTES * self.packets_held + CONNECTION_BYTES * self.connections
        return int(MEMORY_MB + HOSTS_MB * self.hosts + content_bytes / 2**20)


def request(
    text: bytes,
    file: str,
    overrides: Overrides,
    remote: Remote,
    seed: int,
    *,
    agents: Sequence[str] = (),
    record: bool = False,
    saved: Sequence[int | None] = (),
    qlog: str | None = None,
    pcap: str | None = None,
) -> dict[str, Any]:
    """Return what a kernel is asked: a scenario and its seed.

    `remote` are the algorithms whose controllers this process has; `agents` are the names of the flows that
    agents of this process steer; `saved` is the ssthresh that a run before saved, of each path, in segments;
    `qlog` and `pcap` are the folders for qlog and for captures.
    """
    return {
        "text": text.decode(),
        "file": file,
        # The settings of controllers of this process are for them, not for the kernel.
        "overrides": [*overrides, *((key, name) for key, name, _, _ in remote)],
        "remote": [{"name": name, "probes": probes, "ecn": ecn} for _, name, probes, ecn in remote],
        "agents": list(agents),
        "seed": seed,
        "record": record,
        "saved": list(saved),
        "qlog": qlog,
        "pcap": pcap,
    }


class Instance:
    """A kernel that makes one run and ends. Its process and its folder end with this object at the latest.

    `line` is the kernel's end of the line to controllers and agents of this process; it is closed here.
    """

    def __init__(
        self, image: Kernel, asked: dict[str, Any], size: Size, line: socket.socket | None = None
    ) -> None:
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        try:
            self._output, self._progress = folder / "result.json", folder / "progress"
            files = {"output": str(self._output), "progress": str(self._progress)}
            writing.write_text(folder / "request.json", json.dumps(asked | files))
            # It lives as long as the kernel.
            self._console = tempfile.TemporaryFile()  # noqa: SIM115
            arguments = _arguments(folder, size.memory_mb)
            environment = _environment(folder, asked["seed"], line)
            self._process = _started([image.image, *arguments], environment, self._console, line)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._end = weakref.finalize(self, _end, os.getpid(), self._process, self._console, folder)
        if line:
            line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the kernel and what it has started."""
        self._end()

    def ended(self, within_s: float) -> bool:
        """Wait for the end for this long, and say whether it has come."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.returncode is not None

    def done(self) -> float:
        """Return how much of the run is done, from 0 to 1."""
        try:
            return int(self._progress.read_text()) / 1000
        except (OSError, ValueError):
            return 0.0

    def check(self) -> None:
        """Raise `RuntimeError` if the kernel has ended before its run did."""
        if self._process.returncode:
            raise RuntimeError(self.failure(f"it ended with status {self._process.returncode}"))

    def result(self) -> dict[str, Any]:
        """Return what a kernel that has ended has measured."""
        result: dict[str, Any] = json.loads(self._output.read_text(encoding="utf-8"))
        return result

    def failure(self, reason: str) -> str:
        """Return what we say on the console ourselves, or the reason with the last lines of the console."""
        self._console.seek(0)
        console = self._console.read().decode(errors="replace").splitlines()
        told = [line.rstrip() for line in console if line.strip() and not ADDRESSES.match(line)]
        own = [line.removeprefix(OURS) for line in told if line.startswith(OURS)]
        if own:
            return f"the kernel failed: {own[-1]}"
        last = "\n".join(f"  {line}" for line in told[-CONSOLE_LINES:])
        return f"the kernel failed: {reason}; the end of its console:\n{last}"


def _arguments(folder: Path, memory_mb: int) -> list[str]:
    return [
        "time-travel=inf-cpu",
        "time-travel-start=0",
        f"mem={memory_mb}M",
        # Otherwise every run leaves a folder in ~/.uml.
        f"uml_dir={folder}/",
        "con=null",
        # What the kernel says in the end, such as why it panics. Nobody types anything.
        "con0=null,fd:1",
        "stderr=1",
        "loglevel=4",
    ]


def _environment(folder: Path, seed: int, line: socket.socket | None) -> dict[str, str]:
    return {
        "CWNDLAB_REQUEST": str(folder / "request.json"),
        "CWNDLAB_SEED": str(seed),
        "CWNDLAB_PARENT": str(os.getpid()),
        **({"CWNDLAB_LINE": str(line.fileno())} if line else {}),
        **{name: os.environ[name] for name in ("TMPDIR",) if name in os.environ},
    }


def _started(
    command: list[Path | str], environment: dict[str, str], console: IO[bytes], line: socket.socket | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=console,
        stderr=console,
        start_new_session=True,
        pass_fds=[line.fileno()] if line else [],
    )


def _end(owner: int, process: subprocess.Popen[bytes], console: IO[bytes], folder: Path) -> None:
    # A fork of our process has a copy of the object; the kernel is not its own.
    if os.getpid() != owner:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    console.close()
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _sweep() -> None:
    """Remove the folders of runs whose process was killed, once in each process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        number = folder.name.removeprefix(FOLDER).partition("-")[0]
        if number.isdecimal() and not Path("/proc", number).exists():
            shutil.rmtree(folder, ignore_errors=True)
