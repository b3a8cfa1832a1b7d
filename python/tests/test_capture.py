"""Packet captures: `cwndlab show` has a table of their losses, `cwndlab convert` makes traces of them."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest

from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.traces import capture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Command

MSS = 1000
RTT_S = 0.1
# Raw IP packets.
LINK_TYPE = 101
SENDER, RECEIVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


def packet(*, at_s: float, number: int, payload: int = 0) -> bytes:
    """Data of the sender from byte `number` on; without payload, an ACK of the receiver up to it."""
    ends = (SENDER, RECEIVER) if payload else (RECEIVER, SENDER)
    ports = (443, 5000) if payload else (5000, 443)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0, *ends)
    numbers = (number, 1) if payload else (1, number)
    tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, 0x50, 0x10, 1000, 0, 0)
    kept = ip + tcp
    micros = round(at_s * 1e6)
    return struct.pack("<IIII", *divmod(micros, 1_000_000), len(kept), 40 + payload) + kept


def transfer(path: Path) -> Path:
    """Write 2 s of ten segments in each RTT, captured beside the sender, with a timeout at the end."""
    packets = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, LINK_TYPE)]
    for turn in range(20):
        at_s = turn * RTT_S
        segments = range(10 * turn, 10 * turn + 10)
        packets += [packet(at_s=at_s + 1e-5 * n, number=n * MSS, payload=MSS) for n in segments]
        packets += [packet(at_s=at_s + RTT_S - 1e-3 + 1e-6 * n, number=(n + 1) * MSS) for n in segments]
    packets += [packet(at_s=at_s, number=200 * MSS, payload=MSS) for at_s in (2.0, 2.5)]
    path.write_bytes(b"".join(packets))
    return path


def test_show_prints_the_losses_of_a_capture(cwndlab: Command, tmp_path: Path) -> None:
    path = transfer(tmp_path / "x.pcap")
    answer = cwndlab("show", str(path))
    assert answer.returncode == 0, answer.stderr
    shown = " ".join(answer.stdout.split())
    for words in (
        "(capture): 402 packets, 1 TCP connection",
        "10.0.0.1:443 to 10.0.0.2:5000, captured beside the sender",
        "202 segments, 0.202 MB of payload",
        "RTT samples 200 0",
        "timeouts 1 0",
        "fast recoveries 0 0",
    ):
        assert words in shown
    document = json.loads(cwndlab("show", str(path), "--json").stdout)
    assert (document["schema"], document["kind"], document["timeouts"]) == (1, "capture", 1)
    assert document["losses"] == [{"at_s": 2.5, "kind": "timeout"}]


def test_a_capture_becomes_a_trace(cwndlab: Command, tmp_path: Path) -> None:
    out = tmp_path / "x.down"
    answer = cwndlab("convert", str(transfer(tmp_path / "x.pcap")), "--out", str(out))
    assert answer.returncode == 0, answer.stderr
    # 200 packets of 1040 bytes that ACKs report.
    assert len(out.read_text().splitlines()) in (200 * 1040 // 1504, 200 * 1040 // 1504 + 1)
    warned = " ".join(answer.stderr.split())
    assert "the capture was made beside the sender" in warned
    assert "what was carried, not what could have been" in warned


def test_mistakes(cwndlab: Command, tmp_path: Path) -> None:
    path = transfer(tmp_path / "x.pcap")
    answer = cwndlab("show", str(path), "--window", "1 s")
    assert (answer.returncode, "this is a capture" in " ".join(answer.stderr.split())) == (2, True)
    answer = cwndlab("convert", str(path), "--out", str(tmp_path / "y"), "--series", "a")
    assert (answer.returncode, "only a file of flent has series" in answer.stderr) == (2, True)
    path.write_bytes(path.read_bytes()[:24])
    with pytest.raises(InputError, match="expected a TCP connection with data, found none among 0 packets"):
        capture.read(SHIPPED, path)
