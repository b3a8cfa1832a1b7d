"""Many flows in a few rows: the average of each algorithm, quantiles over its flows, the slowest flows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.results.summary import Component, is_measure
from cwndlab.statistics.measure import Measure, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    Outcome = Mapping[str, Any]
    Flow = Mapping[str, Any]

# Tables and figures do not show more flows than this one by one.
MANY = 40

QUANTILES = {"p05": 5, "median": 50, "p95": 95}
# The flows with the lowest goodput, if they are not the same in every seed.
PLACES = ("lowest", "2nd lowest", "3rd lowest")
LEAST = len(PLACES)


@dataclass(frozen=True, slots=True)
class Crowd:
    """All flows of one algorithm.

    Averages and quantiles are taken over the flows in each seed, then summarised over the seeds. Each measure
    has its own quantiles: those of goodput and RTT usually belong to different flows.
    """

    cc: str
    size: int
    degraded: bool
    average: dict[str, Measure]
    quantiles: dict[str, dict[str, Measure]]

    def to_json(self) -> dict[str, Any]:
        """Return the crowd as in the JSON documents."""
        parts = {"average": self.average, **self.quantiles}
        rows = {name: {key: each.to_json() for key, each in part.items()} for name, part in parts.items()}
        return {"cc": self.cc, "flows": self.size, **({"degraded": True} if self.degraded else {}), **rows}


def crowds(outcomes: Sequence[Outcome]) -> list[Crowd]:
    """Return the flows of each algorithm, in the order of their first flows in the scenario."""
    by_seed = [_by_algorithm(outcome["flows"]) for outcome in outcomes]
    return [_crowd(cc, [seed[cc] for seed in by_seed]) for cc in (by_seed[0] if by_seed else {})]


@dataclass(frozen=True, slots=True)
class Extent:
    """How differently the flows of a run fare: taken within each seed, then summarised over the seeds."""

    together: Measure
    least: Measure
    most: Measure
    # The number of flows that get nothing, and of those that delivered all that they had.
    without: Measure
    done: Measure
    longest_s: Measure


def extent(outcomes: Sequence[Outcome], key: str = "goodput_mbps") -> Extent:
    """Return the sum of a measure over all flows, its least and largest value, and how many have none of it.

    A flow that starves in one seed may do well in the next one, so means of flows over seeds would hide it.
    Flows that ended in the warm-up were done before anything was measured, so they do not count as starving.
    """
    seeds = [outcome["flows"] for outcome in outcomes]
    measured = [_known(_values([flow for flow in flows if not _is_early(flow)], key)) for flows in seeds]
    full = [values for values in measured if len(values)]
    done = [_known(_values(flows, "completion_s")) for flows in seeds]
    return Extent(
        measure(float(values.sum()) for values in full),
        measure(float(values.min()) for values in full),
        measure(float(values.max()) for values in full),
        measure(float((values == 0).sum()) for values in full),
        measure(len(times) for times in done),
        measure(float(times.max()) for times in done if len(times)),
    )


def ended_in_warmup(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the flows that were done before anything was measured, and in how many seeds."""
    return dict(Counter(flow["name"] for outcome in outcomes for flow in outcome["flows"] if _is_early(flow)))


def measured(outcomes: Sequence[Outcome], name: str, key: str = "goodput_mbps") -> Measure:
    """Return a measure of a flow over the seeds in which it did not end in the warm-up."""
    flows = [flow for outcome in outcomes for flow in outcome["flows"] if flow["name"] == name]
    return measure(flow.get(key) for flow in flows if not _is_early(flow))


def _is_early(flow: Flow) -> bool:
    """Whether a flow delivered all that it had, and nothing in the measured time."""
    return flow.get("completion_s") is not None and flow.get("goodput_mbps") == 0


def least(outcomes: Sequence[Outcome], key: str = "goodput_mbps", count: int = LEAST) -> list[Component]:
    """Return the flows with the lowest measure within each seed, lowest first.

    Where another flow has a place in another seed, the place is named, not the flow.
    """
    import numpy as np

    orders = [np.argsort(_values(outcome["flows"], key), kind="stable")[:count] for outcome in outcomes]
    lowest = [
        [outcome["flows"][place] for place in order.tolist()]
        for outcome, order in zip(outcomes, orders, strict=True)
    ]
    return [_at(rank, seeds) for rank, seeds in enumerate(zip(*lowest, strict=True))]


def _at(rank: int, seeds: Sequence[Flow]) -> Component:
    """Return the flow at this place of each seed as one row."""
    [name, *other_names] = dict.fromkeys(flow["name"] for flow in seeds)
    [cc, *other_algorithms] = dict.fromkeys(flow["cc"] for flow in seeds)
    keys = dict.fromkeys(key for flow in seeds for key in flow if is_measure(flow, key))
    return Component(
        PLACES[rank] if other_names else name,
        "" if other_algorithms else cc,
        any(flow.get("degraded") for flow in seeds),
        {key: measure(flow.get(key) for flow in seeds) for key in keys},
    )


def _by_algorithm(flows: Sequence[Flow]) -> dict[str, list[Flow]]:
    found: dict[str, list[Flow]] = {}
    for flow in flows:
        found.setdefault(flow["cc"], []).append(flow)
    return found


def _crowd(cc: str, seeds: Sequence[Sequence[Flow]]) -> Crowd:
    first = seeds[0]
    keys = dict.fromkeys(key for flow in first for key in flow if is_measure(flow, key))
    rows = {key: [_spread(_values(flows, key)) for flows in seeds] for key in keys}
    average, *quantiles = (
        {key: measure(seed[place] for seed in seeds) for key, seeds in rows.items()}
        for place in range(1 + len(QUANTILES))
    )
    return Crowd(
        cc,
        len(first),
        any(flow.get("degraded") for flows in seeds for flow in flows),
        average,
        dict(zip(QUANTILES, quantiles, strict=True)),
    )


def _values(flows: Sequence[Flow], key: str) -> NDArray[float64]:
    import numpy as np

    return np.array([flow.get(key) for flow in flows], dtype=np.float64)


def _known(values: NDArray[float64]) -> NDArray[float64]:
    import numpy as np

    return values[~np.isnan(values)]


def _spread(values: NDArray[float64]) -> list[float | None]:
    """Return the mean and the quantiles over the flows that have a value."""
    import numpy as np

    known = _known(values)
    if not len(known):
        return [None] * (1 + len(QUANTILES))
    return [float(known.mean()), *np.percentile(known, list(QUANTILES.values())).tolist()]
