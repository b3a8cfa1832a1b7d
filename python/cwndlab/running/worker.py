"""Makes runs in another process, after checking that it has what they need.

The caller sends the scenario and the hashes of all else. Traces, weights and the code of controllers are sent
when the worker lacks them, and are kept there by their hashes. The engine and the kernel of the Linux backend
are not sent: the worker's own must have the same hashes.
"""

from __future__ import annotations

import hashlib
import pickle
import signal
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.controllers import loading
from cwndlab.engine.selection import named
from cwndlab.errors import InputError, OutputError
from cwndlab.linux.backend import engine_of
from cwndlab.running.build import SAME, Build
from cwndlab.running.cache import archived
from cwndlab.running.job import Job, simulate
from cwndlab.running.named_files import meaning, moved
from cwndlab.running.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cwndlab._native import RunToken
    from cwndlab.engine import Engine
    from cwndlab.engine.origins import Registration
    from cwndlab.running.cache import CachedRun
    from cwndlab.running.needs import NeededController, Needs

    # The name of an engine's module, its backend and its hash.
    EngineNeeded = tuple[str, str, str]


@dataclass(frozen=True)
class Order:
    """A run to be made. If it has a `key`, its recording stays at the worker under this key."""

    needs: Needs
    job: Job
    key: str | None = None


@dataclass(frozen=True)
class Errand:
    """Runs to be made by one worker, one after the other, for a session that may be stopped."""

    session: str
    orders: Sequence[Order]


@dataclass(frozen=True)
class Made:
    """A finished run, and its archive for the cache: to make one takes the caller longer than to get it."""

    run: CachedRun
    archive: bytes

    @classmethod
    def of(cls, run: CachedRun) -> Made:
        """Return a run with its archive."""
        return cls(run, archived(run))


@dataclass(frozen=True)
class Broken:
    """The reason why a run broke off."""

    reason: str


@dataclass(frozen=True)
class Answer:
    """The runs of an errand, in order, up to the first that broke off; or the hashes of what is lacking.

    `took_s` is the time that the runs took, and `address` that of the worker in a cluster. `errand` is the
    hash of the errand.
    """

    errand: str
    runs: list[Made | Broken] = field(default_factory=list)
    took_s: float = 0.0
    address: str | None = None
    lacking: tuple[str, ...] = ()


def work(caller: tuple[str, str], packed: bytes, sent: Mapping[str, bytes]) -> Answer:
    """Make the runs of an errand in this process, with the contents that were sent.

    Arguments are plain, and the errand is unpacked after the check of the build: another version could not
    read it. Raises `InputError` if this process lacks what cannot be sent.
    """
    difference = Build.here().differs_from(Build(*caller))
    if difference is not None:
        raise InputError(f"{_me()}: {difference}")
    errand: Errand = pickle.loads(packed)
    named = name_of(packed)
    store = _store()
    for content in sent.values():
        store.keep(content)
    wanted = set().union(*(order.needs.contents for order in errand.orders))
    lacking = tuple(sorted(each for each in wanted if not store.has(each)))
    if lacking:
        return Answer(named, lacking=lacking)
    began = time.perf_counter()
    runs: list[Made | Broken] = []
    for order in errand.orders:
        runs.append(_made(order, errand.session, store))
        if isinstance(runs[-1], Broken):
            break
    cluster = _in_cluster()
    return Answer(named, runs, time.perf_counter() - began, cluster and cluster.address)


def name_of(packed: bytes) -> str:
    """Return the hash by which an answer names its errand."""
    return hashlib.sha256(packed).hexdigest()


def refusals(caller: tuple[str, str], engines: Iterable[EngineNeeded]) -> list[str]:
    """Return why this process cannot make runs of these engines, a line for each reason."""
    difference = Build.here().differs_from(Build(*caller))
    if difference is not None:
        return [difference]
    found = []
    for each in engines:
        try:
            _engine(*each)
        except InputError as error:
            found.append(str(error).removeprefix(f"{_me()}: "))
    return found


def stop(session: str) -> None:
    """End the runs of a session, and begin no more of them."""
    with _LOCK:
        _stopped.add(session)
        for token in _tokens.get(session, ()):
            token.cancel()


def kept(key: str, dask_worker: Any = None) -> CachedRun | None:
    """Return the run that stayed here under this key, or None if it is gone. Dask gives its worker."""
    return _store_in(dask_worker.local_directory).run(key)


def dask_setup(_worker: Any) -> None:
    """Leave Ctrl-C to the process that started this worker, and standard output to its document.

    Dask calls it in the workers of `--on dask`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr


# What the runs of this process share: code is loaded, and sessions are stopped, one at a time.
_LOCK = threading.RLock()
_tokens: dict[str, set[RunToken]] = {}
_stopped: set[str] = set()


def _made(order: Order, session: str, store: Store) -> Made | Broken:
    """Make a run, or say why it broke off. Raises `InterruptedError` if its session was stopped."""
    needs = order.needs
    engine = _engine(needs.engine, needs.backend, needs.engine_sha256)
    controllers = [_registered(engine, each, needs.archive, store) for each in needs.controllers]
    job = _with_files(order, engine, store)
    try:
        made = _simulated(job, engine, session)
    except InterruptedError:
        raise
    except (RuntimeError, ValueError) as error:
        return Broken(store.without_folders(str(error)))
    except Exception as error:
        return Broken(f"{type(error).__name__}: {error}")
    for needed, registration in zip(needs.controllers, controllers, strict=True):
        if engine.in_python().get(needed.name) is not registration:
            return Broken(f"another user of the worker loaded other code as {needed.name} meanwhile")
    if order.key is None or made.recording is None:
        return Made.of(made)
    try:
        store.keep_run(order.key, made)
    except (OSError, OutputError):
        # There is no room for it here.
        return Made.of(made)
    return Made.of(replace(made, recording=None))


def _simulated(job: Job, engine: Engine, session: str) -> CachedRun:
    token = engine.RunToken()
    with _LOCK:
        if session in _stopped:
            raise InterruptedError
        _tokens.setdefault(session, set()).add(token)
    try:
        return simulate(job, engine, token)
    finally:
        with _LOCK:
            _tokens[session].discard(token)


def _engine(name: str, backend: str, sha256: str) -> Engine:
    """Return the engine of this process. Raises `InputError` if it is missing, or another build."""
    try:
        engine = engine_of(backend, named(name))
    except InputError as error:
        raise InputError(f"{_me()}: {error}") from None
    if engine.sha256 == sha256:
        return engine
    what = f"{name} or its kernel for Linux" if backend == "linux" else name
    shown = f"{engine.sha256[:12]}, the caller has {sha256[:12]}"
    raise InputError(f"{_me()}: it has a different build of {what} ({shown}); {SAME}")


def _registered(engine: Engine, needed: NeededController, archive: str | None, store: Store) -> Registration:
    """Return the registration of a controller in this process, after loading its code if necessary."""
    with _LOCK:
        if not _has(engine, needed):
            if archive is None:
                loading.load([needed.registered_by])
            else:
                loading.load_from(store.unpacked(archive), needed.registered_by, store.code)
        if not _has(engine, needed):
            reason = "the worker has another version of Python, or of a package that it imports"
            raise InputError(f"{needed.name}: {_me()} has different code from the caller: {reason}")
        return engine.in_python()[needed.name]


def _has(engine: Engine, needed: NeededController) -> bool:
    registration = engine.in_python().get(needed.name)
    return registration is not None and _sha256(registration) == needed.sha256


@cache
def _sha256(registration: Registration) -> str:
    """Hash the code once per worker, because hashing takes longer than a short run."""
    return registration.sha256()


def _with_files(order: Order, engine: Engine, store: Store) -> Job:
    """Return the job with the files that were sent. Raises `InputError` if that would be another run."""
    if not order.needs.files:
        return order.job
    job = moved(order.job, {name: store.file(sha256) for name, sha256 in order.needs.files})
    why = None
    try:
        same = meaning(engine.resolve(job.text, job.file, list(job.overrides))) == order.needs.meaning
    except ValueError as error:
        same, why = False, str(error)
    if not same:
        names = ", ".join(name for name, _ in order.needs.files)
        hint = "one has the name of something else in the scenario; rename it"
        raise InputError(f"{names}: cannot be sent: {hint}{f' ({why})' if why else ''}")
    return job


def _store() -> Store:
    cluster = _in_cluster()
    return _store_in(cluster and cluster.local_directory)


@cache
def _store_in(folder: str | None) -> Store:
    return Store.temporary() if folder is None else Store(Path(folder) / "cwndlab")


def _me() -> str:
    cluster = _in_cluster()
    return "the worker" if cluster is None else f"worker {cluster.address}"


def _in_cluster() -> Any:
    """Return the worker of Dask that this code runs in, or None."""
    distributed: Any = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_worker()
    except ValueError:
        return None
