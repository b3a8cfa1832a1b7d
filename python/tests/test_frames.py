"""Results as data frames."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cwndlab.results import frames
from cwndlab.results.frames import joined
from tests.samples import flow, link, outcome, recording, result

if TYPE_CHECKING:
    from collections.abc import Callable


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
    assert rtt.columns == ["seed", "kind", "name", "time_s", "rtt_ms"]
    assert rtt.shape[0] == 2 * 10  # the first 0.1 s have no RTT
    assert made.series("queue_packets")["name"].unique().to_list() == ["bottleneck"]


def test_intervals_and_fairness_of_every_seed() -> None:
    made = result([outcome([flow("a", 1), flow("b", 1)])] * 2).intervals
    flows = made.filter(pl.col("kind") == "flow")
    assert flows.height == 2 * 2 * 50
    assert flows.filter((pl.col("seed") == 2) & (pl.col("name") == "b"))["cwnd_segments"][0] == 52.1
    fairness = made.filter(pl.col("kind") == "run")
    assert fairness["time_s"].to_list() == [1, 2, 3, 4, 5] * 2
    assert fairness["jain"].null_count() == 0


def test_distributions_of_every_seed() -> None:
    made = result([outcome([flow("a", 1)])] * 3).distributions
    assert made.filter(pl.col("seed") == 3)["count"].to_list() == [1, 2, 3]
    assert made["measure"].unique().to_list() == ["rtt_ms"]


def test_joined_tells_whose_a_row_is() -> None:
    one, other = result([outcome([flow("a", 1)])]), result([outcome([flow("a", 2)])])
    table = joined([({"flow.0.cc": "cubic"}, one.flows), ({"flow.0.cc": "reno"}, other.flows)])
    assert table.columns[:2] == ["flow.0.cc", "seed"]
    assert table["flow.0.cc"].to_list() == ["cubic", "reno"]
    assert table["goodput_mbps"].to_list() == [1, 2]


def calls_into_polars(work: Callable[[], Any]) -> int:
    """How often Python calls a function of polars."""
    count = 0

    def watch(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and "/polars/" in frame.f_code.co_filename

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("table", ["runs", "series", "events", "intervals", "distributions"])
def test_the_work_grows_with_the_columns_not_with_the_components(table: str) -> None:
    build = getattr(frames, f"{table}_frame")

    def calls(flows: int) -> int:
        outcomes = [outcome([flow(f"flow-{index}", 1) for index in range(flows)], [link("bottleneck")])]
        made = result(outcomes, recording(flows, samples=4))
        build(made.runs)  # Imports and caches of polars.
        return calls_into_polars(lambda: build(made.runs))

    assert calls(200) == calls(2)
