"""Captures of the Linux backend: packets with the headers that the kernel gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from tests.captures import packets
from tests.test_exports import CWR, ECE, LOSSY, SYN, capture, outcome, tshark

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

KERNELS = {"flow.a.cc": "linux:cubic", "flow.b.cc": "linux:bbr"}


@pytest.fixture(scope="module")
def in_linux(linux_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cl.Result]:
    """The folder of one run's captures, and its result."""
    del linux_kernel
    folder = tmp_path_factory.mktemp("exports")
    return folder, cl.run(LOSSY, [1], KERNELS, backend="linux", pcap=folder / "pcap")


def test_a_capture_changes_nothing(in_linux: tuple[Path, cl.Result]) -> None:
    _, result = in_linux
    without = cl.run(LOSSY, [1], KERNELS, backend="linux", fresh=True)
    assert result.runs[0].outcome == without.runs[0].outcome


def test_the_kernels_headers_are_captured_at_every_end(in_linux: tuple[Path, cl.Result]) -> None:
    folder, result = in_linux
    for name in ("senders", "receivers", "link-1-bottleneck-near", "link-1-bottleneck-far"):
        found = capture(folder, name)
        assert len(found) > 5000, name
        assert {packet.checksums() for packet in found} == {(0xFFFF, 0xFFFF)}, name
    sent = [packet for packet in capture(folder, "senders") if packet.payload_bytes]
    assert len(sent) == sum(flow["sent_packets"] for flow in outcome(result))


def test_tshark_counts_the_kernels_retransmissions(in_linux: tuple[Path, cl.Result]) -> None:
    folder, result = in_linux
    fields = ["tcp.stream", "tcp.analysis.retransmission", "tcp.analysis.out_of_order"]
    found = tshark(folder / "pcap" / "seed-1" / "senders.pcapng", *fields)
    again = sum(flow["retransmitted_packets"] for flow in outcome(result))
    assert again > 20
    assert sum(bool(row[1] or row[2]) for row in found) == again


def test_the_links_marks_are_in_the_kernels_headers(linux_kernel: Kernel, tmp_path: Path) -> None:
    del linux_kernel
    overrides = {**KERNELS, "flow.b.cc": "linux:cubic", "tcp.ecn": True}
    overrides["link.bottleneck.queue"] = '{ kind = "codel", ecn = true }'
    cl.run(LOSSY, [1], overrides, backend="linux", pcap=tmp_path)
    near, far = (packets(tmp_path / "seed-1" / f"link-1-bottleneck-{end}.pcapng") for end in ("near", "far"))
    assert 3 not in {packet.ecn for packet in near}
    marked = [packet for packet in far if packet.ecn == 3]
    assert marked
    assert {packet.checksums() for packet in marked} == {(0xFFFF, 0xFFFF)}
    assert any(packet.flags & ECE and not packet.flags & SYN for packet in far)
    assert any(packet.flags & CWR and packet.payload_bytes for packet in near)
