"""The run of one seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cwndlab.results.detail import Detail

if TYPE_CHECKING:
    from cwndlab.results.recording import Recording


@dataclass(frozen=True)
class SeedRun:
    """The finished run of one seed; `reused` if it was not simulated now."""

    seed: int
    outcome: dict[str, Any]
    detail: Detail
    recording: Recording | None
    reused: bool

    def measures_only(self) -> SeedRun:
        """The same without what takes most of its memory: intervals, distributions and series."""
        return replace(self, detail=Detail.forgotten(), recording=None)
