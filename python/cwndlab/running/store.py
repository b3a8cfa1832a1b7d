"""What a worker keeps: files and code that were sent to it, and recordings until somebody asks for them.

Everything is found by a hash of its content, or of what it was made from.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.running.cache import archived, prune, read_run, write_run
from cwndlab.system.writing import whole

if TYPE_CHECKING:
    from cwndlab.running.cache import CachedRun


class Store:
    """A folder of a worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def temporary(cls) -> Store:
        """Return a store in the folder for temporary files, which goes when this process ends."""
        folder = Path(tempfile.mkdtemp(prefix="cwndlab-worker-"))
        store = cls(folder)
        weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
        return store

    def file(self, sha256: str) -> Path:
        """Return the place of the file with this content."""
        return self._folder / "files" / sha256

    def has(self, sha256: str) -> bool:
        """Return whether a file with this content is kept."""
        return self.file(sha256).is_file()

    def keep(self, content: bytes) -> None:
        """Keep a file."""
        path = self.file(hashlib.sha256(content).hexdigest())
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path, durable=False) as file:
            file.write(content)

    @property
    def code(self) -> Path:
        """The folder of all code that was sent."""
        return self._folder / "code"

    def unpacked(self, sha256: str) -> Path:
        """Return the folder with the files of an archive that is kept."""
        folder = self.code / sha256
        if not folder.is_dir():
            self.code.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(dir=self.code))
            with zipfile.ZipFile(io.BytesIO(self.file(sha256).read_bytes())) as archive:
                archive.extractall(part)
            part.rename(folder)
        return folder

    def without_folders(self, message: str) -> str:
        """Return a message with the names of code files as the caller knows them."""
        return re.sub(rf"{re.escape(str(self.code))}/[0-9a-f]{{64}}/", "", message)

    def keep_run(self, key: str, run: CachedRun) -> None:
        """Keep a run. Of all runs, those that were used last are kept, up to the size of a cache."""
        write_run(self._run(key), archived(run))
        prune(self._folder / "runs")

    def run(self, key: str) -> CachedRun | None:
        """Return the run that was kept under this key, or None."""
        return read_run(self._run(key))

    def _run(self, key: str) -> Path:
        return self._folder / "runs" / key[:2] / f"{key}.npz"
