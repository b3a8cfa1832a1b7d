"""One subject (all flows, a flow, a group, a link) in several results, by seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.results.summary import components, is_measure
from cwndlab.results.totals import total
from cwndlab.statistics.measure import Measure, measure, paired_difference, unpaired_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cwndlab.results.seed_run import SeedRun

    Outcome = Mapping[str, Any]
    Values = Mapping[str, float | None]

KINDS = ("flow", "subflow", "group", "link")


@dataclass(frozen=True)
class Compared:
    """One subject in several results, the first of which is the baseline.

    `rows` holds its values by result, then by seed. The results have the same seeds if they are `paired`.
    """

    kind: str
    name: str
    rows: list[list[Values]]
    paired: bool = True

    @cached_property
    def means(self) -> list[dict[str, Measure]]:
        """The mean of each measure in each result."""
        return [{key: measure(seed.get(key) for seed in seeds) for key in self._keys} for seeds in self.rows]

    @cached_property
    def differences(self) -> list[dict[str, Measure]]:
        """The difference of each other result from the first, paired by seed where they share the seeds."""
        base, *others = self.rows
        difference = paired_difference if self.paired else unpaired_difference
        return [
            {
                key: difference([seed.get(key) for seed in seeds], [seed.get(key) for seed in base])
                for key in self._keys
            }
            for seeds in others
        ]

    @property
    def _keys(self) -> list[str]:
        return [key for key in next((seeds[0] for seeds in self.rows if seeds), {}) if key != "start_s"]


def total_table(results: Sequence[Sequence[SeedRun]], link: str | None, *, paired: bool = True) -> Compared:
    """Return all flows together, with the queue of `link`, in the runs of each result."""
    rows: list[list[Values]] = [[total(run.outcome, link) for run in runs] for runs in results]
    return Compared("total", "all", rows, paired)


def tables_of(kind: str, results: Sequence[Sequence[SeedRun]], *, paired: bool = True) -> Iterator[Compared]:
    """Yield each component of a kind that the runs of all results have."""
    found = [[by_name(run, kind) for run in runs] for runs in results]
    for name in next((seeds[0] for seeds in found if seeds), {}):
        if all(name in seed for seeds in found for seed in seeds):
            rows = [[_measures(seed[name]) for seed in seeds] for seeds in found]
            yield Compared(kind, name, rows, paired)


def by_name(run: SeedRun, kind: str) -> dict[str, Outcome]:
    """Return the components of one kind by their names."""
    return {component["name"]: component for component in components(run.outcome, kind)}


def _measures(component: Outcome) -> Values:
    return {key: value for key, value in component.items() if is_measure(component, key)}
