"""The choices of a sweep over its conditions: means, worst cases and ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.results.totals import MORE_IS_BETTER
from cwndlab.statistics.measure import Measure, measure
from cwndlab.statistics.spread import Spread, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    # The totals of a choice in one condition, each a mean over the seeds.
    Totals = Mapping[str, Measure]
    # Its totals with each seed.
    Rows = Mapping[int, Mapping[str, float | None]]

# Means whose relative difference is smaller have the same rank.
EQUAL = 1e-9


@dataclass(frozen=True)
class OverConditions:
    """A choice over all conditions in which it has results.

    `settings` are the values of the choice. `rows` holds its totals by condition and seed, and `totals` their
    means over the seeds.
    `ranks` holds its place among the choices by condition and total; 1 is the best, and choices with equal
    means share the mean of their places. `firsts` counts the conditions in which no other choice is better.
    """

    label: str
    settings: Mapping[str, str]
    rows: Mapping[str, Rows]
    totals: Mapping[str, Totals]
    ranks: Mapping[str, Mapping[str, float]]
    firsts: Mapping[str, int]

    @property
    def keys(self) -> list[str]:
        """The totals."""
        return list(next(iter(self.totals.values()), {}))

    @cached_property
    def by_seed(self) -> dict[int, dict[str, float | None]]:
        """The mean of each total over the conditions, with each seed that all conditions have."""
        return {
            seed: {key: spread(rows[seed].get(key) for rows in self.rows.values()).mean for key in self.keys}
            for seed in _shared_seeds(self.rows.values())
        }

    def mean(self, key: str) -> Spread:
        """Return the mean of a total over the conditions, and its range. `n` is the number of conditions."""
        return spread(totals[key].mean for totals in self.totals.values())

    def mean_over_seeds(self, key: str) -> Measure:
        """Return the mean of a total over these conditions; `n` and the interval are over the seeds.

        Conditions are not drawn at random, so the interval is that of the mean over just these.
        """
        return measure(row[key] for row in self.by_seed.values())

    def rank(self, key: str) -> Spread:
        """Return the mean rank by a total over the conditions, and its range."""
        return spread(ranks[key] for ranks in self.ranks.values() if key in ranks)

    def beside(self, other: OverConditions, key: str) -> Measure:
        """Return the difference of a total from that of another choice, as a share of it.

        The mean is over the conditions, paired by seed; `n` and the interval are over the seeds. Shares count
        a slow link as much as a fast one. A condition in which the other has 0 is left out.
        """
        scales = {
            name: of_other[key].mean
            for name, of_other in other.totals.items()
            if name in self.totals and of_other[key].mean
        }
        seeds = _shared_seeds(of.rows[name] for of in (self, other) for name in scales)
        return measure(
            spread(
                None if this is None or that is None or scale is None else (this - that) / scale
                for name, scale in scales.items()
                for this, that in [(self.rows[name][seed].get(key), other.rows[name][seed].get(key))]
            ).mean
            for seed in seeds
        )

    def worst(self, key: str) -> tuple[str, Measure] | None:
        """Return the condition with the worst mean of a total, and this mean with its interval over seeds."""
        known = {label: totals[key] for label, totals in self.totals.items() if totals[key].mean is not None}
        pick = min if key in MORE_IS_BETTER else max
        label = pick(known, key=lambda each: known[each].mean or 0.0, default=None)
        return None if label is None else (label, known[label])

    def to_json(self, best: Mapping[str, OverConditions]) -> dict[str, Any]:
        """Return the choice as in the document of `sweep`. `best` has the best choice on average by total."""
        return {
            "label": self.label,
            "mean": {key: self.mean(key).to_json() for key in self.keys},
            "from_best": {key: self.beside(best[key], key).to_json() for key in self.keys if key in best},
            "worst": {key: self._worst_to_json(key) for key in self.keys},
            "rank": {key: self.rank(key).to_json() for key in self.keys},
            "best_in": {key: self.firsts.get(key, 0) for key in self.keys},
        }

    def _worst_to_json(self, key: str) -> dict[str, Any]:
        label, value = self.worst(key) or (None, Measure(None, None, 0))
        return {"condition": label, **value.to_json()}


def over_conditions(
    choices: Mapping[str, Mapping[str, str]], rows: Mapping[str, Mapping[str, Rows]]
) -> list[OverConditions]:
    """Return each choice over the conditions.

    `choices` maps the label of each choice to its settings; `rows` holds, by condition and then by the
    label of a choice, its totals with each seed. A choice without results in a condition is missing there.
    """
    totals = {
        condition: {label: _means(known) for label, known in of_choice.items()}
        for condition, of_choice in rows.items()
    }
    places = {condition: _places(of_choice) for condition, of_choice in totals.items()}
    return [
        OverConditions(
            label,
            settings,
            {condition: of_choice[label] for condition, of_choice in rows.items() if label in of_choice},
            {condition: of_choice[label] for condition, of_choice in totals.items() if label in of_choice},
            {
                condition: {key: rank for key, (rank, _) in of_choice[label].items()}
                for condition, of_choice in places.items()
                if label in of_choice
            },
            _firsts([of_choice[label] for of_choice in places.values() if label in of_choice]),
        )
        for label, settings in choices.items()
    ]


def _means(rows: Rows) -> dict[str, Measure]:
    keys = next(iter(rows.values()), {})
    return {key: measure(row[key] for row in rows.values()) for key in keys}


def _shared_seeds(rows: Iterable[Rows]) -> list[int]:
    """Return the seeds that all of these have, in their order."""
    first, *others = [*rows] or [{}]
    return [seed for seed in first if all(seed in each for each in others)]


def best_on_average(choices: Sequence[OverConditions], key: str) -> OverConditions | None:
    """Return the choice with the best mean over the conditions, among those with the most conditions."""
    sign = 1 if key in MORE_IS_BETTER else -1
    means = [(each, each.mean(key)) for each in choices]
    known = [(mean.n, sign * mean.mean, each) for each, mean in means if mean.mean is not None]
    return max(known, key=lambda each: each[:2])[2] if known else None


def _places(totals: Mapping[str, Totals]) -> dict[str, dict[str, tuple[float, bool]]]:
    """Return by choice and total its rank in one condition, and whether no other choice is better."""
    found: dict[str, dict[str, tuple[float, bool]]] = {label: {} for label in totals}
    for key in dict.fromkeys(key for each in totals.values() for key in each):
        sign = -1 if key in MORE_IS_BETTER else 1
        known = {label: each[key].mean for label, each in totals.items() if key in each}
        costs = {label: sign * mean for label, mean in known.items() if mean is not None}
        for label, cost in costs.items():
            found[label][key] = _place(cost, list(costs.values()))
    return found


def _place(cost: float, costs: Sequence[float]) -> tuple[float, bool]:
    equal = sum(math.isclose(each, cost, rel_tol=EQUAL, abs_tol=EQUAL) for each in costs)
    better = sum(each < cost and not math.isclose(each, cost, rel_tol=EQUAL, abs_tol=EQUAL) for each in costs)
    return better + (equal + 1) / 2, better == 0


def _firsts(places: Sequence[Mapping[str, tuple[float, bool]]]) -> dict[str, int]:
    keys = dict.fromkeys(key for each in places for key in each)
    return {key: sum(each[key][1] for each in places if key in each) for key in keys}
