"""Means and intervals."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.results.summary import summarise
from cwndlab.statistics.measure import Measure, measure, paired_difference
from tests.samples import flow, link, outcome


def test_interval_is_students() -> None:
    # Mean 3, standard deviation sqrt(2.5), t(0.975; 4) = 2.7764451 (any table).
    found = measure([1, 2, 3, 4, 5])
    assert found.mean == 3
    assert found.n == 5
    assert found.half_width == pytest.approx(2.7764451 * math.sqrt(2.5 / 5), rel=1e-7)


def test_two_values_have_the_widest_interval() -> None:
    # t(0.975; 1) = 12.7062047
    assert measure([0, 1]).half_width == pytest.approx(12.7062047 * 0.5, rel=1e-7)


def test_scipy_agrees() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    values = [48.2, 47.9, 50.3, 49.1]
    low, high = scipy_stats.t.interval(0.95, 3, loc=sum(values) / 4, scale=scipy_stats.sem(values))
    assert measure(values).to_json()["ci95"] == pytest.approx([low, high])


@pytest.mark.parametrize("values", [[7.25], [0.1] * 5, [0, 0]])
def test_no_interval_where_nothing_varies(values: list[float]) -> None:
    assert measure(values) == Measure(values[0], None, len(values))


def test_what_comes_of_rounding_is_no_effect() -> None:
    assert measure([0.1 + 0.2, 0.3]).half_width is None
    assert paired_difference([0.1 + 0.2, 0.7], [0.3, 0.7]) == Measure(0, None, 2)
    assert paired_difference([0.3 + 1e-9, 0.7], [0.3, 0.7]).half_width is not None


def test_missing_values_are_left_out() -> None:
    assert measure([None, 4.0, math.nan, 4.0, math.inf]) == Measure(4.0, None, 2)
    assert measure([None, None]) == Measure(None, None, 0)


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=8))
def test_interval_is_finite_and_holds_the_mean(values: list[float]) -> None:
    shown = measure(values).to_json()
    json.dumps(shown, allow_nan=False)
    if shown["ci95"] is not None:
        assert shown["ci95"][0] <= shown["mean"] <= shown["ci95"][1]


def test_summary_pairs_components_of_the_seeds() -> None:
    seeds = [
        outcome([flow("a", 1), flow("b", 9)], [link("l")]),
        outcome([flow("a", 3), flow("b", 9)], [link("l")]),
    ]
    summary = summarise(seeds)
    assert [each.name for each in summary.flows] == ["a", "b"]
    assert summary.flows[0].measures["goodput_mbps"].mean == 2
    assert summary.flows[1].measures["goodput_mbps"] == Measure(9, None, 2)
    assert summary.links[0].measures["utilisation"] == Measure(0.97, None, 2)
    assert not summary.deterministic


def test_deterministic_when_all_is_equal() -> None:
    assert summarise([outcome([flow("a", 1)])] * 3).deterministic


def test_one_degraded_seed_marks_the_flow() -> None:
    summary = summarise([outcome([flow("a", 1)]), outcome([flow("a", 1, degraded=True)])])
    assert summary.flows[0].degraded
    assert summary.flows[0].to_json()["degraded"] is True


def test_subflows_are_summarised_too() -> None:
    seeds = [outcome([flow("a", each, subflows=[flow("a/1", each)])]) for each in (1.0, 2.0)]
    shown = summarise(seeds).flows[0].to_json()
    assert shown["subflows"][0]["goodput_mbps"]["mean"] == 1.5


def test_nothing_at_all() -> None:
    summary = summarise([])
    assert (summary.flows, summary.links, summary.jain.n) == ([], [], 0)
