"""Finished runs, kept on disk so that none is run twice.

One file a run, named by a hash of all that decides its outcome: the resolved scenario, the seed, the
extension module, and whether the run was recorded. Files are written beside their place and renamed into it,
so a reader never sees half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwndlab.recording import FlowEvent, Recording, SeriesTable

FORMAT = 1
MAX_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Stored:
    """The outcome of one run, and its series if it was recorded."""

    outcome: dict[str, Any]
    recording: Recording | None


def default_folder() -> Path:
    """$CWNDLAB_CACHE, else `.cwndlab/cache` where the command is run."""
    return Path(os.environ.get("CWNDLAB_CACHE") or Path(".cwndlab") / "cache")


class Store:
    """The runs of one scenario, simulated by one build of the extension module."""

    def __init__(self, folder: Path, canonical: str, extension: str, *, fresh: bool = False) -> None:
        self._folder = folder
        self._base = hashlib.sha256(f"{FORMAT}\n{extension}\n{canonical}".encode())
        self._fresh = fresh

    def load(self, seed: int, *, record: bool) -> Stored | None:
        """Give a finished run, or None. A recorded run serves where no recording is asked for."""
        if self._fresh:
            return None
        kinds = [True] if record else [False, True]
        found = (_read(self._path(seed, record=kind)) for kind in kinds)
        return next((stored for stored in found if stored is not None), None)

    def save(self, seed: int, stored: Stored) -> None:
        """Keep a finished run. A disk that is full or read-only costs the reuse, not the result."""
        with contextlib.suppress(OSError):
            _write(self._path(seed, record=stored.recording is not None), stored)

    def _path(self, seed: int, *, record: bool) -> Path:
        digest = self._base.copy()
        digest.update(f"\n{seed}\n{record}".encode())
        name = digest.hexdigest()
        return self._folder / name[:2] / f"{name}.npz"


def prune(folder: Path, max_bytes: int = MAX_BYTES) -> None:
    """Delete the runs that were used longest ago, until the rest is no larger than `max_bytes`."""
    with contextlib.suppress(OSError):
        entries = [(path.stat(), path) for path in folder.glob("??/*.npz")]
        excess = sum(status.st_size for status, _ in entries) - max_bytes
        for status, path in sorted(entries, key=lambda entry: entry[0].st_mtime):
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= status.st_size


def _read(path: Path) -> Stored | None:
    import numpy as np

    try:
        # Numpy would leave the file open if its content is bad.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            content = json.loads(arrays["content"].tobytes())
            stored = Stored(content["outcome"], _recording(content, arrays))
        path.touch()
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        # Missing, cut short or of another kind: it is run again and written anew.
        return None
    return stored


def _recording(content: dict[str, Any], arrays: Any) -> Recording | None:
    tables = content["tables"]
    if tables is None:
        return None
    return Recording(
        arrays["time_s"],
        [
            SeriesTable(
                table["kind"],
                table["name"],
                {column: arrays[f"{index}/{column}"] for column in table["columns"]},
            )
            for index, table in enumerate(tables)
        ],
        [FlowEvent(*event) for event in content["events"]],
        content["events_missed"],
    )


def _write(path: Path, stored: Stored) -> None:
    import numpy as np

    arrays: dict[str, Any] = {}
    content: dict[str, Any] = {"outcome": stored.outcome, "tables": None}
    if stored.recording is not None:
        arrays["time_s"] = stored.recording.time_s
        tables = []
        events = [(event.time_s, event.flow, event.kind) for event in stored.recording.events]
        for index, table in enumerate(stored.recording.tables):
            tables.append({"kind": table.kind, "name": table.name, "columns": list(table.columns)})
            arrays |= {f"{index}/{name}": values for name, values in table.columns.items()}
        content |= {"tables": tables, "events": events, "events_missed": stored.recording.events_missed}
    arrays["content"] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        try:
            np.savez_compressed(part, **arrays)
        except BaseException:
            Path(part.name).unlink()
            raise
    Path(part.name).replace(path)
