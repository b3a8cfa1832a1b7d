"""Connections of the Linux backend beyond a plain flow: subflows, and transfers that follow each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.beside.both import run_both
from cwndlab.engine import SHIPPED
from cwndlab.errors import RunFailedError
from cwndlab.linux import instance
from cwndlab.linux.backend import Linux
from cwndlab.scenarios.scenario import Scenario, ScenarioError
from tests.captures import packets

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

LINK = """\
[[link]]
name = "{name}"
rate = "{rate} Mbit/s"
delay = "{delay}"
queue = "1 bdp"
"""
TWO_PATHS = (
    'duration = "{seconds} s"\nsend_jitter = "0 s"\n'
    + LINK.format(name="a", rate=20, delay="10 ms")
    + LINK.format(name="b", rate=10, delay="10 ms")
)
MULTIPATH = """
[[flow]]
name = "m"
cc = "linux:reno"
paths = [["a"], ["b"]]
"""
SIZES = '{ kind = "exponential", mean = "100 kB" }'
TRANSFERS = f"""
[[flow]]
name = "t"
cc = "linux:cubic"
path = ["a"]
arrivals = {{ parallel = 3, size = {SIZES}, pause = "50 ms" }}
"""
PSH = 8
COUNTS = ("sent_packets", "retransmitted_packets", "timeouts", "fast_recoveries", "tail_loss_probes", "undos")


pytestmark = pytest.mark.usefixtures("own_cache")


def text(*parts: str, seconds: int = 10) -> str:
    return "".join(parts).replace("{seconds}", str(seconds))


def _in_linux(flow: str) -> dict[str, Any]:
    """What the one flow did."""
    run = cl.run(text(TWO_PATHS, flow, seconds=3), seeds=1, backend="linux").runs[0]
    found: dict[str, Any] = run.outcome["flows"][0]
    return found


def scenario(*parts: str, seconds: int = 10) -> Scenario:
    return Scenario(text(*parts, seconds=seconds).encode(), "x.toml")


def test_a_connection_fills_both_paths_as_in_the_simulator(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    [both] = run_both([scenario(TWO_PATHS, MULTIPATH)], [1, 2])
    for in_sim, in_linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [sim], [linux] = in_sim.outcome["flows"], in_linux.outcome["flows"]
        assert [part["name"] for part in linux["subflows"]] == ["m/1", "m/2"]
        assert linux["goodput_mbps"] == pytest.approx(sim["goodput_mbps"], rel=0.005)
        assert linux["rtt_ms"] == pytest.approx(sim["rtt_ms"], rel=0.02)
        for name in ("reassembly_delay_ms", "reassembly_max_bytes", "receive_limited"):
            assert linux[name] is None
            assert sim[name] is not None


def test_a_subflow_loses_what_a_flow_loses(linux_kernel: Kernel) -> None:
    """Without timestamps: beside them, MPTCP's options leave an ACK too little room for its SACK blocks."""
    assert linux_kernel.image.exists()
    plain = "\ntcp = { timestamps = false, header = 40 }\n"
    one = MULTIPATH.replace(', ["b"]', "")
    flow = _in_linux(one + "mptcp = {}" + plain)
    alone = _in_linux(one.replace('paths = [["a"]]', 'path = ["a"]') + plain)
    [subflow] = flow["subflows"]
    assert abs(subflow["retransmitted_packets"] - alone["retransmitted_packets"]) <= 2
    assert alone["retransmitted_packets"] > 50


@pytest.mark.parametrize("loss", [(0.05, 0.02), (0.1, 0.05)])
def test_what_subflows_count_is_what_their_host_counts(
    linux_kernel: Kernel, loss: tuple[float, float]
) -> None:
    """Linux counts timeouts and the like for a whole host; those of a subflow are seen at its socket."""
    assert linux_kernel.image.exists()
    lossy = {
        "link.a.loss": loss[0],
        "link.b.loss": loss[1],
        "link.b.reorder": {"probability": 0.05, "delay": "10 ms"},
    }
    sized = MULTIPATH.replace("linux:reno", "linux:cubic") + 'bytes = "6 MB"\n'
    seen = dict.fromkeys(COUNTS, 0)
    result = cl.run(text(TWO_PATHS, sized, seconds=60), overrides=lossy, seeds=6, backend="linux")
    for run in result.runs:
        [flow] = run.outcome["flows"]
        for count in COUNTS:
            assert sum(part[count] for part in flow["subflows"]) == flow[count], count
            seen[count] += flow[count]
        assert flow["completion_s"] > 0
        received = sum(part["goodput_mbps"] for part in flow["subflows"])
        assert received >= flow["goodput_mbps"] * (1 - 1e-9)
    assert min(seen.values()) > 0, seen


def test_a_recording_has_the_connection_and_its_subflows(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    sampled = 'record = { interval = "10 ms" }\n'
    run = cl.run(text(sampled, TWO_PATHS, MULTIPATH, seconds=5), seeds=1, backend="linux").runs[0]
    assert run.recording is not None
    tables = {table.name: table for table in run.recording.tables}
    whole, parts = tables["m"], [tables["m/1"], tables["m/2"]]
    for column in ("cwnd_segments", "in_flight_segments"):
        sums = [sum(values) for values in zip(*(part.columns[column] for part in parts), strict=True)]
        assert list(whole.columns[column])[100:] == sums[100:]
    assert {event.flow for event in run.recording.events} <= {"m/1", "m/2"}


@pytest.mark.parametrize(("parallel", "size"), [(3, '"100 kB"'), (1, SIZES)])
def test_parallel_transfers_follow_each_other_as_in_the_simulator(
    linux_kernel: Kernel, parallel: int, size: str
) -> None:
    assert linux_kernel.image.exists()
    roomy = TWO_PATHS.replace("1 bdp", "20 bdp")
    flow = TRANSFERS.replace("parallel = 3", f"parallel = {parallel}").replace(SIZES, size)
    [both] = run_both([scenario(roomy, flow, seconds=20)], [1, 2, 3])
    for in_sim, in_linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [sim], [linux] = in_sim.outcome["groups"], in_linux.outcome["groups"]
        assert abs(linux["arrived"] - sim["arrived"]) <= 1
        assert 0 <= linux["arrived"] - linux["completed"] <= parallel
        assert linux["goodput_mbps"] == pytest.approx(sim["goodput_mbps"], rel=0.01)
        assert linux["completion_ms"] == pytest.approx(sim["completion_ms"], rel=0.01)


def test_flows_that_arrive_share_their_access_link(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    shared = TRANSFERS + 'access = { rate = "4 Mbit/s", delay = "1 ms", queue = "100 packets" }\n'
    result = cl.run(text(TWO_PATHS, shared, seconds=10), seeds=1, backend="linux").runs[0].outcome
    [group] = result["groups"]
    assert 3.2 < group["goodput_mbps"] < 4
    assert [link["name"] for link in result["links"]].count("t.access") == 1


UNEQUAL = (
    'duration = "20 s"\nsend_jitter = "0 s"\n'
    + LINK.format(name="a", rate=50, delay="50 ms")
    + LINK.format(name="b", rate=0.5, delay="20 ms").replace("1 bdp", "10 packets")
)
UNCOUPLED = """
[[flow]]
name = "m"
cc = "uncoupled:reno"
paths = [["a"], ["b"]]
"""


def test_a_slow_path_holds_up_a_fast_one_only_with_linuxs_own_scheduler(linux_kernel: Kernel) -> None:
    """Linux's own queues up to 64 kB at a subflow: a second of the slow path, while the fast one waits."""
    assert linux_kernel.image.exists()

    def fast(run: cl.Run) -> float:
        goodput_mbps: float = run.outcome["flows"][0]["subflows"][0]["goodput_mbps"]
        return goodput_mbps

    [both] = run_both([scenario(UNEQUAL, UNCOUPLED)], [1])
    [simulated], [ours] = both.sim.runs, both.linux.runs
    assert fast(ours) == pytest.approx(fast(simulated), rel=0.02)
    own = {"flow.m.mptcp.scheduler": "linux"}
    [linuxs] = cl.run(UNEQUAL + UNCOUPLED, overrides=own, seeds=[1], backend="linux", record="none").runs
    assert fast(linuxs) < 0.93 * fast(ours)


def test_what_many_connections_have_not_sent_fits_into_memory(linux_kernel: Kernel) -> None:
    """With send buffers filled to their size, the kernel ran out of memory."""
    assert linux_kernel.image.exists()
    many = UNCOUPLED.replace('"m"', '"m"\ncount = 20')
    wide = UNEQUAL.replace("20 s", "3 s").replace('"50 Mbit/s"', '"500 Mbit/s"')
    [run] = cl.run(wide + many, seeds=[1], backend="linux", record="none").runs
    assert sum(flow["goodput_mbps"] for flow in run.outcome["flows"]) > 100


NARROW = """
[tcp]
receive_buffer = {bytes}
window_tuning = false
"""


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_a_scheduler_means_the_same_on_both_backends(
    linux_kernel: Kernel, backend: Literal["sim", "linux"]
) -> None:
    """With a small receive window the scheduler decides what the paths carry."""
    assert linux_kernel.image.exists()

    def shares(scheduler: str, cc: str, far: str, buffer_bytes: int) -> float:
        """What the far path carries of all data."""
        links = LINK.format(name="a", rate=50, delay=far) + LINK.format(name="b", rate=20, delay="10 ms")
        flow = UNCOUPLED.replace("uncoupled:reno", cc) + f'mptcp = {{ scheduler = "{scheduler}" }}\n'
        sent = text('duration = "{seconds} s"\n', NARROW.replace("{bytes}", str(buffer_bytes)), links, flow)
        [run] = cl.run(sent, seeds=[1], backend=backend, record="none").runs
        far_mbps, near_mbps = (part["goodput_mbps"] for part in run.outcome["flows"][0]["subflows"])
        share: float = far_mbps / (far_mbps + near_mbps)
        return share

    # Linux's window is half of its buffer, so this is its 500 kB and less than the far path's BDP of 625 kB.
    crowded = 1_000_000 if backend == "linux" else 400_000
    assert shares("saturate", "uncoupled:reno", "50 ms", crowded) > 0.95
    assert shares("min-rtt", "uncoupled:reno", "50 ms", crowded) < 0.8
    assert shares("min-rtt", "constant", "20 ms", 120_000) < 0.02
    assert 0.45 < shares("round-robin", "constant", "20 ms", 120_000) < 0.55


CROWDED = (
    'duration = "40 s"\nsend_jitter = "0 s"\n'
    + LINK.format(name="a", rate=500, delay="50 ms")
    + LINK.format(name="b", rate=100, delay="10 ms")
)
ODD = """
[[flow]]
name = "m"
cc = { name = "constant", cwnd = 21 }
paths = [["a"], ["b"]]
[[flow]]
name = "single"
cc = "cubic"
path = ["b"]
tcp = { initial_ssthresh = 700 }
"""


def test_a_lone_segment_is_acknowledged_at_once(linux_kernel: Kernel) -> None:
    """If it waits for two more, the ACK comes between them, and two leave before there is room for them."""
    assert linux_kernel.image.exists()

    def losses(backend: Literal["sim", "linux"], push: str) -> int:
        options = f"mptcp = {{ push_bursts = {push} }}\n"
        sent = CROWDED + ODD.replace('["b"]]', f'["b"]]\n{options}')
        [run] = cl.run(sent, seeds=[1], backend=backend, record="none").runs
        lost: int = run.outcome["flows"][0]["subflows"][1]["retransmitted_packets"]
        return lost

    assert losses("sim", "false") > 15
    assert losses("sim", "true") < 5
    assert losses("linux", "true") < 5


def test_a_lone_segments_ack_waits_while_its_data_wait_for_another_path(
    linux_kernel: Kernel, tmp_path: Path
) -> None:
    """Eleven ACKs for 21 segments if each lone one is acknowledged at once, 10.5 if it waits for the next."""
    assert linux_kernel.image.exists()
    alone = CROWDED + ODD.split('[[flow]]\nname = "single"')[0]
    pushed = "mptcp = { push_bursts = true }\n"
    share = {}
    for backend in ("sim", "linux"):
        cl.run(alone + pushed, seeds=[1], backend=backend, fresh=True, pcap=tmp_path / backend)
        late = [
            packet
            for packet in packets(tmp_path / backend / "seed-1" / "receivers.pcapng")
            if packet.at_ns > 30 * 10**9
        ]
        data = Counter(packet.ip[12:16] for packet in late if packet.payload_bytes)
        acks = Counter(packet.ip[16:20] for packet in late if not packet.payload_bytes)
        [short] = [sender for sender, count in data.items() if count == max(data.values())]
        share[backend] = acks[short] / data[short]
    # If every lone segment is acknowledged at once, each ACK releases one, and in the end all are lone.
    assert share["sim"] == pytest.approx(share["linux"], abs=0.001)
    assert 0.5 < share["sim"] < 0.52


@pytest.mark.parametrize(("cc", "limit"), [("cubic", "256 MiB"), ("reno", "250 kB")])
def test_the_application_refills_its_buffer_as_in_linux(
    linux_kernel: Kernel, tmp_path: Path, cc: str, limit: str
) -> None:
    """The last segment of each refill is pushed, and its size follows from that of the buffer."""
    assert linux_kernel.image.exists()
    sent = f'[[flow]]\nname = "f"\ncc = "{cc}"\npath = ["a"]\ntcp = {{ send_buffer = "{limit}" }}\n'
    begins, refills = {}, {}
    for backend in ("sim", "linux"):
        cl.run(text(TWO_PATHS, sent), seeds=[1], backend=backend, fresh=True, pcap=tmp_path / backend)
        data = [
            each for each in packets(tmp_path / backend / "seed-1" / "senders.pcapng") if each.payload_bytes
        ]
        first, payload = data[0].sequence, data[0].payload_bytes
        pushed = [(each.sequence - first) // payload for each in data if each.flags & PSH]
        begins[backend] = pushed[:5]
        # Those between losses, once the buffer has its size.
        sizes = Counter(later - earlier for earlier, later in pairwise(pushed))
        refills[backend] = {size for size, count in sizes.items() if count > 0.2 * len(pushed)}
    assert begins["sim"] == begins["linux"]
    assert refills["sim"] == refills["linux"] != set()


def test_the_send_buffer_has_room_for_the_initial_window(linux_kernel: Kernel) -> None:
    """The kernel sizes it for 10 segments when the connection is established."""
    assert linux_kernel.image.exists()
    text = (
        'duration = "3 s"\n'
        + LINK.format(name="a", rate=100, delay="50 ms")
        + '[[flow]]\nname = "f"\ncc = "linux:cubic"\npath = ["a"]\nbytes = "65160 B"\n'
        + 'tcp = { initial_window = 45, header = 52, mss = 1448, send_buffer = "1 MB" }\n'
    )
    [both] = run_both([Scenario(text.encode(), "x.toml")], [1])
    completions = [result.runs[0].outcome["flows"][0]["completion_s"] for result in (both.sim, both.linux)]
    # The handshake, and one round trip for all 45 segments.
    assert completions[0] == pytest.approx(0.15 + 45 * 1500 * 8 / 1e8, abs=0.002)
    assert completions[1] == pytest.approx(completions[0], abs=0.001)


def test_behind_a_hole_the_send_buffer_stops_the_sender(linux_kernel: Kernel) -> None:
    """What arrived beyond the hole stays in the buffer: after two windows nothing new is written."""
    assert linux_kernel.image.exists()
    text = (
        'duration = "10 s"\nsend_jitter = "0 s"\n[tcp]\nmss = 1460\nheader = 52\noverhead = 2\n'
        + '[[link]]\nname = "a"\nrate = "100 Mbit/s"\ndelay = "30 ms"\n'
        + 'queue = "ns3-default"\n[[flow]]\nname = "f"\ncc = "reno"\npath = ["a"]\n'
        + 'access = { rate = "150 Mbit/s", delay = "0.02 ms", queue = "ns3-default" }\n'
    )
    limited = Scenario((text + 'tcp = { send_buffer = "256 MiB" }\n').encode(), "x.toml")
    [both] = run_both([limited], [1])
    names = ("fast_recoveries", "retransmitted_packets", "timeouts")
    ours, inside = (result.runs[0].outcome["flows"][0] for result in (both.sim, both.linux))
    assert [ours[name] for name in names] == [inside[name] for name in names]
    assert ours["goodput_mbps"] == pytest.approx(inside["goodput_mbps"], rel=0.001)
    # Otherwise it sends on into a queue that drops.
    without = cl.run(text, seeds=[1]).runs[0].outcome["flows"][0]
    assert without["retransmitted_packets"] > ours["retransmitted_packets"]


def test_only_linux_has_its_scheduler() -> None:
    own = 'mptcp = { scheduler = "linux" }\n'
    with pytest.raises(ScenarioError, match="the simulator does not have Linux's scheduler"):
        scenario(TWO_PATHS, MULTIPATH.replace("linux:reno", "lia"), own).validate()


def test_what_linux_does_in_its_own_way_is_a_warning() -> None:
    writes = "tcp = { write_size = 300000 }\n"
    problems = replace(scenario(TWO_PATHS, MULTIPATH, writes), engine=Linux(SHIPPED.module)).problems()
    warned = {problem.key: problem.message for problem in problems}
    assert "MPTCP options" in warned["flow.0.paths"]
    assert "pushes every burst" in warned["flow.0.mptcp.push_bursts"]
    assert "at most 128 kB" in warned["flow.0.tcp.write_size"]


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            MULTIPATH.replace('["b"]]', ", ".join(['["b"]'] * 8) + "]"),
            "at most 8 subflows of a connection, found 9",
        ),
        (
            TRANSFERS.replace("= 3", "= 9000"),
            "at most 8192 pairs of hosts, one for each flow and subflow; found about 9000",
        ),
    ],
)
def test_connections_that_linux_cannot_serve_are_errors(flow: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        replace(scenario(TWO_PATHS, flow), engine=Linux(SHIPPED.module)).validate()


SAVING = """
[[flow]]
name = "m"
cc = "{cc}"
paths = [["a"], ["b"]]
"""


@pytest.mark.parametrize("cc", ["lia", "linux:reno"])
def test_subflows_begin_with_what_linux_has_saved(linux_kernel: Kernel, cc: str) -> None:
    """The rule is that of `tcp_update_metrics`: in congestion avoidance ssthresh or half of the window."""
    assert linux_kernel.image.exists()
    flow = SAVING.format(cc=cc)

    def run(options: str) -> Any:
        scenario = text(TWO_PATHS, flow, seconds=8) + f"\n[tcp]\n{options}\n"
        return cl.run(scenario, seeds=[1], backend="linux", record="first").runs[0]

    fresh, saved = run(""), run('metrics = "saved"')
    assert fresh.recording is not None
    assert saved.recording is not None
    pairs = zip(fresh.recording.of("subflow"), saved.recording.of("subflow"), strict=True)
    for before, after in pairs:
        ssthresh = after.columns["ssthresh_segments"]
        first = ssthresh[~np.isnan(ssthresh) & (ssthresh > 0)][0]
        last, window = (before.columns[name][-1] for name in ("ssthresh_segments", "cwnd_segments"))
        assert first == max(last, window // 2), before.name
    assert fresh.outcome != saved.outcome


def test_nobody_gives_up(linux_kernel: Kernel) -> None:
    """Linux would end a connection attempt after 2 minutes, and a simulated sender goes on."""
    assert linux_kernel.image.exists()
    lossy = LINK.format(name="a", rate=10, delay="10 ms") + "loss = 0.75\n"
    flow = '[[flow]]\nname = "m"\ncc = "linux:reno"\npath = ["a"]\nbytes = "1448 B"\n'
    # With these seeds the first seven SYNs are lost.
    result = cl.run(f'duration = "1000 s"\n{lossy}{flow}', seeds=[14, 24], backend="linux", record="none")
    for run in result.runs:
        assert run.outcome["flows"][0]["completion_s"] > 127


def test_an_error_says_why_the_kernel_has_failed(
    linux_kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert linux_kernel.image.exists()
    # The kernel gets too little memory for the threads of its hosts.
    monkeypatch.setattr(instance, "HOSTS_MB", 0.0)
    arriving = TRANSFERS.replace("{ parallel = 3,", "{ per_second = 100,").replace(', pause = "50 ms"', "")
    with pytest.raises(RunFailedError, match="Kernel panic - not syncing: cwndlab: kthread_run: error -11"):
        cl.run(text(TWO_PATHS, arriving), seeds=1, backend="linux", record="none")
