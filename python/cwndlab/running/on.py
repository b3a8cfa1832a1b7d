"""Where runs are made: `--on dask` starts a cluster here, `--on dask:ADDRESS` takes one that runs."""

from __future__ import annotations

import asyncio
import importlib
import logging
import signal
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from cwndlab.errors import ClusterWarning, CwndlabError, InputError
from cwndlab.running.pool import available_cores
from cwndlab.system.interrupting import noticing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

# How long a scheduler may take to answer.
CONNECT_S = 10
MAX_PORT = 65_535


@dataclass(frozen=True)
class On:
    """A Dask cluster: that of the scheduler at this address, or one that is started for this command."""

    address: str | None = None

    @classmethod
    def parse(cls, text: str | None, threads: int | None) -> On | None:
        """Read the value of `--on`; None stands for threads of this process.

        Raises `InputError` if it is none, is no address, does not go with `--threads`, or Dask is not
        installed.
        """
        if text is None:
            return None
        engine, colon, address = text.partition(":")
        if engine != "dask" or (colon and not address):
            raise InputError(f"--on {text}: expected dask or dask:ADDRESS, such as dask:tcp://10.0.0.1:8786")
        if address and threads is not None:
            raise InputError(f"--on {text} and --threads: the workers of the cluster have their own threads")
        _library()
        if address:
            _require_address(text, address)
        return cls(address or None)

    @contextmanager
    def executor(self, threads: int | None) -> Iterator[Executor]:
        """Yield the executor of the cluster. A local one has `threads` threads, or one for each core.

        Raises `InputError` if Dask is not installed, and `CwndlabError` if no scheduler answers.
        """
        distributed = _library()
        if self.address is not None:
            with _connected(distributed, self.address) as client:
                if not client.nthreads():
                    text = f"--on dask:{self.address}: no worker is there yet; waiting for the first"
                    warnings.warn(text, ClusterWarning, stacklevel=1)
                yield client.get_executor()
            return
        with _started(distributed, threads) as cluster, distributed.Client(cluster) as client:
            yield client.get_executor()


@contextmanager
def executor_of(on: On | None, threads: int | None) -> Iterator[Executor | None]:
    """Yield the executor that makes the runs, or None if threads of this process do."""
    if on is None:
        yield None
        return
    with on.executor(threads) as executor:
        yield executor


def _library() -> Any:
    """Return Dask's distributed. Raises `InputError` if it is not installed."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        text = "--on dask: expected the package distributed, found none; pip install 'cwndlab[dask]'"
        raise InputError(text) from error


def _require_address(text: str, address: str) -> None:
    """Raise `InputError` for an address that no scheduler can have. To connect to it takes long to fail."""
    addressing = importlib.import_module("distributed.comm.addressing")
    try:
        _, port = addressing.get_address_host_port(address)
    except ValueError:
        expected = "dask:HOST:PORT, such as dask:10.0.0.1:8786 or dask:tls://host:8786"
        raise InputError(f"--on {text}: expected {expected}") from None
    if not 1 <= port <= MAX_PORT:
        raise InputError(f"--on {text}: expected a port from 1 to {MAX_PORT}, found {port}")


@contextmanager
def _started(distributed: Any, threads: int | None) -> Iterator[Any]:
    """Yield a cluster on this machine. Ctrl-C waits until it has started: its processes would break off."""
    processes, each = _shape(threads or available_cores())
    cluster = None
    try:
        with noticing(), _blocking_ctrl_c_in_children():
            cluster = distributed.LocalCluster(
                n_workers=processes,
                threads_per_worker=each,
                dashboard_address="127.0.0.1:0",
                silence_logs="CRITICAL",
                preload=["cwndlab.running.worker"],
                # As for threads of this process.
                memory_limit=0,
            )
    except KeyboardInterrupt:
        if cluster is not None:
            cluster.close()
        raise
    with cluster:
        yield cluster


@contextmanager
def _blocking_ctrl_c_in_children() -> Iterator[None]:
    """Start processes that do not get Ctrl-C, not even before their own code runs: they inherit the mask."""
    # It unblocks Ctrl-C in the thread that starts it, which the first process would.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connected(distributed: Any, address: str) -> Any:
    # We say ourselves what has happened to the scheduler.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        kind = asyncio.run(asyncio.wait_for(_kind(distributed, address), CONNECT_S))
        if kind != "Scheduler":
            raise CwndlabError(
                f"--on dask:{address}: expected the address of a scheduler, found a {kind.lower()}"
            )
        return distributed.Client(address, timeout=CONNECT_S)
    except TimeoutError:
        raise CwndlabError(
            f"--on dask:{address}: no scheduler of Dask answers within {CONNECT_S} s"
        ) from None
    except (OSError, ValueError) as error:
        raise CwndlabError(f"--on dask:{address}: no scheduler of Dask answers ({error})") from None


async def _kind(distributed: Any, address: str) -> str:
    """Ask what listens there. Dask's client waits for ever for one that is no scheduler."""
    security = distributed.Security()
    async with distributed.rpc(
        address, connection_args=security.get_connection_args("client"), timeout=CONNECT_S
    ) as there:
        identity = await there.identity()
    return str(identity.get("type", "program without a type"))


def _shape(threads: int) -> tuple[int, int]:
    """Return how many worker processes there are, and how many threads in each.

    The simulator needs no lock of Python, controllers in Python do: so there are some of both.
    """
    each = max(size for size in range(1, threads + 1) if threads % size == 0 and size * size <= threads)
    return threads // each, each
