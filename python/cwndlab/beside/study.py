"""A study on both backends: the study of each, and the differences of every variant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cwndlab.beside.both import COUNTERPARTS, SCHEMA, Both, on_both
from cwndlab.linux.backend import engine_of
from cwndlab.scenarios.contest import Contest, contest
from cwndlab.scenarios.grid import Point, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.results.result import Result, Study
    from cwndlab.scenarios.axis import Axis
    from cwndlab.scenarios.design import Plan
    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True)
class StudyOnBoth:
    """A study in the simulator and in Linux, and each of its variants on both, with its label."""

    sim: Study
    linux: Study
    variants: Sequence[tuple[str, Both]]

    def to_json(self) -> dict[str, Any]:
        """Return the document: the differences with their variant, and the documents of the two studies."""
        return {
            "schema": SCHEMA,
            "differences": [
                {"variant": label, **each.to_json()}
                for label, both in self.variants
                for each in both.differences
            ],
            "sim": self.sim.to_json(),
            "linux": self.linux.to_json(),
        }


@dataclass(frozen=True)
class Pairs:
    """The scenarios of a study for both backends: those of the simulator and of Linux in turn."""

    sim: tuple[Scenario, ...]
    linux: tuple[Scenario, ...]

    @classmethod
    def of(cls, scenarios: Sequence[Scenario]) -> Pairs:
        """Return the pairs of scenarios that name the kernel's algorithms. Raises what `on_both` raises."""
        sim, linux = zip(*(on_both(scenario) for scenario in scenarios), strict=True)
        return cls(sim, linux)

    @property
    def all(self) -> list[Scenario]:
        """Both scenarios of each pair, one pair after the other."""
        return [each for pair in zip(self.sim, self.linux, strict=True) for each in pair]


def parted(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the results of `Pairs.all` by backend."""
    return list(results[::2]), list(results[1::2])


def contests(scenario: Scenario, algorithms: Sequence[str], flows: Sequence[str]) -> tuple[Contest, Contest]:
    """Plan a comparison on both backends, with ours in the simulator for the kernel's algorithms.

    Raises what `contest` and `on_both` raise.
    """
    linux = contest(_in_linux(scenario), algorithms, flows)
    base, *variants = Pairs.of([_back(each, scenario) for each in (linux.scenario, *linux.scenarios)]).sim
    alone = variants.pop() if linux.alone is not None else None
    ours = tuple(COUNTERPARTS.get(name, name) for name in linux.algorithms)
    return Contest(base, ours, linux.flows, tuple(variants), alone), linux


def points_on_both(
    scenario: Scenario, plan: Plan, across: Sequence[Axis] = ()
) -> tuple[list[Point], list[Point]]:
    """Return the points of a sweep on both backends. Raises what `points` and `on_both` raise."""
    linux = points(_in_linux(scenario), plan, across)
    pairs = Pairs.of([_back(point.scenario, scenario) for point in linux])
    sim = [Point(point.settings, ours) for point, ours in zip(linux, pairs.sim, strict=True)]
    return sim, linux


def _in_linux(scenario: Scenario) -> Scenario:
    return replace(scenario, engine=engine_of("linux", scenario.engine))


def _back(in_linux: Scenario, scenario: Scenario) -> Scenario:
    return replace(in_linux, engine=scenario.engine)
