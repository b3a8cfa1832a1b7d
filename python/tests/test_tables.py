"""Results as data frames."""

from __future__ import annotations

from tests.samples import flow, link, outcome, recording, result


def test_one_row_per_seed_and_component() -> None:
    made = result([outcome([flow("a", 1.5), flow("b", 2)], [link("l")])] * 3)
    assert made.flows.shape[0] == 6
    assert made.flows["goodput_mbps"].to_list()[:2] == [1.5, 2.0]
    assert made.flows["seed"].unique().sort().to_list() == [1, 2, 3]
    assert made.links["name"].to_list() == ["l"] * 3
    assert "utilisation" not in made.flows.columns


def test_missing_values_are_null() -> None:
    made = result([outcome([flow("a", 1, rtt_ms=None), flow("b", 1)])])
    assert made.flows["rtt_ms"].to_list() == [None, 88.25]


def test_series_are_one_wide_table() -> None:
    made = result([outcome([])], recording(flows=2, samples=20))
    rtt = made.series("rtt_ms")
    assert rtt.columns == ["kind", "name", "time_s", "rtt_ms"]
    assert rtt.shape[0] == 2 * 10  # the first 0.1 s have no RTT
    assert made.series("queue_packets")["name"].unique().to_list() == ["bottleneck"]
