"""Reads pcapng and qlog as their documents describe them, without the code that writes them."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECTION_HEADER, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6


@dataclass(frozen=True)
class Packet:
    """A packet of a capture: when, its length on the wire, and its first bytes."""

    at_ns: int
    length: int
    kept: bytes

    @property
    def ip(self) -> bytes:
        """The IP header."""
        return self.kept[: 4 * (self.kept[0] & 15)]

    @property
    def tcp(self) -> bytes:
        """The TCP header."""
        rest = self.kept[len(self.ip) :]
        return rest[: 4 * (rest[12] >> 4)]

    @property
    def payload_bytes(self) -> int:
        """The length of the payload."""
        return self.length - len(self.ip) - len(self.tcp)

    @property
    def sequence(self) -> int:
        """The sequence number."""
        return int(struct.unpack("!I", self.tcp[4:8])[0])

    @property
    def flags(self) -> int:
        """CWR, ECE, URG, ACK, PSH, RST, SYN and FIN."""
        return self.tcp[13]

    @property
    def ecn(self) -> int:
        """The ECN field of the IP header."""
        return self.kept[1] & 3

    def checksums(self) -> tuple[int, int]:
        """The sums of the IP header, and of TCP with a payload of zeros: 0xffff if right."""
        tcp = self.tcp
        length = len(tcp) + self.payload_bytes
        pseudo = self.ip[12:20] + struct.pack("!BBH", 0, 6, length)
        return folded(self.ip), folded(pseudo + tcp)


def folded(content: bytes) -> int:
    """The ones' complement sum."""
    total: int = sum(struct.unpack(f"!{len(content) // 2}H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of each whole block."""
    content, at = file.read_bytes(), 0
    while at + 12 <= len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if at + length > len(content):
            return
        [again] = struct.unpack_from("<I", content, at + length - 4)
        assert again == length
        assert length % 4 == 0
        yield kind, content[at + 8 : at + length - 4]
        at += length


def packets(file: Path) -> list[Packet]:
    """The packets of a capture with one interface."""
    [(first, section), (second, interface), *others] = blocks(file)
    assert (first, second) == (SECTION_HEADER, INTERFACE)
    assert struct.unpack_from("<IHHq", section) == (0x1A2B3C4D, 1, 0, -1)
    # Raw IP, and the option if_tsresol: 10^-9 s.
    assert struct.unpack_from("<H", interface) == (101,)
    assert struct.pack("<HHB", 9, 1, 9) in interface
    return [_packet(kind, body) for kind, body in others]


def _packet(kind: int, body: bytes) -> Packet:
    interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
    assert (kind, interface) == (PACKET, 0)
    return Packet((high << 32) + low, length, body[20 : 20 + kept])


def qlog(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The heading and the events of a file in JSON-SEQ; a record that was cut off is left out (RFC 7464)."""
    records = []
    for text in file.read_bytes().split(b"\x1e")[1:]:
        if text.endswith(b"\n"):
            records.append(json.loads(text))
    return records[0], records[1:]
