"""Files that a run writes for other programs: qlog and pcapng (docs/exports.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.system.given import given_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from cwndlab.scenarios.scenario import Scenario

# Bytes for each data packet and its share of an ACK, with timestamps: docs/exports.md has the sizes.
QLOG_BYTES = 700
# The same in the captures at both ends of a connection, or of a link.
PCAP_BYTES = 2 * 136


@dataclass(frozen=True)
class Exports:
    """The folders of the exports, each with a folder for each seed; None for those that are not wanted."""

    qlog: str | None = None
    pcap: str | None = None

    @classmethod
    def into(
        cls, qlog: str | PathLike[str] | None = None, pcap: str | PathLike[str] | None = None
    ) -> Exports | None:
        """Return the exports into these folders, or None if there are none."""
        if qlog is None and pcap is None:
            return None
        whole = {
            name: str(given_path(each, name).absolute())
            for name, each in (("qlog", qlog), ("pcap", pcap))
            if each is not None
        }
        return cls(**whole)

    def folders(self) -> dict[str, str]:
        """Return the folder of each wanted export by its name."""
        return {name: folder for name, folder in (("qlog", self.qlog), ("pcap", self.pcap)) if folder}

    def require(self, backend: str) -> None:
        """Raise `InputError` if this backend cannot write them."""
        for name in self.folders():
            if backend not in ("sim", "linux"):
                raise InputError(f"{name}: expected the backend sim or linux, found {backend}")

    def expected_bytes(self, scenarios: Sequence[Scenario], seeds: int) -> float:
        """Return about how much the runs of these scenarios write."""
        each = sum(
            scenario.packets_expected * self._packet_bytes(len(scenario.resolved["link"]))
            for scenario in scenarios
        )
        return each * seeds

    def _packet_bytes(self, links: int) -> int:
        qlog = 0 if self.qlog is None else QLOG_BYTES
        pcap = 0 if self.pcap is None else PCAP_BYTES * (1 + links)
        return qlog + pcap
