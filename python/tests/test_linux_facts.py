"""The facts that a controller gets in Linux: losses, and data outstanding, in FlightSize and in flight."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import pytest

import cwndlab as cl

if TYPE_CHECKING:
    from cwndlab.linux.kernel import Kernel

SCENARIO = """\
duration = "5 s"

[[link]]
name = "a"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "100 packets"
{fault}

[[flow]]
name = "m"
cc = "{cc}"
path = ["a"]
"""


pytestmark = pytest.mark.usefixtures("own_cache")


@cl.controller("watcher")
class Watcher:
    """Keeps 60 segments in flight, also in recovery, and records each send and each loss."""

    own_window_in_recovery = True
    seen: ClassVar[list[tuple[str, int, int]]] = []
    holes: ClassVar[list[tuple[str, int]]] = []

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 60 * setup.mss_bytes

    def on_ack(self, ack: cl.Ack) -> None:
        pass

    def on_event(self, event: cl.Event) -> None:
        pass

    def on_sent(self, sent: cl.Sent) -> None:
        self.seen.append(("sent", sent.sent_bytes, sent.in_flight_bytes))
        # What is out and not in flight was SACKed or is lost.
        self.holes.append((sent.phase, (sent.outstanding_bytes - sent.in_flight_bytes) // 1448))

    def on_lost(self, lost: cl.Lost) -> None:
        since = lost.lost_total_bytes - lost.prior_lost_bytes
        self.seen.append(("lost", since, lost.in_flight_at_send_bytes))


def watched(backend: str) -> tuple[int, list[tuple[str, int, int]]]:
    """Return how many packets were sent again, and what the controller was told, in segments."""
    text = SCENARIO.format(cc="watcher", fault="loss = 0.02")
    Watcher.seen.clear()
    Watcher.holes.clear()
    result = cl.run(text, seeds=1, backend=backend, record="none", fresh=True, threads=1)
    flow = result.runs[0].outcome["flows"][0]
    told = [(what, amount // 1448, in_flight // 1448) for what, amount, in_flight in Watcher.seen]
    return flow["retransmitted_packets"], told


def test_each_loss_is_told_once_and_what_is_sent_is_in_flight(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    since_sent = {}
    for backend in ("sim", "linux"):
        resent, told = watched(backend)
        lost = [amount for what, amount, _ in told if what == "lost"]
        # Each is sent again, but for those that the end of the run cuts off; so are tail-loss probes.
        assert resent > 100
        assert abs(len(lost) - resent) <= 3
        assert max(in_flight for what, _, in_flight in told if what == "sent") == 60
        assert max(in_flight for what, _, in_flight in told if what == "lost") == 60
        since_sent[backend] = fmean(lost)
        assert {segments for phase, segments in Watcher.holes if phase == "open"} == {0}
        assert max(segments for phase, segments in Watcher.holes) > 20
    assert since_sent["linux"] == pytest.approx(since_sent["sim"], rel=0.1)


@cl.controller("measurer")
class Measurer:
    """Keeps 40 segments in flight. Records the data outstanding, in FlightSize and in flight in Disorder."""

    in_disorder: ClassVar[list[tuple[int, int, int]]] = []

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 40 * setup.mss_bytes

    def on_ack(self, ack: cl.Ack) -> None:
        if ack.phase == "disorder":
            self.in_disorder.append((ack.outstanding_bytes, ack.flight_size_bytes, ack.in_flight_bytes))

    def on_event(self, event: cl.Event) -> None:
        pass


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_flight_size_leaves_out_no_more_than_is_sacked(linux_kernel: Kernel, backend: str) -> None:
    assert linux_kernel.image.exists()
    text = SCENARIO.format(cc="measurer", fault='reorder = { probability = 0.1, delay = "3 ms" }')
    Measurer.in_disorder.clear()
    cl.run(text, seeds=1, backend=backend, record="none", fresh=True, threads=1)
    assert len(Measurer.in_disorder) > 100
    assert any(flight_size < out for out, flight_size, _ in Measurer.in_disorder)
    # Nothing is lost, so what is out and not in flight was SACKed.
    assert all(flight_size >= in_flight for _, flight_size, in_flight in Measurer.in_disorder)
