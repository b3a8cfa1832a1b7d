"""The run of one seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cwndlab.results.detail import Detail

if TYPE_CHECKING:
    from cwndlab.results.recording import Recording


@dataclass(frozen=True)
class SeedRun:
    """The finished run of one seed. If `reused`, it comes from the cache."""

    seed: int
    outcome: dict[str, Any] = field(repr=False)
    detail: Detail = field(repr=False)
    recording: Recording | None = field(repr=False)
    reused: bool

    def measures_only(self) -> SeedRun:
        """Return the run without intervals, distributions and series, which take most of its memory."""
        return replace(self, detail=Detail.forgotten(), recording=None)
