"""Controllers written in Python drive Linux's TCP: its clock stands still while they decide."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

import cwndlab as cl
import cwndlab.benchmark.reno
from cwndlab._native import RunToken
from cwndlab.engine import SHIPPED
from cwndlab.errors import RunFailedError
from cwndlab.linux.backend import Linux
from tests.captures import packets
from tests.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command

SCENARIO = """\
duration = "5 s"

[[link]]
name = "a"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "1 bdp"
loss = 0.002

[[flow]]
name = "m"
cc = "python-reno"
path = ["a"]
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def outcomes(text: str, **options: Any) -> list[str]:
    """What was measured, without the name of the algorithm."""
    result = cl.run(text, backend="linux", record="none", **options)
    texts = [json.dumps(run.outcome, sort_keys=True) for run in result.runs]
    return [text.replace('"python-reno"', '"reno"') for text in texts]


PATHS = {
    "a flow": SCENARIO,
    "a path that reorders": SCENARIO.replace(
        "[[flow]]", 'reorder = { probability = 0.02, delay = "5 ms" }\n\n[[flow]]'
    ),
    "flows that arrive": SCENARIO.replace(
        'path = ["a"]', 'path = ["a"]\narrivals = { per_second = 5, size = "50 kB" }'
    ),
    "two of a kind beside another": SCENARIO.replace(
        "[[flow]]", '[[flow]]\ncc = "cubic"\npath = ["a"]\n\n[[flow]]\ncount = 2'
    ),
    "a connection of two subflows": SCENARIO.replace(
        "[[flow]]", '[[link]]\nname = "b"\nrate = "5 Mbit/s"\ndelay = "20 ms"\n\n[[flow]]'
    ).replace('path = ["a"]', 'paths = [["a"], ["b"]]'),
}


@pytest.mark.parametrize("path", PATHS)
def test_reno_in_python_is_reno_in_rust_to_the_bit(linux_kernel: Kernel, path: str) -> None:
    assert linux_kernel.image.exists()
    text = PATHS[path]
    ours = outcomes(text, seeds=2)
    assert ours == outcomes(text.replace("python-reno", "reno"), seeds=2)
    assert ours[0] != ours[1]


def test_a_controller_begins_with_the_ssthresh_that_an_equal_run_saved(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    subflows = PATHS["a connection of two subflows"].replace("loss = 0.002", "")
    saved = {"tcp.metrics": "saved"}
    ours = outcomes(subflows, seeds=1, overrides=saved)
    assert ours == outcomes(subflows.replace("python-reno", "reno"), seeds=1, overrides=saved)
    assert ours != outcomes(subflows, seeds=1)


@cl.controller("half-rate")
class HalfRate:
    """Paces at a share of the rate, from the first tick of its timer on."""

    share = cl.parameter(0.5, low=0, high=1, meaning="share of 20 Mbit/s")

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 2 * setup.mss_bytes
        self.pacing_rate_bps = 1e6
        self.next_timer_s = 0.5

    def on_timer(self, facts: cl.Facts) -> None:
        self.next_timer_s = facts.now_s + 1
        self.cwnd_bytes = 100 * facts.mss_bytes
        self.pacing_rate_bps = self.share * 20e6

    def on_ack(self, ack: cl.Ack) -> None: ...
    def on_event(self, event: cl.Event) -> None: ...


def test_timers_pacing_and_parameters_are_served(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    for share in (0.25, 0.5):
        text = SCENARIO.replace('"python-reno"', f'{{ name = "half-rate", share = {share} }}')
        goodput = {}
        for backend in ("linux", "sim"):
            [run] = cl.run(text.replace("loss = 0.002", ""), seeds=1, backend=backend).runs
            goodput[backend] = run.outcome["flows"][0]["goodput_mbps"]
        # A share of 20 Mbit/s of payload for 4.5 s, after 1 Mbit/s for 0.5 s.
        assert goodput["linux"] == pytest.approx((4.5 * 20 * share + 0.5 * 1) / 5, rel=0.02)
        assert goodput["linux"] == pytest.approx(goodput["sim"], rel=0.02)


@cl.controller("counting")
class Counting(cwndlab.benchmark.reno.Reno):
    """Counts the events that it receives, by kind."""

    told: ClassVar[Counter[str]] = Counter()

    def on_event(self, event: cl.Event) -> None:
        self.told[event.kind] += 1
        super().on_event(event)


LATE = 'loss = 0.002\nreorder = { probability = 0.02, delay = "5 ms" }'
AWAY = 'up = [{ at = "0 s", value = true }, { at = "1 s", value = false }, { at = "3 s", value = true }]'


@pytest.mark.parametrize(
    ("path", "happens"),
    [
        (LATE, {"loss-recovery", "undo"}),
        (AWAY, {"timeout", "loss-recovery"}),
        ('queue = { kind = "codel", ecn = true }', {"ecn-reduction"}),
    ],
)
def test_each_event_has_the_cause_that_the_kernel_counts(
    linux_kernel: Kernel, path: str, happens: set[str]
) -> None:
    assert linux_kernel.image.exists()
    text = SCENARIO.replace('queue = "1 bdp"\nloss = 0.002', path).replace("python-reno", "counting")
    Counting.told.clear()
    [run] = cl.run(text, seeds=1, backend="linux", fresh=True, overrides={"tcp.ecn": "codel" in path}).runs
    flow = run.outcome["flows"][0]
    counted = {
        "timeout": flow["timeouts"],
        "loss-recovery": flow["fast_recoveries"],
        "ecn-reduction": flow["ecn_reductions"],
        "undo": flow["undos"],
    }
    assert {name: Counting.told[name] for name in counted} == counted
    assert all(counted[name] > 0 for name in happens)


IDLE_SUBFLOW = """\
duration = "8 s"
send_jitter = "0 s"
tcp = { receive_buffer = "1 MB" }

[[link]]
name = "a"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "4 bdp"
up = [{ at = "0 s", value = true }, { at = "4 s", value = false }, { at = "4.6 s", value = true }]

[[link]]
name = "b"
rate = "5 Mbit/s"
delay = "40 ms"

[[flow]]
cc = "idles"
paths = [["a"], ["b"]]
mptcp = { scheduler = "min-rtt" }
"""


@cl.controller("idles")
class Idles(cwndlab.benchmark.reno.Reno):
    """Writes down its pauses: their lengths in RTOs, and its window before and after."""

    pauses: ClassVar[list[tuple[float, float, float]]] = []

    def on_event(self, event: cl.Event) -> None:
        before = self.cwnd_bytes
        super().on_event(event)
        if event.kind == "idle-restart":
            assert event.idle_s is not None
            windows = (before // event.mss_bytes, self.cwnd_bytes // event.mss_bytes)
            self.pauses.append((event.idle_s / event.rto_s, *windows))


def test_a_window_ages_while_nothing_is_sent(linux_kernel: Kernel) -> None:
    """As in tcp_cwnd_restart (RFC 2861): it halves once for each RTO of silence.

    While the other path is away, the receive buffer fills, so this one has nothing to send at times.
    """
    assert linux_kernel.image.exists()
    Idles.pauses.clear()
    cl.run(IDLE_SUBFLOW, seeds=[1], backend="linux", record="none", fresh=True, threads=1)
    assert Idles.pauses
    for rtos, before, after in Idles.pauses:
        assert rtos > 1
        assert after == max(before // 2 ** int(rtos), 10)


@cl.controller("classic")
class Classic(cwndlab.benchmark.reno.Reno):
    """Asks for a codepoint by itself, and adds up the marked bytes that it learns of."""

    ecn = "ect0"
    marked: ClassVar[list[int]] = []

    def on_ack(self, ack: cl.Ack) -> None:
        self.marked.append(ack.ce_bytes)
        super().on_ack(ack)


@cl.controller("l4s")
class L4s(Classic):
    """The same with the codepoint of L4S (RFC 9331)."""

    ecn = "ect1"


@pytest.mark.parametrize(("name", "codepoint"), [("classic", 2), ("l4s", 1)])
@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_the_codepoint_that_a_controller_needs_is_sent_and_its_marks_are_counted(
    linux_kernel: Kernel, tmp_path: Path, name: str, codepoint: int, backend: str
) -> None:
    assert linux_kernel.image.exists()
    text = SCENARIO.replace('queue = "1 bdp"\nloss = 0.002', 'queue = { kind = "codel", ecn = true }')
    text = text.replace("python-reno", name)
    Classic.marked.clear()
    cl.run(text, seeds=1, backend=backend, fresh=True, pcap=tmp_path)
    near, far = (packets(tmp_path / "seed-1" / f"link-1-a-{end}.pcapng") for end in ("near", "far"))
    assert {packet.ecn for packet in near if packet.payload_bytes} == {codepoint}
    assert {packet.checksums() for packet in near} == {(0xFFFF, 0xFFFF)}
    marked = [packet.payload_bytes for packet in far if packet.ecn == 3]
    assert len(marked) > 10
    assert sum(Classic.marked) == pytest.approx(sum(marked), rel=0.05)


@cl.controller("fails-in-linux")
class Fails:
    """Has a mistake that shows after a while."""

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 10 * setup.mss_bytes
        self._acks = 0

    def on_ack(self, _ack: cl.Ack) -> None:
        self._acks += 1
        if self._acks > 50:
            raise ValueError("a mistake")

    def on_event(self, event: cl.Event) -> None: ...


def test_a_mistake_is_shown_as_in_the_simulator(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    text = SCENARIO.replace("python-reno", "fails-in-linux")
    found = []
    for backend in ("linux", "sim"):
        with pytest.raises(RunFailedError, match=r"fails-in-linux\.on_ack: ValueError: a mistake") as error:
            cl.run(text, seeds=1, backend=backend)
        found.append(str(error.value))
    assert found[0] == found[1]


@cl.controller("hangs-in-linux")
class Hangs:
    """Never answers."""

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 10 * setup.mss_bytes

    def on_ack(self, _ack: cl.Ack) -> None:
        while True:
            pass

    def on_event(self, event: cl.Event) -> None: ...


def test_a_run_is_cancelled_although_its_controller_hangs(linux_kernel: Kernel) -> None:
    token = RunToken()
    threading.Timer(1, token.cancel).start()
    begin = time.monotonic()
    text = SCENARIO.replace("python-reno", "hangs-in-linux").encode()
    with pytest.raises(InterruptedError):
        Linux(SHIPPED.module, kernel=linux_kernel).run_seed(text, "x.toml", [], 1, False, token)
    assert time.monotonic() - begin < 30
    assert not [each for each in threading.enumerate() if each.name == "controllers"]


def test_a_changed_controller_is_run_again(linux_kernel: Kernel, cwndlab: Command, scenario: Path) -> None:
    assert linux_kernel.image.exists()
    mine = scenario.with_name("mine.py")
    text = (ROOT / "templates" / "python_controller.py").read_text()
    options = ("--set", "flow.*.cc=my-aimd", "--with", mine.name, "--backend", "linux", "--seeds", "1")
    run = ("run", scenario.name, *options, "--no-figure")
    for code, found in ((text, "1 new run, 0 reused"), (text, "0 new runs, 1 reused")):
        mine.write_text(code)
        assert found in cwndlab(*run).stderr
    mine.write_text(text.replace("+= self.gain * ack", "+= 2 * self.gain * ack"))
    assert "1 new run, 0 reused" in cwndlab(*run).stderr
