"""The cells of a paper: each experiment with each of its variants, as a scenario that can be run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cwndlab import catalogue
from cwndlab.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from cwndlab.papers.paper import Alternative, Experiment, Paper, Variant

# `--quick` cuts longer runs.
QUICK_S = 60


@dataclass(frozen=True)
class Cell:
    """One experiment with one variant; `missing` is the reason why it cannot be run.

    `is_cut` says that `--quick` made it shorter than the paper's.
    """

    experiment: Experiment
    variant: Variant
    scenario: Scenario | None
    missing: str | None = None
    is_cut: bool = False

    @property
    def key(self) -> str:
        """How expressions name it from other experiments."""
        return f"{self.experiment.id}/{self.variant.label}"

    @property
    def marks(self) -> list[str]:
        """What a reader must know of the variant wherever it is shown."""
        marks = ["control"] * self.variant.control
        return [*marks, f"fitted: {self.variant.fitted}"] if self.variant.fitted else marks

    @property
    def title(self) -> str:
        """The variant's label with its marks, and that it was cut."""
        marks = [*self.marks, *[f"cut to {QUICK_S} s"] * self.is_cut]
        return f"{self.variant.label} ({', '.join(marks)})" if marks else self.variant.label


def cells(
    paper: Paper,
    alternative: Alternative | None = None,
    *,
    quick: bool = False,
    only: Container[str] | None = None,
) -> dict[str, Cell]:
    """Every cell of a paper by its key, or `only` some, under its defaults or an alternative.

    A cell that is left out may have settings that the alternative does not suit.

    Raises `ScenarioError` if a scenario of the paper has a mistake.
    """
    made = (
        _cell(experiment, variant, _changes(alternative, experiment, variant), quick=quick)
        for experiment in paper.experiments
        for variant in experiment.variants
        if only is None or f"{experiment.id}/{variant.label}" in only
    )
    return {cell.key: cell for cell in made}


def _changes(alternative: Alternative | None, experiment: Experiment, variant: Variant) -> Mapping[str, str]:
    """What an alternative changes in a cell."""
    if alternative is None or (alternative.only and experiment.id not in alternative.only):
        return {}
    if not alternative.algorithms:
        return alternative.set
    users = [
        key
        for key, value in {**experiment.set, **variant.set}.items()
        if key.split(".")[-1] == "cc" and _algorithm(value) in alternative.algorithms
    ]
    return {f"{user}.{name}": value for user in users for name, value in alternative.set.items()}


def _cell(experiment: Experiment, variant: Variant, settings: Mapping[str, str], *, quick: bool) -> Cell:
    overrides = {**experiment.set, **variant.set, **settings}
    missing = experiment.unavailable or next(_unknown_algorithms(overrides), None)
    if missing is not None:
        return Cell(experiment, variant, None, missing)
    scenario = load(experiment.scenario, overrides.items())
    scenario.validate()
    if quick and scenario.duration_s > QUICK_S:
        shorter = scenario.overridden(("duration", f"{QUICK_S} s"))
        shorter.validate()
        return Cell(experiment, variant, shorter, is_cut=True)
    return Cell(experiment, variant, scenario)


def _unknown_algorithms(overrides: Mapping[str, str]) -> Iterator[str]:
    for key, value in overrides.items():
        # `uncoupled:cubic` runs `cubic`.
        name = _algorithm(value).removeprefix(catalogue.UNCOUPLED) if key.split(".")[-1] == "cc" else None
        if name is not None and name not in _algorithms():
            yield f"needs the algorithm {name}, which is not there yet"


def _algorithm(value: str) -> str:
    """The name in `cubic` or `{ name = "cubic", C = 1.2 }`."""
    try:
        read = tomllib.loads(f"cc = {value}")["cc"]
    except tomllib.TOMLDecodeError:
        return value
    return str(read["name"] if isinstance(read, dict) else read)


@cache
def _algorithms() -> frozenset[str]:
    return frozenset(entry["name"] for entry in catalogue.read()["algorithms"])
