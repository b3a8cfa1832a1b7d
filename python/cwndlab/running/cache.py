"""Keeps finished runs on disk, so that none is run twice.

Each run has one file, named by a hash of everything that decides its outcome: the resolved scenario, the
seed, the extension module, and whether the run was recorded. A file gets its name when it is complete, so a
reader never sees half of one. Each ends with a hash of its name and content: a run whose file was damaged
or replaced is simulated again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import OutputError
from cwndlab.results.detail import Detail, Distribution
from cwndlab.results.recording import FlowEvent, Recording, SeriesTable
from cwndlab.system.reading import read_regular
from cwndlab.system.writing import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cwndlab.results.recording import Column

    Arrays = Mapping[str, Any]

FORMAT = 4
MAX_BYTES = 2 * 1024**3
SEAL_BYTES = 32


@dataclass(frozen=True)
class CachedRun:
    """The outcome of one run, its details, and its series if it was recorded."""

    outcome: dict[str, Any]
    detail: Detail
    recording: Recording | None


def default_folder() -> Path:
    """Return $CWNDLAB_CACHE, or `.cwndlab/cache` in the current folder if it is not set."""
    return Path(os.environ.get("CWNDLAB_CACHE") or Path(".cwndlab") / "cache")


class Cache:
    """The runs of one scenario, simulated by one build of the extension module."""

    def __init__(
        self,
        folder: Path,
        canonical: str,
        extension: str,
        *,
        fresh: bool = False,
        holds: Callable[[], bool] = lambda: True,
    ) -> None:
        self._folder = folder
        # Whether `canonical` still describes the run completely: a controller may import more while it runs.
        self._holds = holds
        self._base = hashlib.sha256(f"{FORMAT}\n{extension}\n{canonical}".encode())
        self._fresh = fresh
        # The reason why the first finished run that failed to be kept was not.
        self.failure: str | None = None

    def load(self, seed: int, *, record: bool) -> CachedRun | None:
        """Return a finished run, or None. A recorded run also serves a request without recording."""
        if self._fresh:
            return None
        kinds = [True] if record else [False, True]
        found = (read_run(self._path(seed, record=kind)) for kind in kinds)
        return next((cached for cached in found if cached is not None), None)

    def save(self, seed: int, cached: CachedRun, archive: bytes | None = None) -> None:
        """Keep a finished run. A full or read-only disk prevents the reuse, but does not lose the run.

        `archive` is what `archived` gives of it, if that was done elsewhere.
        """
        if not self._holds():
            return
        try:
            write_run(self._path(seed, record=cached.recording is not None), archive or archived(cached))
        except OSError as error:
            self.failure = self.failure or error.strerror or str(error)
        except OutputError as error:
            self.failure = self.failure or str(error)

    def key(self, seed: int, *, record: bool) -> str:
        """Return a hash of everything that decides the outcome of a run, in hexadecimal."""
        digest = self._base.copy()
        digest.update(f"\n{seed}\n{record}".encode())
        return digest.hexdigest()

    def _path(self, seed: int, *, record: bool) -> Path:
        name = self.key(seed, record=record)
        return self._folder / name[:2] / f"{name}.npz"


def prune(folder: Path, max_bytes: int = MAX_BYTES) -> None:
    """Delete the least recently used runs until the rest takes at most `max_bytes`."""
    entries = list(_entries(folder))
    excess = sum(status.st_size for status, _ in entries) - max_bytes
    for status, path in sorted(entries, key=lambda entry: entry[0].st_mtime):
        if excess <= 0:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            excess -= status.st_size


def _entries(folder: Path) -> Iterator[tuple[os.stat_result, Path]]:
    for path in folder.glob("??/*.npz"):
        # Another process may delete files too.
        with contextlib.suppress(OSError):
            yield path.stat(), path


def read_run(path: Path) -> CachedRun | None:
    """Return the run in this file, or None if the file is missing or damaged."""
    try:
        content = _checked(path)
        cached = None if content is None else _decoded(content)
    except Exception:
        # Missing, unreadable, or written by another program that knows the hash: the run is simulated again.
        return None
    # `prune` reads the time of the last use. A read-only folder is never pruned.
    with contextlib.suppress(OSError):
        os.utime(path)
    return cached


def _checked(path: Path) -> bytes | None:
    """Return the archive if its hash follows it, else None.

    This happens before decoding, because a damaged archive may request any amount of memory.
    """
    file = read_regular(path)
    archive, seal = file[:-SEAL_BYTES], file[-SEAL_BYTES:]
    return archive if _seal(path, archive) == seal else None


def _seal(path: Path, archive: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\n" + archive).digest()


def _decoded(archive: bytes) -> CachedRun:
    import numpy as np

    # NumPy reads an archive in many small pieces. From memory, they cost no system calls.
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        content = json.loads(arrays["content"].tobytes())
        return CachedRun(
            content["outcome"], _read_detail(content["detail"], arrays), _read_recording(content, arrays)
        )


def _read_detail(content: Any, arrays: Arrays) -> Detail:
    owners = content["distributions"]
    starts = [*arrays["buckets_start"].tolist(), len(arrays["buckets"])]
    spans = [slice(*pair) for pair in itertools.pairwise(starts)]
    buckets, counts = arrays["buckets"], arrays["buckets_count"]
    return Detail(
        arrays["end_s"],
        _read_tables(content["tables"], arrays, "interval"),
        arrays["jain_end_s"],
        arrays["jain"],
        [
            Distribution(kind, name, measure, buckets[span], counts[span])
            for (kind, name, measure), span in zip(owners, spans, strict=True)
        ],
        {name: arrays[f"weights/{name}"].tobytes() for name in content["weights"]},
    )


def _read_recording(content: Any, arrays: Arrays) -> Recording | None:
    tables = content["tables"]
    if tables is None:
        return None
    return Recording(
        arrays["time_s"],
        _read_tables(tables, arrays, "series"),
        [FlowEvent(*event) for event in content["events"]],
        content["events_missed"],
    )


def _read_tables(tables: Any, arrays: Arrays, prefix: str) -> list[SeriesTable]:
    # NumPy decompresses an array of an archive each time it is accessed.
    stacks = {name: arrays[name] for name in arrays if name.startswith(f"{prefix}/")}
    return [
        SeriesTable(
            table["kind"],
            table["name"],
            {column: stacks[f"{prefix}/{column}"][row] for column, row in table["rows"].items()},
        )
        for table in tables
    ]


def archived(cached: CachedRun) -> bytes:
    """Return a run as the content of a file, without the hash at its end."""
    import numpy as np

    arrays: dict[str, Any] = {}
    detail = cached.detail
    content: dict[str, Any] = {
        "outcome": cached.outcome,
        "detail": {
            "tables": _stack(detail.tables, arrays, "interval"),
            "distributions": [(each.kind, each.name, each.measure) for each in detail.distributions],
            "weights": list(detail.weights),
        },
        "tables": None,
    }
    arrays |= {"end_s": detail.end_s, "jain_end_s": detail.jain_end_s, "jain": detail.jain}
    arrays |= _joined(detail.distributions)
    arrays |= {f"weights/{name}": np.frombuffer(file, np.uint8) for name, file in detail.weights.items()}
    if cached.recording is not None:
        arrays["time_s"] = cached.recording.time_s
        content["tables"] = _stack(cached.recording.tables, arrays, "series")
        content["events"] = [(event.time_s, event.flow, event.kind) for event in cached.recording.events]
        content["events_missed"] = cached.recording.events_missed
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    return archive.getvalue()


def write_run(path: Path, archive: bytes) -> None:
    """Write what `archived` gives of a run. Raises `OSError` or `OutputError` if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not durable: a run whose file a power cut damages is simulated again.
    with whole(path, durable=False) as file:
        file.write(archive)
        file.write(_seal(path, archive))


def _stack(tables: Sequence[SeriesTable], arrays: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Stack each column over all tables that have it. An archive with an array per table would be slow."""
    import numpy as np

    stacks: dict[str, list[Column]] = {}
    described = []
    for table in tables:
        rows = {}
        for name, values in table.columns.items():
            stack = stacks.setdefault(name, [])
            rows[name] = len(stack)
            stack.append(values)
        described.append({"kind": table.kind, "name": table.name, "rows": rows})
    arrays |= {f"{prefix}/{name}": np.vstack(stack) for name, stack in stacks.items()}
    return described


def _joined(distributions: Sequence[Distribution]) -> dict[str, Any]:
    import numpy as np

    none = [np.zeros(0)]
    lengths = [len(each.middle) for each in distributions]
    return {
        "buckets_start": np.concatenate([[0], np.cumsum(lengths)])[: len(lengths)].astype(np.int64),
        "buckets": np.concatenate([each.middle for each in distributions] or none),
        "buckets_count": np.concatenate([each.count for each in distributions] or none),
    }
