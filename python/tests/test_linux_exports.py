"""Exports of the Linux backend: captures of its packets with their headers, and qlog of its TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from tests.captures import packets
from tests.test_exports import CWR, ECE, LOSSY, SYN, capture, named, outcome, trace, tshark

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

KERNELS = {"flow.a.cc": "linux:cubic", "flow.b.cc": "linux:bbr"}


@pytest.fixture(scope="module")
def in_linux(linux_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cl.Result]:
    """The folder of one run's exports, and its result."""
    del linux_kernel
    folder = tmp_path_factory.mktemp("exports")
    return folder, cl.run(LOSSY, [1], KERNELS, backend="linux", qlog=folder / "qlog", pcap=folder / "pcap")


def test_exports_change_nothing(in_linux: tuple[Path, cl.Result]) -> None:
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


def test_qlog_has_the_kernels_packets(in_linux: tuple[Path, cl.Result]) -> None:
    folder, result = in_linux
    captured = [packet for packet in capture(folder, "senders") if packet.payload_bytes]
    for number, (name, flow) in enumerate(zip("ab", outcome(result), strict=True), start=1):
        events = trace(folder, f"flow-{number}-{name}")
        times = [event["time"] for event in events]
        assert times == sorted(times)
        sent = [event["data"] for event in named(events, "transport:packet_sent")]
        assert len(sent) == flow["sent_packets"]
        assert sum(each["tcp"]["retransmission"] for each in sent) == flow["retransmitted_packets"]
        [started] = named(events, "connectivity:connection_started")
        address = bytes(map(int, started["data"]["src_ip"].split(".")))
        theirs = [packet for packet in captured if packet.ip[12:16] == address]
        assert [each["frames"][0]["length"] for each in sent] == [each.payload_bytes for each in theirs]
        first = int.from_bytes(theirs[0].tcp[4:8])
        offsets = [(int.from_bytes(each.tcp[4:8]) - first) % 2**32 for each in theirs]
        assert [each["frames"][0]["offset"] for each in sent] == offsets


def test_qlog_has_what_linux_acknowledged_and_lost(in_linux: tuple[Path, cl.Result]) -> None:
    folder, result = in_linux
    events = trace(folder, "flow-1-a")
    acked = [
        number
        for event in named(events, "transport:packet_received")
        for frame in event["data"]["frames"]
        for low, high in frame["acked_ranges"]
        for number in range(low, high + 1)
    ]
    lost = {event["data"]["header"]["packet_number"] for event in named(events, "recovery:packet_lost")}
    sent = named(events, "transport:packet_sent")
    assert len(acked) == len(set(acked))
    assert len(lost) >= outcome(result)[0]["retransmitted_packets"] > 20
    # The rest is under way at the end, or was sent again by a probe.
    assert 0 <= len(sent) - len(set(acked) | lost) < 200
    states = [event["data"]["new"] for event in named(events, "recovery:congestion_state_updated")]
    assert "recovery" in states
    reductions = [event["data"]["by"] for event in named(events, "cwndlab:window_reduced")]
    assert reductions.count("fast_recovery") == outcome(result)[0]["fast_recoveries"]
    assert reductions.count("timeout") == outcome(result)[0]["timeouts"]


def test_qlog_has_the_kernels_metrics(in_linux: tuple[Path, cl.Result]) -> None:
    folder, _ = in_linux
    last: dict[str, float] = {}
    for event in named(trace(folder, "flow-1-a"), "recovery:metrics_updated"):
        last |= event["data"]
        assert 0 <= last["bytes_in_flight"] < 200 * 1448
    # Propagation is 40 ms, and the queue takes 33 packets: 20 ms.
    assert 40 <= last["min_rtt"] < 45
    assert last["min_rtt"] <= last["smoothed_rtt"] < 65
    assert last["ssthresh"] % 1448 == last["congestion_window"] % 1448 == 0
    assert "rtt_variance" not in last
    paced: dict[str, float] = {}
    for event in named(trace(folder, "flow-2-b"), "recovery:metrics_updated"):
        paced |= event["data"]
    assert 1e6 < paced["pacing_rate"] < 60e6


def test_qlog_has_the_values_of_controllers_that_drive_linux(linux_kernel: Kernel, tmp_path: Path) -> None:
    del linux_kernel
    cl.run(LOSSY, [1], {"duration": "2 s"}, backend="linux", qlog=tmp_path / "qlog")
    values: dict[str, float] = {}
    for event in named(trace(tmp_path, "flow-2-b"), "cwndlab:controller_updated"):
        values |= event["data"]
    assert 1 < values["bw_mbps"] < 25


def test_flows_that_arrive_have_no_qlog_in_linux(linux_kernel: Kernel, tmp_path: Path) -> None:
    del linux_kernel
    arriving = LOSSY.replace('bytes = "1.0005 MB"', 'arrivals = { parallel = 2, size = "20 kB" }')
    cl.run(arriving, [1], {"duration": "1 s", "flow.b.cc": "linux:cubic"}, backend="linux", qlog=tmp_path)
    assert [each.name for each in (tmp_path / "seed-1").iterdir()] == ["flow-1-a.sqlog"]


def test_each_subflow_of_the_kernel_has_a_qlog(linux_kernel: Kernel, tmp_path: Path) -> None:
    del linux_kernel
    second = LOSSY[LOSSY.index("[[link]]") : LOSSY.index("[[flow]]")].replace("bottleneck", "other")
    text = LOSSY.replace('path = ["bottleneck"]', 'paths = [["bottleneck"], ["other"]]', 1) + second
    overrides = {**KERNELS, "duration": "2 s"}
    result = cl.run(text, [1], overrides, backend="linux", qlog=tmp_path / "qlog")
    for number, subflow in enumerate(outcome(result)[0]["subflows"], start=1):
        events = trace(tmp_path, f"flow-{number}-a_{number}")
        assert len(named(events, "transport:packet_sent")) == subflow["sent_packets"] > 100
