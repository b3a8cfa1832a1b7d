"""The cells of a paper: each experiment with each of its variants, as a scenario."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cwndlab.engine import Engine, catalogue, in_use
from cwndlab.errors import InputError
from cwndlab.papers.language.place import Mistake, PaperError, Place
from cwndlab.scenarios.scenario import Scenario, ScenarioError, load

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from cwndlab.papers.contents.paper import Alternative, Experiment, Paper, Variant

# `--quick` cuts runs that are longer and would carry more packets. A cut run measures something else, so runs
# of up to some seconds of CPU time are not cut.
QUICK_S = 60
QUICK_PACKETS = 5e6


@dataclass(frozen=True)
class Cell:
    """One experiment with one variant. `missing` is the reason why it cannot be run.

    `is_cut` is set if `--quick` made it shorter than the paper's experiment.
    """

    experiment: Experiment
    variant: Variant
    scenario: Scenario | None
    missing: str | None = None
    is_cut: bool = False

    @property
    def key(self) -> str:
        """The name of the cell in expressions of other experiments."""
        return f"{self.experiment.id}/{self.variant.label}"

    @property
    def marks(self) -> list[str]:
        """The notes that accompany the variant wherever it is shown."""
        marks = ["control"] * self.variant.control
        return [*marks, f"fitted: {self.variant.fitted}"] if self.variant.fitted else marks

    @property
    def title(self) -> str:
        """The variant's label with its marks, and whether it was cut."""
        marks = [*self.marks, *[f"cut to {QUICK_S} s"] * self.is_cut]
        return f"{self.variant.label} ({', '.join(marks)})" if marks else self.variant.label


def cells(
    paper: Paper,
    alternatives: Sequence[Alternative] = (),
    *,
    quick: bool = False,
    only: Container[str] | None = None,
) -> dict[str, Cell]:
    """Return the cells of a paper by their keys, under its defaults or with some alternatives.

    `only` selects some cells: an alternative may not fit the settings of the others.

    Raises `PaperError` if scenarios of the paper have mistakes.
    """
    mistakes: list[Mistake] = []
    made = known_cells(paper, alternatives, mistakes, quick=quick, only=only)
    if mistakes:
        raise PaperError(mistakes)
    return made


def known_cells(
    paper: Paper,
    alternatives: Sequence[Alternative],
    mistakes: list[Mistake],
    *,
    quick: bool = False,
    only: Container[str] | None = None,
) -> dict[str, Cell]:
    """Return the cells and add mistakes to a list. A cell with a mistake in its scenario cannot be run."""
    found = {}
    for experiment in paper.experiments:
        for variant in experiment.variants:
            if only is not None and f"{experiment.id}/{variant.label}" not in only:
                continue
            try:
                cell = _cell(
                    experiment, variant, _all_changes(alternatives, experiment, variant), quick=quick
                )
            except InputError as error:
                source = alternatives[-1].source if alternatives else variant.source
                mistakes += _scenario_mistakes(error, source)
                cell = Cell(experiment, variant, None, "its scenario has a mistake")
            found[cell.key] = cell
    return found


def _scenario_mistakes(error: InputError, source: Place) -> Iterator[Mistake]:
    """Return the mistakes of a scenario with their lines, or with the place where the paper sets the key."""
    if not isinstance(error, ScenarioError):
        yield Mistake(source, str(error))
        return
    for problem in error.problems:
        if problem.is_error and problem.line:
            yield Mistake(Place(error.scenario.file, problem.line, problem.key), problem.message)
        elif problem.is_error:
            yield Mistake(source.inside(f"set: {problem.key}"), problem.message)


def _all_changes(
    alternatives: Sequence[Alternative], experiment: Experiment, variant: Variant
) -> dict[str, str]:
    """Return the settings that alternatives change in a cell. Of two for one key, the later one counts."""
    changes: dict[str, str] = {}
    for each in alternatives:
        changes |= _changes(each, experiment, variant)
    return changes


def conflict(paper: Paper, one: Alternative, other: Alternative) -> bool:
    """Whether two alternatives give one key of some cell different values."""
    for experiment in paper.experiments:
        for variant in experiment.variants:
            first = _changes(one, experiment, variant)
            second = _changes(other, experiment, variant)
            if any(first[key] != second[key] for key in first.keys() & second.keys()):
                return True
    return False


def _changes(alternative: Alternative, experiment: Experiment, variant: Variant) -> Mapping[str, str]:
    """Return the settings that an alternative changes in a cell."""
    if alternative.each:
        return alternative.each.get(experiment.id, {})
    if alternative.only and experiment.id not in alternative.only:
        return {}
    if not alternative.algorithms:
        return alternative.set
    users = [key for key, name in _users(_settings(experiment, variant)) if name in alternative.algorithms]
    return {f"{user}.{name}": value for user in users for name, value in alternative.set.items()}


def algorithms(cell: Cell) -> list[str]:
    """Return the algorithms that the paper sets in a cell."""
    return [name for _, name in _users(_settings(cell.experiment, cell.variant))]


def _settings(experiment: Experiment, variant: Variant) -> dict[str, str]:
    return {**experiment.set, **variant.set}


def _cell(experiment: Experiment, variant: Variant, settings: Mapping[str, str], *, quick: bool) -> Cell:
    overrides = {**_settings(experiment, variant), **settings}
    missing = experiment.unavailable or next(_unknown_algorithms(overrides), None)
    if missing is not None:
        return Cell(experiment, variant, None, missing)
    scenario = load(experiment.scenario, overrides.items())
    scenario.validate()
    if quick and scenario.duration_s > QUICK_S and scenario.packets_expected > QUICK_PACKETS:
        shorter = scenario.overridden(("duration", f"{QUICK_S} s"))
        shorter.validate()
        return Cell(experiment, variant, shorter, is_cut=True)
    return Cell(experiment, variant, scenario)


def _unknown_algorithms(overrides: Mapping[str, str]) -> Iterator[str]:
    for _, name in _users(overrides):
        # `uncoupled:cubic` runs `cubic`.
        if name.removeprefix(catalogue.UNCOUPLED) not in _algorithms(in_use()):
            yield f"needs the algorithm {name.removeprefix(catalogue.UNCOUPLED)}, which is not implemented"


def _users(overrides: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return the keys that set an algorithm, with its name."""
    for key, value in overrides.items():
        name = _algorithm(value) if key.split(".")[-1] == "cc" else None
        if name is not None:
            yield key, name


def _algorithm(value: str) -> str | None:
    """Return the name in `cubic` or `{ name = "cubic", C = 1.2 }`, or None if a table has no name."""
    try:
        read = tomllib.loads(f"cc = {value}")["cc"]
    except tomllib.TOMLDecodeError:
        return value
    name = read.get("name") if isinstance(read, dict) else read
    return None if name is None else str(name)


@cache
def _algorithms(engine: Engine) -> frozenset[str]:
    return frozenset(entry["name"] for entry in engine.read_catalogue()["algorithms"])
