"""Many flows in a few rows: the average of each algorithm, quantiles over its flows, the slowest flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.results.summary import Component, component, is_measure
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
LEAST = 3


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


def least(outcomes: Sequence[Outcome], key: str = "goodput_mbps", count: int = LEAST) -> list[Component]:
    """Return the flows with the lowest mean of a measure over the seeds, lowest first."""
    import numpy as np

    sums = np.sum([_values(outcome["flows"], key) for outcome in outcomes], axis=0)
    places = np.argsort(sums, kind="stable")[:count]
    return [component([outcome["flows"][place] for outcome in outcomes]) for place in places.tolist()]


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


def _spread(values: NDArray[float64]) -> list[float | None]:
    """Return the mean and the quantiles over the flows that have a value."""
    import numpy as np

    known = values[~np.isnan(values)]
    if not len(known):
        return [None] * (1 + len(QUANTILES))
    return [float(known.mean()), *np.percentile(known, list(QUANTILES.values())).tolist()]
