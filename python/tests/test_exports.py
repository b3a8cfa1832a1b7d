"""Exports: qlog and pcapng of the simulator, read back by this suite and by tshark."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
from cwndlab.commands.problems import print_export_size
from cwndlab.running.exports import Exports
from cwndlab.scenarios.source import loaded
from tests.captures import folded, packets, qlog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.captures import Packet
    from tests.conftest import Command

# 20 Mbit/s and a queue of half a BDP: CUBIC loses packets, in bursts at first.
LOSSY = """
name = "lossy"
duration = "4 s"

[[link]]
name = "bottleneck"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "33 packets"
back = { rate = "5 Mbit/s" }

[[flow]]
name = "a"
cc = "cubic"
path = ["bottleneck"]

[[flow]]
name = "b"
cc = "bbr3"
bytes = "1.0005 MB"
path = ["bottleneck"]
"""
ECE, CWR, ACK, PSH, SYN = 0x40, 0x80, 0x10, 0x08, 0x02


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cl.Result]:
    """The folder of one run's exports, and its result."""
    folder = tmp_path_factory.mktemp("exports")
    result = cl.run(LOSSY, [1], qlog=folder / "qlog", pcap=folder / "pcap", fresh=True)
    return folder, result


def capture(folder: Path, name: str) -> list[Packet]:
    return packets(folder / "pcap" / "seed-1" / f"{name}.pcapng")


def trace(folder: Path, name: str) -> list[dict[str, Any]]:
    return qlog(folder / "qlog" / "seed-1" / f"{name}.sqlog")[1]


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["name"] == name]


def outcome(result: cl.Result) -> list[dict[str, Any]]:
    [run] = result.runs
    return list(run.outcome["flows"])


def test_headers_have_right_checksums_and_times_in_order(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    names = ["senders", "receivers", "link-1-bottleneck-near", "link-1-bottleneck-far"]
    for name in names:
        found = capture(folder, name)
        assert len(found) > 8000, name
        assert {packet.checksums() for packet in found} == {(0xFFFF, 0xFFFF)}, name
        assert all(a.at_ns <= b.at_ns for a, b in itertools.pairwise(found)), name
        assert {int.from_bytes(packet.ip[2:4]) == packet.length for packet in found} == {True}


def test_counts_equal_those_of_the_result(lossy: tuple[Path, cl.Result]) -> None:
    folder, result = lossy
    data = [packet for packet in capture(folder, "senders") if packet.payload_bytes]
    events = [event for flow in ("flow-1-a", "flow-2-b") for event in trace(folder, flow)]
    sent = sum(flow["sent_packets"] for flow in outcome(result))
    assert len(data) == len(named(events, "transport:packet_sent")) == sent
    again = sum(flow["retransmitted_packets"] for flow in outcome(result))
    assert again > 20
    marked = [event["data"]["tcp"]["retransmission"] for event in named(events, "transport:packet_sent")]
    assert sum(marked) == again


def test_sequence_numbers_pass_2_to_the_32(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    first, *rest = [
        packet for packet in capture(folder, "senders") if packet.ip[12:16] == bytes([10, 0, 0, 1])
    ]
    assert first.flags == SYN
    assert first.sequence > 2**31
    offsets = {(packet.sequence - first.sequence - 1) % 2**32 for packet in rest}
    assert min(packet.sequence for packet in rest) < 2**20
    assert offsets == {1448 * n for n in range(len(offsets))}


def test_a_short_last_segment_and_push(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    sent = [packet for packet in capture(folder, "senders") if packet.ip[12:16] == bytes([10, 0, 0, 2])]
    pushed = {
        (packet.payload_bytes, (packet.sequence - sent[0].sequence - 1) % 2**32)
        for packet in sent[1:]
        if packet.flags & PSH
    }
    assert pushed == {(1_000_500 % 1448, 1_000_500 // 1448 * 1448)}


def test_the_handshake_has_its_options(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    syn, syn_ack = [packet for packet in capture(folder, "senders") if packet.flags & SYN][::2]
    # MSS 1448, SACK permitted, timestamps, window scale.
    assert syn.tcp[20:28] == bytes([2, 4, 1448 >> 8, 1448 & 255, 4, 2, 8, 10])
    assert syn.tcp[36:40] == bytes([1, 3, 3, 0])
    assert (syn_ack.flags, syn_ack.tcp[36:40]) == (SYN | ACK, bytes([1, 3, 3, 14]))


def test_marks_are_in_both_headers(tmp_path: Path) -> None:
    overrides = {
        "link.bottleneck.queue": '{ kind = "codel", ecn = true }',
        "flow.*.cc": "cubic",
        "tcp.ecn": True,
    }
    cl.run(LOSSY, [1], overrides, pcap=tmp_path / "pcap", fresh=True)
    near, far = (capture(tmp_path, f"link-1-bottleneck-{end}") for end in ("near", "far"))
    data = [packet for packet in far if packet.payload_bytes]
    assert {packet.ecn for packet in near} == {0, 2}
    assert {packet.ecn for packet in data} >= {2, 3}
    assert any(packet.flags & ECE and not packet.flags & SYN for packet in far)
    assert any(packet.flags & CWR for packet in data)
    syn = next(packet for packet in near if packet.flags & SYN)
    assert syn.flags == SYN | ECE | CWR


def test_a_packet_above_the_mtu_crosses_links_in_fragments(tmp_path: Path) -> None:
    cl.run(LOSSY, [1], {"tcp.mtu": "1000 B"}, pcap=tmp_path / "pcap", fresh=True)
    whole = next(packet for packet in capture(tmp_path, "senders") if packet.payload_bytes)
    assert (whole.length, whole.ip[6:8]) == (1500, bytes([0, 0x40])[::-1])
    first, second = [each for each in capture(tmp_path, "link-1-bottleneck-near") if not each.ip[6] & 0x40][
        :2
    ]
    # 976 bytes fit beside the header, in units of 8; then come the other 504.
    assert (first.length, first.ip[6:8]) == (996, bytes([0x20, 0]))
    assert (second.length, second.ip[6:8], len(second.kept)) == (524, bytes([0, 976 // 8]), 20)
    assert first.ip[4:6] == second.ip[4:6]
    assert folded(first.ip) == folded(second.ip) == 0xFFFF


def test_the_expected_size_is_about_the_real_one(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    exports = Exports.into(folder / "qlog", folder / "pcap")
    assert exports
    real = sum(file.stat().st_size for file in folder.rglob("*.*"))
    assert real < exports.expected_bytes([loaded(LOSSY)], 1) < 2 * real


def test_large_exports_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exports = Exports.into(qlog=tmp_path)
    assert exports
    print_export_size(exports, [loaded(LOSSY)], 2)
    assert capsys.readouterr().err == ""
    print_export_size(exports, [loaded(LOSSY, {"duration": "3600 s"})], 2)
    assert "warning: the exports of these runs may take about 8 GB" in capsys.readouterr().err


def test_qlog_has_what_viewers_need(lossy: tuple[Path, cl.Result]) -> None:
    folder, result = lossy
    heading, events = qlog(folder / "qlog" / "seed-1" / "flow-1-a.sqlog")
    assert (heading["qlog_version"], heading["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert heading["trace"]["common_fields"]["time_format"] == "relative"
    times = [event["time"] for event in events]
    assert times == sorted(times)
    sent = named(events, "transport:packet_sent")
    assert [event["data"]["header"]["packet_number"] for event in sent] == list(range(len(sent)))
    acked = [
        number
        for event in named(events, "transport:packet_received")
        for frame in event["data"]["frames"]
        for low, high in frame["acked_ranges"]
        for number in range(low, high + 1)
    ]
    lost = [event["data"]["header"]["packet_number"] for event in named(events, "recovery:packet_lost")]
    assert len(acked) == len(set(acked))
    # There was no probe and no timeout: what is lost is sent again.
    assert len(lost) == outcome(result)[0]["retransmitted_packets"]
    # The rest is under way at the end, or was sent again by a probe.
    assert 0 <= len(sent) - len(set(acked) | set(lost)) < 200
    phases = [event["data"]["new"] for event in named(events, "recovery:congestion_state_updated")]
    assert "recovery" in phases
    assert phases.count("recovery") == outcome(result)[0]["fast_recoveries"]


def test_the_controllers_values_are_in_qlog(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    last: dict[str, Any] = {}
    for event in named(trace(folder, "flow-2-b"), "cwndlab:controller_updated"):
        last |= event["data"]
    assert 1 < last["bw_mbps"] < 25


def test_links_without_a_return_direction_carry_no_acks(cwndlab: Command) -> None:
    scenario = LOSSY.replace('back = { rate = "5 Mbit/s" }\n', "")
    (cwndlab.folder / "x.toml").write_text(scenario)
    done = cwndlab("run", "x.toml", "--seeds", "2", "--pcap", "--no-figure", "--out", "o")
    assert done.returncode == 0, done.stderr
    folder = cwndlab.folder / "o" / "pcap"
    assert sorted(each.name for each in folder.iterdir()) == ["seed-1", "seed-2"]
    far = packets(folder / "seed-2" / "link-1-bottleneck-far.pcapng")
    assert {packet.flags & (SYN | ACK) for packet in far} == {SYN, ACK}
    assert all(packet.payload_bytes for packet in far if packet.flags & ACK)
    assert any(not packet.payload_bytes for packet in packets(folder / "seed-2" / "receivers.pcapng"))


def test_flows_that_arrive_have_connections_of_their_own(tmp_path: Path) -> None:
    arriving = LOSSY.replace('bytes = "1.0005 MB"', 'arrivals = { parallel = 2, size = "20 kB" }')
    result = cl.run(arriving, [1], qlog=tmp_path / "qlog", pcap=tmp_path / "pcap", fresh=True)
    [group] = result.runs[0].outcome["groups"]
    syns = {
        packet.ip[12:20] + packet.tcp[:2] for packet in capture(tmp_path, "senders") if packet.flags == SYN
    }
    # One flow is not of the group.
    assert len(syns) - 1 == group["arrived"] > 20
    assert [each.name for each in (tmp_path / "qlog" / "seed-1").iterdir()] == ["flow-1-a.sqlog"]
    for end in ("near", "far"):
        assert {each.checksums() for each in capture(tmp_path, f"link-1-bottleneck-{end}")} == {
            (65535, 65535)
        }


def test_subflows_have_connections_of_their_own(tmp_path: Path) -> None:
    second = LOSSY[LOSSY.index("[[link]]") : LOSSY.index("[[flow]]")].replace("bottleneck", "other")
    text = LOSSY.replace('path = ["bottleneck"]', 'paths = [["bottleneck"], ["other"]]', 1) + second
    result = cl.run(text, [1], {"flow.a.cc": "lia"}, qlog=tmp_path / "qlog", pcap=tmp_path / "pcap")
    subflows = outcome(result)[0]["subflows"]
    data = [packet for packet in capture(tmp_path, "senders") if packet.payload_bytes]
    for index, subflow in enumerate(subflows):
        address = bytes([10, 0, 0, index + 1])
        assert sum(packet.ip[12:16] == address for packet in data) == subflow["sent_packets"] > 1000
        sent = named(trace(tmp_path, f"flow-{index + 1}-a_{index + 1}"), "transport:packet_sent")
        assert len(sent) == subflow["sent_packets"]


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(cl.InputError, match="expected one of the two"), ProcessPoolExecutor() as executor:
        cl.run(LOSSY, 1, qlog=tmp_path, executor=executor)
    many = LOSSY.replace('bytes = "1.0005 MB"', "count = 300")
    with pytest.raises(cl.CwndlabError, match="qlog: expected at most 256 files, found 301"):
        cl.run(many, 1, qlog=tmp_path)
    with pytest.raises(cl.CwndlabError, match="pcap: expected at most 256 files, found 606"):
        cl.run(many, 1, {"flow.*.access": '{ rate = "1 Gbit/s", delay = "1 ms" }'}, pcap=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(cl.CwndlabError, match="file"):
        cl.run(LOSSY, 1, pcap=tmp_path / "file")


def test_a_run_that_was_killed_leaves_files_that_can_be_read(cwndlab: Command) -> None:
    (cwndlab.folder / "x.toml").write_text(LOSSY.replace("4 s", "1000 s"))
    line = cwndlab.line("run", "x.toml", "--seeds", "1", "--pcap", "--qlog", "--no-figure", "--out", "o")
    process = subprocess.Popen(line, cwd=cwndlab.folder, env=cwndlab.environment(), stderr=subprocess.DEVNULL)
    pcap = cwndlab.folder / "o" / "pcap" / "seed-1" / "senders.pcapng"
    log = cwndlab.folder / "o" / "qlog" / "seed-1" / "flow-1-a.sqlog"
    try:
        wait_until(
            lambda: pcap.exists() and log.exists() and min(pcap.stat().st_size, log.stat().st_size) > 10**6
        )
    finally:
        process.kill()
        process.wait()
    assert len(packets(pcap)) > 5000
    assert len(qlog(log)[1]) > 1000


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def tshark(file: Path, *fields: str) -> list[list[str]]:
    """The fields of each packet, by Debian's tshark."""
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed, so nothing was compared with it; run: apt-get install tshark")
    options = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    wanted = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-n", "-r", str(file), *options, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_finds_nothing_wrong(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    for name in ("senders", "link-1-bottleneck-far"):
        file = folder / "pcap" / "seed-1" / f"{name}.pcapng"
        found = tshark(file, "ip.checksum.status", "tcp.checksum.status", "tcp.len", "_ws.malformed")
        assert len(found) == len(packets(file))
        # 1 is good, 2 unverified: of data, only the headers are in the file.
        assert {(ip, tcp, length == "0", bad) for ip, tcp, length, bad in found} == {
            ("1", "1", True, ""),
            ("1", "2", False, ""),
        }


def test_tshark_counts_our_retransmissions(lossy: tuple[Path, cl.Result]) -> None:
    """To tshark, one that follows new data within an RTT is out of order; at the sender, nothing is."""
    folder, result = lossy
    fields = ["tcp.stream", "tcp.analysis.retransmission", "tcp.analysis.out_of_order"]
    found = tshark(folder / "pcap" / "seed-1" / "senders.pcapng", *fields)
    for stream, flow in enumerate(outcome(result)):
        again = [row for row in found if row[0] == str(stream) and (row[1] or row[2])]
        assert len(again) == flow["retransmitted_packets"]


def test_tshark_reads_our_sack_blocks(lossy: tuple[Path, cl.Result]) -> None:
    folder, _ = lossy
    fields = [
        "tcp.stream",
        "tcp.srcport",
        "tcp.flags.syn",
        "tcp.ack",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
    ]
    found = tshark(folder / "pcap" / "seed-1" / "senders.pcapng", *fields)
    for stream, name in enumerate(("flow-1-a", "flow-2-b")):
        acks = [row[3:] for row in found if row[:3] == [str(stream), "9", "0"]]
        ours = [event["data"]["tcp"] for event in named(trace(folder, name), "transport:packet_received")]
        assert [int(ack) - 1 for ack, _, _ in acks] == [each["ack"] for each in ours]
        read = [
            [list(map(edge, edges)) for edges in zip(le.split(","), re.split(","), strict=True) if edges[0]]
            for _, le, re in acks
        ]
        assert read == [each["sack"] for each in ours]
        assert sum(map(bool, read)) > 20


def edge(text: str) -> int:
    """Return an edge as we count: the SYN takes one number."""
    return int(text) - 1


def test_tshark_measures_our_rtts(tmp_path: Path) -> None:
    """Without losses each ACK has one sample: from the newest segment that it acknowledges."""
    cl.run(LOSSY, [1], {"link.bottleneck.queue": "10 MB"}, qlog=tmp_path / "qlog", pcap=tmp_path / "pcap")
    fields = ["tcp.stream", "frame.time_epoch", "tcp.analysis.ack_rtt"]
    found = tshark(tmp_path / "pcap" / "seed-1" / "senders.pcapng", *fields)
    for stream, name in enumerate(("flow-1-a", "flow-2-b")):
        theirs = {
            round(float(at) * 1e9): float(rtt) * 1e3
            for number, at, rtt in found
            if number == str(stream) and rtt
        }
        ours: dict[int, float] = {}
        latest = None
        events = trace(tmp_path, name)
        for event in events:
            if event["name"] == "recovery:metrics_updated":
                latest = event["data"].get("latest_rtt", latest)
                if latest is not None:
                    ours[round(event["time"] * 1e6)] = latest
        shared = theirs.keys() & ours.keys()
        assert len(shared) > 0.9 * len(theirs) > 100
        # Our clock counts microseconds.
        assert max(abs(theirs[at] - ours[at]) for at in shared) <= 0.001 + 1e-6
