"""Means over seeds with their 95 % intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CONFIDENCE = 0.95

# Values that differ by less, relative to their size, are equal: that much comes of rounding in sums.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over `n` seeds and the half-width of its 95 % t interval.

    `mean` is None when no seed has a value; `half_width` is None when nothing varies or n < 2.
    """

    mean: float | None
    half_width: float | None
    n: int

    def scaled(self, factor: float) -> Measure:
        """The same in another unit."""
        if factor == 1 or self.mean is None:
            return self
        half_width = None if self.half_width is None else abs(factor) * self.half_width
        return Measure(factor * self.mean, half_width, self.n)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the 95 % interval."""
        if self.mean is None or self.half_width is None:
            return None
        return self.mean - self.half_width, self.mean + self.half_width

    def to_json(self) -> dict[str, Any]:
        """The form that every JSON document of cwndlab uses."""
        ends = self.interval
        return {"mean": self.mean, "ci95": None if ends is None else list(ends), "n": self.n}


@dataclass(frozen=True, slots=True)
class Component:
    """A flow, a group or a link: what it is, and what was measured of it."""

    name: str
    cc: str | None
    degraded: bool
    measures: dict[str, Measure]
    subflows: list[Component] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Identity first, then each measure by its name with unit."""
        result: dict[str, Any] = {"name": self.name}
        if self.cc is not None:
            result["cc"] = self.cc
        if self.degraded:
            result["degraded"] = True
        result |= {name: measure.to_json() for name, measure in self.measures.items()}
        if self.subflows:
            result["subflows"] = [subflow.to_json() for subflow in self.subflows]
        return result


@dataclass(frozen=True, slots=True)
class Summary:
    """All components of a scenario, over its seeds.

    `changes` are the later steps of links. The indices have no value with fewer than two flows.
    """

    flows: list[Component]
    groups: list[Component]
    links: list[Component]
    changes: list[Component]
    jain: Measure
    jain_over_time: Measure

    def to_json(self) -> dict[str, Any]:
        """The form that every JSON document of cwndlab uses."""
        return {
            "flows": [flow.to_json() for flow in self.flows],
            "groups": [group.to_json() for group in self.groups],
            "links": [link.to_json() for link in self.links],
            "changes": [change.to_json() for change in self.changes],
            "jain": self.jain.to_json(),
            "jain_over_time": self.jain_over_time.to_json(),
        }

    @property
    def deterministic(self) -> bool:
        """Whether several seeds gave the same values throughout."""
        return all(measure.half_width is None for measure in self._measures())

    def _measures(self) -> Iterator[Measure]:
        yield from (self.jain, self.jain_over_time)
        for component in [*self.flows, *self.groups, *self.links, *self.changes]:
            yield from component.measures.values()


def measure(values: Iterable[float | None]) -> Measure:
    """Summarise the values of one quantity, one per seed; a missing or non-finite one is left out."""
    present = [float(value) for value in values if value is not None and math.isfinite(value)]
    n = len(present)
    if n == 0:
        return Measure(None, None, 0)
    if math.isclose(min(present), max(present), rel_tol=ROUNDING):
        return Measure(present[0], None, n)
    mean = math.fsum(present) / n
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in present) / (n - 1))
    return Measure(mean, _t_quantile(n - 1) * deviation / math.sqrt(n), n)


def paired_difference(these: Sequence[float | None], those: Sequence[float | None]) -> Measure:
    """Summarise what these values have over those, seed by seed; a pair that lacks one is left out."""
    pairs = zip(these, those, strict=True)
    return measure(None if this is None or that is None else _difference(this, that) for this, that in pairs)


def _difference(this: float, that: float) -> float:
    return 0.0 if math.isclose(this, that, rel_tol=ROUNDING) else this - that


def summarise(outcomes: Sequence[Mapping[str, Any]]) -> Summary:
    """Summarise the outcomes of one scenario, one per seed."""
    return Summary(
        flows=_components(outcomes, "flows"),
        groups=_components(outcomes, "groups"),
        links=_components(outcomes, "links"),
        changes=_components(outcomes, "changes"),
        jain=measure(outcome.get("jain") for outcome in outcomes),
        jain_over_time=measure(outcome.get("jain_over_time") for outcome in outcomes),
    )


def mean_of_flows(outcomes: Sequence[Mapping[str, Any]], cc: str, name: str) -> Component:
    """The average flow of one algorithm: mean over its flows in each seed, then over the seeds."""
    averages = [
        _average([flow for flow in outcome["flows"] if flow["cc"] == cc], name) for outcome in outcomes
    ]
    return _component(averages)


def _t_quantile(degrees: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2))


def _components(outcomes: Sequence[Mapping[str, Any]], kind: str) -> list[Component]:
    # The components of a scenario are the same for every seed, and in the same order.
    rows = zip(*(outcome.get(kind) or [] for outcome in outcomes), strict=True)
    return [_component(row) for row in rows]


def _component(seeds: Sequence[Mapping[str, Any]]) -> Component:
    first = seeds[0]
    return Component(
        name=first["name"],
        cc=first.get("cc"),
        degraded=any(seed.get("degraded") for seed in seeds),
        measures={key: measure(seed.get(key) for seed in seeds) for key in first if is_measure(first, key)},
        subflows=_components(seeds, "subflows"),
    )


def components(outcome: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """The components of one kind in the outcome of a seed; subflows are those of all flows."""
    if kind == "subflow":
        return [subflow for flow in outcome["flows"] for subflow in flow.get("subflows") or []]
    return outcome.get(f"{kind}s") or []


def is_measure(component: Mapping[str, Any], key: str) -> bool:
    """Whether a key of an outcome is a measured quantity, not part of the component's identity."""
    return not isinstance(component[key], bool | str | list | dict)


def _average(flows: list[Mapping[str, Any]], name: str) -> dict[str, Any]:
    first = flows[0]
    average: dict[str, Any] = {
        key: measure(flow.get(key) for flow in flows).mean for key in first if is_measure(first, key)
    }
    degraded = any(flow.get("degraded") for flow in flows)
    return {"name": name, "cc": first["cc"], "degraded": degraded, **average}
