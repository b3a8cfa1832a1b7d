"""Variants of a scenario for a comparison: some of its flows run each algorithm in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.grid import names_by_place
from cwndlab.scenarios.overwritten import require_set_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True)
class Contest:
    """The plan of a comparison: the algorithms, and the flows that run them.

    `alone` is the scenario without those flows, or None if no flow would be left.
    """

    scenario: Scenario
    algorithms: tuple[str, ...]
    flows: tuple[str, ...]
    variants: tuple[Scenario, ...]
    alone: Scenario | None

    @property
    def scenarios(self) -> list[Scenario]:
        """All scenarios to run."""
        return [*self.variants, *([self.alone] if self.alone is not None else [])]


def contest(scenario: Scenario, algorithms: Sequence[str], flows: Sequence[str] = ()) -> Contest:
    """Plan a comparison. `flows` (names, or positions from 0) run the algorithms; by default, all flows do.

    Raises `InputError` for fewer than two algorithms, a repeated one, an unknown flow or an override that the
    algorithms replace, and `ScenarioError` for the first algorithm with which the scenario cannot run.
    """
    _check_names(algorithms)
    named = scenario.overridden(*names_by_place(scenario))
    chosen = _chosen(named, flows)
    variants = tuple(
        named.overridden(*((f"flow.{index}.cc", cc) for index in chosen), option=f"--cc {cc}")
        for cc in algorithms
    )
    for variant in variants:
        variant.validate()
    require_set_once(scenario, named, variants)
    others = len(named.resolved["flow"]) - len(chosen)
    alone = named.overridden(*((f"flow.{index}.enabled", "false") for index in chosen)) if others else None
    return Contest(scenario, tuple(algorithms), tuple(flows), variants, alone)


def as_choices(algorithms: Sequence[str], flows: Sequence[str]) -> tuple[str, list[str]]:
    """Return the axis of a sweep over these algorithms: its key, or keys joined by `+`, and its values.

    Raises `InputError` for fewer than two algorithms or a repeated one.
    """
    _check_names(algorithms)
    keys = [f"flow.{flow}.cc" for flow in flows] or ["flow.*.cc"]
    return "+".join(keys), ["+".join([name] * len(keys)) for name in algorithms]


def _check_names(algorithms: Sequence[str]) -> None:
    if len(algorithms) < 2 or len(set(algorithms)) < len(algorithms):
        raise InputError(f"compare {','.join(algorithms)}: expected two or more different algorithms")


def _chosen(scenario: Scenario, flows: Sequence[str]) -> list[int]:
    """Return the positions of the flows with these names or numbers, or of all flows if none is given."""
    names = [flow["names"] for flow in scenario.resolved["flow"]]
    if not flows:
        return list(range(len(names)))
    return list(dict.fromkeys(_place(flow, names) for flow in flows))


def _place(flow: str, names: Sequence[Sequence[str]]) -> int:
    for index, known in enumerate(names):
        if flow in known or flow == known[0].rpartition("-")[0] != "":
            return index
    if flow.isdecimal() and int(flow) < len(names):
        return int(flow)
    known = ", ".join(name for group in names for name in group[:8])
    raise InputError(f"--flow {flow}: no such flow; expected one of: {known}")
