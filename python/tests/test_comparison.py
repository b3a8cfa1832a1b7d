"""Comparisons, paired by seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

import cwndlab as cl
from cwndlab.api.results import Comparison, Result
from tests.conftest import SCENARIO
from tests.samples import flow, link, outcome, result

pytestmark = pytest.mark.usefixtures("own_cache")


def variant(goodputs: Sequence[float], **changes: Any) -> Result:
    """One flow with these goodputs, one a seed."""
    return result([outcome([flow("a", each, **changes)], [link("l")]) for each in goodputs])


def compared(*variants: Result, alone: Result | None = None) -> Comparison:
    labels = ("cubic", "reno", "vegas")[: len(variants)]
    return Comparison(variants[0].scenario, labels, ("b",), list(variants), alone, "l")


def difference(comparison: Comparison, name: str, key: str) -> cl.Measure:
    [table] = [table for table in comparison.tables if table.name == name]
    return table.differences[0][key]


def test_differences_are_taken_within_each_seed() -> None:
    # The seeds differ by far more than the algorithms do.
    comparison = compared(variant([10, 50, 90]), variant([11, 52, 93]))
    gain = difference(comparison, "a", "goodput_mbps")
    assert gain.mean == pytest.approx(2)
    # Student's t with 2 degrees of freedom: 4.3027; the deviation of 1, 2, 3 is 1.
    assert gain.half_width == pytest.approx(4.3027 / math.sqrt(3), rel=1e-4)


def test_a_difference_that_never_varies_has_no_interval() -> None:
    comparison = compared(variant([10, 50, 90]), variant([11, 51, 91]))
    assert difference(comparison, "all", "goodput_mbps") == cl.Measure(1, None, 3)


def test_a_seed_that_one_algorithm_lacks_is_left_out() -> None:
    comparison = compared(variant([10, 50, 90]), variant([11, 52]))
    assert comparison.seeds == [1, 2]
    assert difference(comparison, "a", "goodput_mbps").mean == pytest.approx(1.5)
    assert comparison.tables[0].means[0]["goodput_mbps"].mean == pytest.approx(30)


def test_harm_is_that_of_ware_et_al() -> None:
    # Alone: 80 Mbit/s and 20 ms. Beside the rival: 60 and 40, so a quarter of the goodput is lost, and half
    # of the RTT is the rival's.
    comparison = compared(
        variant([60], rtt_ms=40), variant([40], rtt_ms=20), alone=variant([80], rtt_ms=20, rtt_p95_ms=None)
    )
    [harm] = comparison.harm
    assert [means["goodput_mbps"].mean for means in harm.means] == [0.25, 0.5]
    assert [means["rtt_ms"].mean for means in harm.means] == [0.5, 0]
    assert harm.means[0]["rtt_p95_ms"].n == 0
    assert harm.differences[0]["goodput_mbps"].mean == pytest.approx(0.25)


def test_no_rival_no_harm() -> None:
    assert compared(variant([60]), variant([40])).harm == []


def test_the_same_algorithm_differs_in_nothing() -> None:
    comparison = cl.compare(SCENARIO, ["cubic", "{ name = 'cubic' }"], seeds=2)
    for table in comparison.tables:
        assert {each.mean for each in table.differences[0].values()} <= {0, None}


def test_only_the_flows_named_take_the_algorithms() -> None:
    comparison = cl.compare(SCENARIO, ["cubic", "reno"], ["b"], seeds=2)
    assert comparison.flows.filter(variant="cubic", seed=1)["cc"].to_list() == ["cubic", "cubic"]
    assert comparison.flows.filter(variant="reno", seed=1)["cc"].to_list() == ["cubic", "reno"]
    [harm] = comparison.harm
    assert harm.name == "a"
    assert 0 < (harm.means[0]["goodput_mbps"].mean or 0) < 1
    by_place = cl.compare(SCENARIO, ["cubic", "reno"], [1], seeds=2)
    assert by_place.to_json()["harm"] == comparison.to_json()["harm"]


def test_differences_as_a_frame() -> None:
    frame = cl.compare(SCENARIO, ["cubic", "reno", "newreno"], seeds=2).differences
    assert frame.filter(kind="flow", name="a", measure="goodput_mbps")["algorithm"].to_list() == [
        "reno",
        "newreno",
    ]
    assert set(frame["baseline"]) == {"cubic"}


@pytest.mark.parametrize(
    ("algorithms", "flows", "message"),
    [
        (["cubic"], [], "two or more"),
        (["cubic", "cubic"], [], "expected two or more different algorithms"),
        (["cubic", "cubik"], [], "cubik"),
        (["cubic", "reno"], ["c"], "no such flow; expected one of: a, b"),
        (["cubic", "reno"], ["7"], "no such flow"),
    ],
)
def test_mistakes(algorithms: list[str], flows: list[str], message: str) -> None:
    with pytest.raises(cl.InputError, match=message):
        cl.compare(SCENARIO, algorithms, flows, seeds=1)


@pytest.mark.parametrize("kind", ["box", "cdf", "fairness", "pareto"])
def test_figures(kind: Any) -> None:
    made = cl.compare(SCENARIO, ["cubic", "reno"], seeds=2)
    assert made.plot(kind).axes
