"""Sweeps from Python."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import cwndlab as cl
from cwndlab.api.results import Sweep
from cwndlab.scenarios.axis import Axis
from tests.conftest import SCENARIO
from tests.samples import flow, link, outcome, result

OVER = {"flow.*.cc": ["cubic", "reno"], "link.0.queue": ["0.5 bdp", "1 bdp", "fq-codel"]}


pytestmark = pytest.mark.usefixtures("own_cache")


def by_hand(*points: tuple[float, float]) -> Sweep:
    """A sweep over a buffer with these goodputs and queueing delays."""
    results = [result([outcome([flow("a", y)], [link("l", queue_delay_ms=x)])]) for y, x in points]
    axis = Axis("link.l.queue", tuple(f"{index} packets" for index in range(len(points))))
    settings = [{axis.key: value} for value in axis.values]
    return Sweep(results[0].scenario, [axis], list(zip(settings, results, strict=True)), "l")


def test_table() -> None:
    made = cl.sweep(SCENARIO, OVER, seeds=2)
    table = made.table
    assert table.height == 6
    assert table.columns[:3] == ["flow.*.cc", "link.0.queue", "efficient"]
    row = table.filter((pl.col("flow.*.cc") == "reno") & (pl.col("link.0.queue") == "1 bdp"))
    assert row["goodput_mbps_low"][0] < row["goodput_mbps"][0] < row["goodput_mbps_high"][0]
    point = made.at(**{"flow.*.cc": "reno", "link.0.queue": "1 bdp"})
    assert point.flows["cc"].to_list() == ["reno"] * 4
    assert row["goodput_mbps"][0] == pytest.approx(point.flows["goodput_mbps"].sum() / 2)


def test_a_point_is_the_run_with_its_settings() -> None:
    swept = cl.sweep(SCENARIO, {"link.0.queue": ["1 bdp", "2 bdp"]}, seeds=2)
    alone = cl.run(SCENARIO, seeds=2, overrides={"link.0.queue": "2 bdp"}, fresh=True)
    found = swept.at(**{"link.0.queue": "2 bdp"})
    assert found.flows.equals(alone.flows)
    assert found.links.equals(alone.links)


def test_efficient_points() -> None:
    swept = by_hand((10, 1), (9, 2), (12, 5), (12, 6))
    assert swept.efficient == [True, False, True, False]


def test_points_are_found_by_their_settings() -> None:
    swept = by_hand((10, 1), (9, 2))
    assert swept.at(**{"link.l.queue": "1 packets"}).flows["goodput_mbps"].to_list() == [9]
    with pytest.raises(cl.InputError, match="found 0"):
        swept.at(**{"link.l.queue": "7 packets"})
    with pytest.raises(cl.InputError, match="found 2"):
        swept.at()


def test_the_queue_is_that_of_the_link_that_delays_most() -> None:
    access = '[[link]]\nname = "fast"\nrate = "1 Gbit/s"\ndelay = "1 ms"\n'
    text = (SCENARIO + access).replace('path = ["bottleneck"]', 'path = ["fast", "bottleneck"]')
    made = cl.sweep(text, {"link.bottleneck.queue": ["1 bdp", "2 bdp"]}, seeds=1)
    assert made.link == "bottleneck"
    other = cl.sweep(text, {"link.bottleneck.queue": ["1 bdp", "2 bdp"]}, seeds=1, link="fast")
    assert other.link == "fast"
    delays = [swept.totals[0].measures["queue_delay_ms"].mean or 0 for swept in (other, made)]
    assert delays[0] < delays[1]


@pytest.mark.parametrize(("kind", "measure"), [("pareto", None), ("heatmap", "queue_delay_ms")])
def test_figures(kind: Any, measure: str | None) -> None:
    assert cl.sweep(SCENARIO, OVER, seeds=1).plot(kind, measure).axes


def test_mistakes() -> None:
    with pytest.raises(cl.InputError, match="cubik"):
        cl.sweep(SCENARIO, {"flow.*.cc": ["cubik"]}, seeds=1)
    with pytest.raises(cl.InputError, match=r"^kind: expected a figure"):
        by_hand((1, 1)).plot("pie")
    with pytest.raises(cl.InputError, match="no such link"):
        cl.sweep(SCENARIO, {"link.0.queue": ["1 bdp"]}, seeds=1, link="x")
