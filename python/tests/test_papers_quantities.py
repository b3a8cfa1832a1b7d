"""Quantities of one run, with answers known by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cwndlab.papers.language.expression import NoValueError
from cwndlab.papers.language.quantities import QUANTITIES
from cwndlab.results.detail import Detail, Distribution
from cwndlab.results.recording import SeriesTable
from cwndlab.results.seed_run import SeedRun
from tests.samples import flow, link, outcome

if TYPE_CHECKING:
    from cwndlab.results.recording import Column

# 20 s in intervals of 0.1 s.
ENDS: Column = np.arange(1, 201, dtype=np.float64) * 0.1


def run(windows: Column | None = None, losses: Column | None = None) -> SeedRun:
    """Two flows: `a` gets 10 Mbit/s for 10 s and 30 after that, `b` nothing for 10 s and 10 after that."""
    rates = {"a": np.where(ENDS <= 10.05, 10.0, 30.0), "b": np.where(ENDS <= 10.05, np.nan, 10.0)}
    zeros = np.zeros(len(ENDS))
    tables = [
        SeriesTable(
            "flow",
            name,
            {
                "goodput_mbps": rate,
                "cwnd_segments": ENDS if windows is None else windows,
                "loss_events": zeros if losses is None else losses,
                "min_rtt_ms": 40 + ENDS,
            },
        )
        for name, rate in rates.items()
    ]
    flows = [flow("a", 20, retransmitted_packets=7), flow("b", 5, rtt_ms=None)]
    links = [link("bottleneck", dropped_packets=3, lost_packets=2), link("a.access", lost_packets=1)]
    detail = Detail(ENDS, tables, np.zeros(0), np.zeros(0), [])
    return SeedRun(1, outcome(flows, links), detail, None, reused=False)


def quantity(name: str, *arguments: Any, of: SeedRun | None = None, **named: Any) -> float:
    return QUANTITIES[name].compute(of or run(), *arguments, **named)


def test_whole_runs() -> None:
    assert quantity("goodput", "a") == 20
    assert quantity("goodput") == 25
    assert quantity("retransmitted", "a") == 7
    assert quantity("lost") == 6
    assert quantity("lost_on", "bottleneck") == 2
    assert quantity("utilisation", "bottleneck") == 0.97
    assert quantity("queue_delay", "bottleneck") == 20.5
    assert quantity("rtt", "a") == 88.25


def with_patterns() -> SeedRun:
    """A flow and a group with peaks and losses, and the ratios of the flow."""
    own = {
        "rtt_samples": 1000,
        "rtt_peaks": 40,
        "timeouts": 10,
        "timeouts_at_peak": 4,
        "regained_segments": 5.0,
        "regained_after_timeout_segments": 8.0,
        "regained_after_timeout_at_peak_segments": 7.0,
        "regained_after_fast_recovery_segments": 3.0,
        "regained_after_fast_recovery_at_peak_segments": 2.0,
    }
    one = flow("a", 20, **own, regained_after_peak_segments=4.0, fast_recoveries=3, fast_recoveries_at_peak=1)
    many = {"name": "web", "goodput_mbps": 1.0, "cc": "reno", **own, "timeouts": 5, "fast_recoveries": 2}
    many |= {"fast_recoveries_at_peak": 0, "regained_after_peak_segments": None}
    ratios = Distribution(
        "flow", "a", "rtt_peak_ratio", np.array([0.25, 1.95, 2.05, 2.45]), np.array([5, 2, 2, 1.0])
    )
    detail = Detail(ENDS, [], np.zeros(0), np.zeros(0), [ratios])
    return SeedRun(1, {**outcome([one], []), "groups": [many]}, detail, None, reused=False)


def test_patterns_of_one_and_of_all() -> None:
    of = with_patterns()
    assert quantity("timeouts", of=of) == 15
    assert quantity("timeouts", "web", of=of) == 5
    assert quantity("fast_recoveries", "a", of=of) == 3
    assert quantity("rtt_samples", of=of) == 2000
    assert quantity("rtt_peaks", "a", of=of) == 40
    assert quantity("timeouts_at_peak", of=of) == 8
    assert quantity("fast_recoveries_at_peak", of=of) == 1
    assert quantity("regained", "a", of=of) == 5
    assert quantity("regained_after_peak", "a", of=of) == 4
    assert quantity("regained_after_timeout", "a", of=of) == 8
    assert quantity("regained_after_timeout_at_peak", "a", of=of) == 7
    assert quantity("regained_after_fast_recovery", "web", of=of) == 3
    assert quantity("regained_after_fast_recovery_at_peak", "a", of=of) == 2
    with pytest.raises(NoValueError, match="web: no regained after peak segments in a run"):
        quantity("regained_after_peak", "web", of=of)


def test_peak_ratios_between_two_values() -> None:
    of = with_patterns()
    assert quantity("peak_ratio_share", "a", 2, of=of) == pytest.approx(0.3)
    assert quantity("peak_ratio_share", "a", 0, 2, of=of) == pytest.approx(0.7)
    with pytest.raises(NoValueError, match="web has no peak ratios"):
        quantity("peak_ratio_share", "web", 2, of=of)


def test_windows_of_time() -> None:
    assert quantity("goodput", "a", start=0, end=10) == pytest.approx(10)
    assert quantity("goodput", "a", start=10) == pytest.approx(30)
    assert quantity("goodput", "a", start=5, end=15) == pytest.approx(20)
    assert quantity("goodput", "b", end=10) == 0
    assert quantity("goodput", start=10, end=20) == pytest.approx(40)
    assert quantity("jain", start=10) == pytest.approx(40**2 / (2 * (30**2 + 10**2)))
    assert quantity("cwnd", "a", start=0, end=1) == pytest.approx(0.55)
    assert quantity("cwnd_max", "a", end=10) == pytest.approx(10)


@pytest.mark.parametrize(
    ("name", "arguments", "named", "reason"),
    [
        ("rtt", ["b"], {}, "b: no rtt ms in a run"),
        ("goodput", ["c"], {}, "expected one of a, b, found 'c'"),
        ("goodput", ["a"], {"end": 60}, "the run ends at 20 s, before 60 s"),
        ("goodput", ["a"], {"start": 7, "end": 7}, "no interval between"),
        ("recovery", ["a"], {"at": 30}, "the run ends before 30 s"),
        ("utilisation", ["x"], {}, "found 'x'"),
        ("jain", [], {"end": 0.05}, "no interval between"),
    ],
)
def test_what_has_no_value_says_why(
    name: str, arguments: list[Any], named: dict[str, float], reason: str
) -> None:
    with pytest.raises(NoValueError, match=reason):
        QUANTITIES[name].compute(run(), *arguments, **named)


def test_probes() -> None:
    assert quantity("probe", "a", "min_rtt_ms", start=0, end=1) == pytest.approx(40.55)
    assert quantity("probe_max", "a", "min_rtt_ms") == pytest.approx(60)
    assert quantity("probe_min", "a", "min_rtt_ms", start=10) == pytest.approx(50.1)
    with pytest.raises(NoValueError, match="expected one of goodput_mbps, cwnd_segments"):
        quantity("probe", "a", "joy")


def dip(low: float, back_at: float) -> Column:
    """A window of 100 that falls at 3 s and rises in a straight line until `back_at`."""
    rising = low + (100 - low) * (ENDS - 3) / (back_at - 3)
    windows: Column = np.where(ENDS <= 3.05, 100.0, np.minimum(rising, 100))
    return windows


def test_recovery() -> None:
    # From 50 it is back at 95 when 90 % of the way is done: 3 + 0.9 * 10 = 12 s.
    assert quantity("recovery", "a", at=3, of=run(dip(50, 13))) == pytest.approx(9, abs=0.11)
    assert quantity("recovery", "a", at=3, share=0.75, of=run(dip(50, 13))) == pytest.approx(5, abs=0.11)


def test_no_fall_no_recovery() -> None:
    assert quantity("recovery", "a", at=3, of=run(np.full(len(ENDS), 100.0))) == 0


def test_a_window_that_does_not_come_back_counts_to_the_end() -> None:
    assert quantity("recovery", "a", at=3, of=run(dip(50, 100))) == pytest.approx(17)


def test_settling() -> None:
    settled = np.where(ENDS <= 6.05, ENDS * 10, 100.0)
    # 90 is within 10 % of 100, but the step to it comes at 6.1 s; until then it is at most 60.
    assert quantity("settle", "a", of=run(settled)) == pytest.approx(6.1)


def test_the_median_is_that_of_what_follows() -> None:
    """Half of the run swings between 10 and 90; then it stands, which the median of all would forbid."""
    swing = np.where(np.arange(len(ENDS)) % 2 == 0, 10.0, 90.0)
    windows = np.where(ENDS <= 10.55, swing, 100.0)
    assert quantity("settle", "a", of=run(windows)) == pytest.approx(10.6)


def test_a_loss_unsettles() -> None:
    losses = np.zeros(len(ENDS))
    losses[79] = 1  # in the interval that ends at 8.0 s
    assert quantity("settle", "a", of=run(np.full(len(ENDS), 100.0), losses)) == pytest.approx(0.1)
    losses[30] = 1  # and at 3.1 s: no 5 s without loss before 8.1
    assert quantity("settle", "a", of=run(np.full(len(ENDS), 100.0), losses)) == pytest.approx(8.1)


def test_a_window_that_never_settles_counts_to_the_end() -> None:
    sawtooth = 100 + 50 * (ENDS % 2)
    assert quantity("settle", "a", of=run(sawtooth)) == pytest.approx(20)
