"""The components of a scenario, each measure summarised over the seeds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.statistics.measure import Measure, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Component:
    """A flow, a group or a link, with its measures."""

    name: str
    cc: str | None
    degraded: bool
    measures: dict[str, Measure]
    subflows: list[Component] = field(default_factory=list)

    def widened(self, looks: int) -> Component:
        """Return it with intervals that hold after so many looks at the seeds."""
        if looks == 1:
            return self
        measures = {key: each.widened(looks) for key, each in self.measures.items()}
        return replace(self, measures=measures, subflows=[each.widened(looks) for each in self.subflows])

    def to_json(self) -> dict[str, Any]:
        """Return the identity first, then each measure by its name with unit."""
        result: dict[str, Any] = {"name": self.name}
        if self.cc is not None:
            result["cc"] = self.cc
        if self.degraded:
            result["degraded"] = True
        result |= {name: measure.to_json() for name, measure in self.measures.items()}
        if self.subflows:
            result["subflows"] = [subflow.to_json() for subflow in self.subflows]
        return result


@dataclass(frozen=True)
class Summary:
    """All components of a scenario, summarised over its seeds on first use.

    `changes` are the later steps of links. The indices have no value with fewer than two flows.
    """

    outcomes: Sequence[Mapping[str, Any]]

    @cached_property
    def flows(self) -> list[Component]:
        """The flows, each with its subflows."""
        return _components(self.outcomes, "flows")

    @cached_property
    def groups(self) -> list[Component]:
        """The arrival processes."""
        return _components(self.outcomes, "groups")

    @cached_property
    def links(self) -> list[Component]:
        """The links."""
        return _components(self.outcomes, "links")

    @cached_property
    def changes(self) -> list[Component]:
        """The later steps of links."""
        return _components(self.outcomes, "changes")

    @cached_property
    def jain(self) -> Measure:
        """Jain's index of the goodputs."""
        return measure(outcome.get("jain") for outcome in self.outcomes)

    @cached_property
    def jain_over_time(self) -> Measure:
        """The mean of Jain's index in windows of 1 s."""
        return measure(outcome.get("jain_over_time") for outcome in self.outcomes)

    @property
    def flow_count(self) -> int:
        """The number of flows, counted without summarising any."""
        return len(self._first("flows"))

    @property
    def senders(self) -> int:
        """The number of flows and subflows."""
        return sum(1 + len(flow.get("subflows") or []) for flow in self._first("flows"))

    @property
    def connections(self) -> int:
        """The number of flows with subflows."""
        return sum(bool(flow.get("subflows")) for flow in self._first("flows"))

    @property
    def degraded(self) -> bool:
        """Whether the transport does not support everything that the algorithm of some flow needs."""
        return any(flow.get("degraded") for outcome in self.outcomes for flow in outcome["flows"])

    @cached_property
    def deterministic(self) -> bool:
        """Whether all seeds gave the same values."""
        return len(self.outcomes) < 2 or all(each.half_width is None for each in self._measures())

    def _first(self, kind: str) -> list[dict[str, Any]]:
        return (self.outcomes[0].get(kind) or []) if self.outcomes else []

    def _measures(self) -> Iterator[Measure]:
        """Yield the few measures first: they usually vary, so the many flows need not be summarised."""
        yield from (self.jain, self.jain_over_time)
        for few in ([*self.links, *self.groups, *self.changes], _each(self.outcomes, "flows")):
            for each in few:
                yield from each.measures.values()


def summarise(outcomes: Sequence[Mapping[str, Any]]) -> Summary:
    """Summarise the outcomes of one scenario, one per seed."""
    return Summary(outcomes)


def _components(outcomes: Sequence[Mapping[str, Any]], kind: str) -> list[Component]:
    return list(_each(outcomes, kind))


def _each(outcomes: Sequence[Mapping[str, Any]], kind: str) -> Iterator[Component]:
    # The components of a scenario are the same for every seed, and in the same order.
    rows = zip(*(outcome.get(kind) or [] for outcome in outcomes), strict=True)
    return map(component, rows)


def component(seeds: Sequence[Mapping[str, Any]]) -> Component:
    """Summarise one flow, group or link from its outcomes, one per seed."""
    first = seeds[0]
    return Component(
        name=first["name"],
        cc=first.get("cc"),
        degraded=any(seed.get("degraded") for seed in seeds),
        measures={key: measure(seed.get(key) for seed in seeds) for key in first if is_measure(first, key)},
        subflows=_components(seeds, "subflows"),
    )


def components(outcome: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return the components of one kind in the outcome of a seed. Subflows are those of all flows."""
    if kind == "subflow":
        return [subflow for flow in outcome["flows"] for subflow in flow.get("subflows") or []]
    return outcome.get(f"{kind}s") or []


def is_measure(component: Mapping[str, Any], key: str) -> bool:
    """Whether a key of an outcome is a measure, and not part of the component's identity."""
    return not isinstance(component[key], bool | str | list | dict)


def is_of_a_flow(link: str) -> bool:
    """Whether a link is the access link of a flow, or its return link. Every flow may have one."""
    return link.endswith((".access", ".access.back"))
