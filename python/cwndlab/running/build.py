"""What has to be the same in two processes, so that a run in one can stand for a run in the other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
# Data: links to folders in a clone, copies of them in a wheel.
_SHIPPED = _PACKAGE / "shipped"
# How a difference is repaired, and how much of a hash is shown.
SAME = "install the same build in both"
SHOWN = 12


@dataclass(frozen=True)
class Build:
    """The version of cwndlab, and a hash of its Python sources. An engine has a hash of its own."""

    version: str
    sources_sha256: str

    @classmethod
    @cache
    def here(cls) -> Build:
        """Return the build of this process."""
        found = hashlib.sha256()
        for path in sorted(path for path in _PACKAGE.rglob("*.py") if _SHIPPED not in path.parents):
            text = path.read_bytes()
            found.update(f"{path.relative_to(_PACKAGE)} {len(text)}\n".encode() + text)
        return cls(version("cwndlab"), found.hexdigest())

    def differs_from(self, other: Build) -> str | None:
        """Return how this build differs from that of the caller, or None."""
        if self.version != other.version:
            return f"it has cwndlab {self.version}, the caller {other.version}; {SAME}"
        if self.sources_sha256 != other.sources_sha256:
            ours, theirs = self.sources_sha256[:SHOWN], other.sources_sha256[:SHOWN]
            return f"its Python sources of cwndlab differ ({ours}, the caller has {theirs}); {SAME}"
        return None
