"""The simulator's timers expire when Linux's do."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from cwndlab.beside.both import run_both
from cwndlab.scenarios.scenario import Scenario
from tests.captures import packets
from tests.test_linux_controllers import text

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel

OUTAGE = [{"at": "0 s", "value": True}, {"at": "2 s", "value": False}, {"at": "11 s", "value": True}]


pytestmark = pytest.mark.usefixtures("own_cache")


def silences_ms(folder: Path) -> list[float]:
    """The waits of more than 100 ms between two packets in the outage."""
    sent = [each.at_ns for each in packets(folder / "seed-1" / "senders.pcapng") if each.payload_bytes]
    during = [at for at in sent if 2e9 < at - sent[0] < 11e9]
    waits = [(later - earlier) / 1e6 for earlier, later in pairwise(during)]
    return [wait for wait in waits if wait > 100]


def coarseness_ms(wait_ms: float) -> int:
    """The distance of the instants at which such a timer may expire."""
    return next(step for step, longest in ((8, 512), (64, 4096), (512, 32768)) if wait_ms <= longest)


def test_retransmissions_wait_for_the_same_ticks(linux_kernel: Kernel, tmp_path: Path) -> None:
    """The longer a wait, the coarser; where the ticks lie differs."""
    assert linux_kernel.image.exists()
    waits = []
    for backend, cc in (("sim", "reno"), ("linux", "linux:reno")):
        cl.run(
            text("an outage", f'"{cc}"', seconds=12),
            overrides={"link.a.up": OUTAGE},
            seeds=[1],
            backend=backend,
            pcap=tmp_path / backend,
        )
        waits.append(silences_ms(tmp_path / backend))
    assert len(waits[0]) == len(waits[1]) >= 3
    for simulated, real in zip(*waits, strict=True):
        assert simulated % 8 == real % 8 == pytest.approx(0, abs=1e-3)
        assert simulated == pytest.approx(real, abs=0.001 + coarseness_ms(real))


def test_as_many_late_packets_are_taken_for_lost(linux_kernel: Kernel) -> None:
    """RACK waits for the last packet that may be late, 2 ms more, and for a tick."""
    assert linux_kernel.image.exists()
    scenario = Scenario(text("reordering", '"linux:reno"', seconds=60).encode(), "late packets")
    [both] = run_both([scenario], range(101, 121))
    sim, linux = (
        fmean(run.outcome["flows"][0]["retransmitted_packets"] for run in side.runs)
        for side in (both.sim, both.linux)
    )
    # The same seeds make the same packets late: 40 of them differ by 0.3 +- 3.6 of 206.
    assert sim == pytest.approx(linux, abs=8)
