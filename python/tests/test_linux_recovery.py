"""What our controllers' windows do in a loss recovery of Linux's, one loss at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import cwndlab as cl
import cwndlab.benchmark.reno
from tests.captures import packets

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

# The 40 segments of the initial window reach the second link one after the other, so it can lose some.
SCENARIO = """\
duration = "2 s"
send_jitter = "0 s"

[tcp]
initial_window = 40

[[link]]
name = "access"
rate = "100 Mbit/s"
delay = "1 ms"
queue = "100 packets"

[[link]]
name = "a"
rate = "1 Gbit/s"
delay = "19 ms"
queue = "100 packets"
up = [
    {{ at = "0 s", value = true }},
    {{ at = "{down_ms:.2f} ms", value = false }},
    {{ at = "{up_ms:.2f} ms", value = true }},
]

[[flow]]
name = "m"
cc = "{cc}"
path = ["access", "a"]
"""
MSS = 1448
LOST = range(10, 38)
# When the initial window leaves, after the handshake. The second link is 1 ms away, a segment takes 0.12 ms.
BEGIN_MS = 47.69


pytestmark = pytest.mark.usefixtures("own_cache")


def at_second_link_ms(segment: float) -> float:
    return BEGIN_MS + 1 + 0.12 * (segment + 1)


def losing(segments: range, cc: str) -> str:
    """A scenario in which the second link loses these segments of the initial window."""
    down_ms, up_ms = (at_second_link_ms(each - 0.5) for each in (segments.start, segments.stop))
    return SCENARIO.format(cc=cc, down_ms=down_ms, up_ms=up_ms)


def sent(folder: Path, backend: str, cc: str, **overrides: Any) -> list[tuple[float, int]]:
    """When, in ms, the sender sends which segment after the initial window, of which LOST are lost."""
    folder = folder / backend / cc.replace(":", "-")
    options: Any = {"backend": backend, "record": "none", "fresh": True, "pcap": folder}
    cl.run(losing(LOST, cc), seeds=[1], overrides=overrides, **options)
    data = [each for each in packets(folder / "seed-1" / "senders.pcapng") if each.payload_bytes]
    order = [(each.at_ns / 1e6, (each.sequence - data[0].sequence) // MSS) for each in data]
    assert [segment for _, segment in order[:40]] == list(range(40))
    assert all(at_ms == pytest.approx(BEGIN_MS, abs=0.01) for at_ms, _ in order[:40])
    return order[40:]


def test_prr_sets_the_window_if_no_ack_begins_the_recovery(linux_kernel: Kernel, tmp_path: Path) -> None:
    """Two segments arrive behind the lost ones, too few for duplicate ACKs: RACK's timer finds the loss."""
    assert linux_kernel.image.exists()
    ours, kernels, simulated = (
        sent(tmp_path, backend, cc, **{"flow.m.bytes": f"{40 * MSS} B"})
        for backend, cc in (("linux", "reno"), ("linux", "linux:reno"), ("sim", "reno"))
    )
    assert ours == kernels
    assert [segment for _, segment in ours] == [segment for _, segment in simulated] == list(LOST)
    assert [at for at, _ in ours] == pytest.approx([at for at, _ in simulated], abs=0.01)
    # RFC 9937 section 6: the timer releases one segment, the ACK of a segment two.
    begin_ms = ours[0][0]
    assert [round((at_ms - begin_ms) / 40) for at_ms, _ in ours[:5]] == [0, 1, 1, 2, 2]


@cl.controller("waits-for-the-probe")
class WaitsForTheProbe:
    """Sends the initial window, then a segment at a time, and writes down the kinds of its events."""

    kinds: ClassVar[list[str]] = []

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 40 * setup.mss_bytes

    def on_ack(self, ack: cl.Ack) -> None:
        self.cwnd_bytes = ack.mss_bytes

    def on_event(self, event: cl.Event) -> None:
        self.kinds.append(event.kind)


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_a_loss_that_a_probe_repairs_is_a_loss(linux_kernel: Kernel, backend: str) -> None:
    """Linux reduces the window as for a mark then (tcp_process_tlp_ack); the controller hears the cause.

    A subflow has no data beyond its window that the probe could carry, so it repeats the last segment.
    """
    assert linux_kernel.image.exists()
    WaitsForTheProbe.kinds.clear()
    text = losing(range(39, 40), "waits-for-the-probe")
    text = text.replace('path = ["access", "a"]', 'paths = [["access", "a"]]')
    [run] = cl.run(text, seeds=[1], backend=backend, record="none", fresh=True).runs
    [subflow] = run.outcome["flows"][0]["subflows"]
    counted = ("tail_loss_probes", "retransmitted_packets", "ecn_reductions")
    assert [subflow[name] for name in counted] == [1, 1, 0]
    assert WaitsForTheProbe.kinds == ["loss-recovery", "recovered"]


@cl.controller("opens-by-timer")
class OpensByTimer:
    """Closes its window at a loss, until its timer opens it."""

    own_window_in_recovery = True

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 40 * setup.mss_bytes
        self.next_timer_s: float | None = None

    def on_ack(self, ack: cl.Ack) -> None: ...

    def on_event(self, event: cl.Event) -> None:
        if event.kind == "loss-recovery":
            self.cwnd_bytes = event.mss_bytes
            self.next_timer_s = event.now_s + 0.1

    def on_timer(self, facts: cl.Facts) -> None:
        self.cwnd_bytes = 60 * facts.mss_bytes
        self.next_timer_s = None


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_a_window_that_a_timer_opens_is_for_lost_segments_first(
    linux_kernel: Kernel, tmp_path: Path, backend: str
) -> None:
    assert linux_kernel.image.exists()
    later = sent(tmp_path, backend, "opens-by-timer")
    # The first window of 40 segments, but for those lost.
    assert [segment for _, segment in later[:12]] == list(range(40, 52))
    # These twelve are in flight when RACK's timer finds the loss at 106 ms, so their ACKs come first.
    at_ms, segment = later[12]
    assert segment == 10
    assert at_ms == pytest.approx(132.63, abs=0.01)
    opened = [segment for at_ms, segment in later if at_ms == pytest.approx(206, abs=0.001)]
    assert len(opened) >= 40
    assert opened == [*range(12, 38), *range(52, 52 + len(opened) - 26)]
