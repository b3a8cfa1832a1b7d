"""Many flows in a few rows."""

from __future__ import annotations

from cwndlab.results.crowd import crowds, extent, least
from cwndlab.statistics.measure import measure
from tests.samples import flow, outcome

SEEDS = [
    outcome([flow("a", 1), flow("b", 3), flow("c", 99, cc="reno")]),
    outcome([flow("a", 3), flow("b", 5), flow("c", 99, cc="reno")]),
]


def test_the_average_is_over_the_flows_then_over_the_seeds() -> None:
    cubic, reno = crowds(SEEDS)
    assert (cubic.cc, cubic.size, reno.cc, reno.size) == ("cubic", 2, "reno", 1)
    assert cubic.average["goodput_mbps"] == measure([2, 4])
    assert cubic.average["completion_s"].n == 0


def test_quantiles_are_over_the_flows() -> None:
    [crowd] = crowds([outcome([flow(f"f-{index}", index) for index in range(101)])])
    goodputs = {name: measures["goodput_mbps"].mean for name, measures in crowd.quantiles.items()}
    assert goodputs == {"p05": 5, "median": 50, "p95": 95}


def test_a_flow_without_a_value_is_left_out() -> None:
    [crowd] = crowds([outcome([flow("a", 1, completion_s=None), flow("b", 1, completion_s=2.0)])])
    assert crowd.average["completion_s"].mean == 2


def test_those_with_the_least_goodput_are_found_in_each_seed() -> None:
    seeds = [
        outcome([flow("a", 0), flow("b", 3, timeouts=2), flow("c", 6)]),
        outcome([flow("a", 0), flow("b", 7), flow("c", 5, cc="reno", timeouts=4)]),
    ]
    lowest, second = least(seeds, count=2)
    assert (lowest.name, lowest.cc) == ("a", "cubic")
    # b in one seed and c in the other, though both have 5 or more on average.
    assert (second.name, second.cc) == ("2nd lowest", "")
    assert second.measures["goodput_mbps"] == measure([3, 5])
    assert second.measures["timeouts"] == measure([2, 4])


def test_flows_that_starve_in_one_seed_are_not_averaged_away() -> None:
    """Each flow gets something on average, and one of them gets nothing in each seed."""
    found = extent([outcome([flow("a", 0), flow("b", 4)]), outcome([flow("a", 6), flow("b", 0)])])
    assert found.together == measure([4, 6])
    assert (found.least.mean, found.most) == (0, measure([4, 6]))
    assert found.without.mean == 1


def test_of_nothing() -> None:
    assert crowds([outcome([])]) == []
    assert least([outcome([])]) == []
