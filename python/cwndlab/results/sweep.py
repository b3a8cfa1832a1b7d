"""A scenario over a grid of its keys, under one or more conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.conditions import best_on_average, over_conditions
from cwndlab.results.document import measured
from cwndlab.results.progress import progress
from cwndlab.results.result import Study
from cwndlab.results.sensitivity import of_keys
from cwndlab.results.totals import busiest_link, total, total_of, tradeoff
from cwndlab.results.wanted import NOTHING_WANTED, Wanted
from cwndlab.scenarios.axis import Axis
from cwndlab.scenarios.design import GRID, Design
from cwndlab.statistics.pareto import front

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import polars as pl
    import xarray

    from cwndlab.results.conditions import OverConditions
    from cwndlab.results.progress import Progress
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.sensitivity import KeyIndices
    from cwndlab.results.summary import Component
    from cwndlab.results.until import Until
    from cwndlab.scenarios.design import Plan
    from cwndlab.scenarios.grid import Point
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.measure import Measure
    from cwndlab.statistics.pareto import Point as Tradeoff


@dataclass(frozen=True, repr=False)
class Sweep(Study):
    """The results of each combination of the axes' values, in the order of the grid, or of other points.

    The user chooses the values of `axes`. Those of `across` are conditions, which nobody chooses: all points
    of one condition stand together. A combination without any finished seed is left out. The totals report
    the queue of `link`. `design` says how the points were chosen, `until` when seeds were no longer added.
    """

    kind = "sweep"

    axes: Sequence[Axis]
    points: Sequence[tuple[Settings, Result]]
    link: str | None
    wanted: Wanted = NOTHING_WANTED
    across: Sequence[Axis] = ()
    design: Design = GRID
    until: Until | None = None
    # Points without any finished run are in it, but not among `points`.
    done: Progress | None = None

    @property
    def progress(self) -> Progress | None:
        """How much was done of what was asked for; None if that is not known."""
        return self.done

    @property
    def variants(self) -> Sequence[tuple[Settings, Result]]:
        """The points."""
        return self.points

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished at any point."""
        return sorted({seed for _, result in self.points for seed in result.seeds})

    @property
    def seeds_asked(self) -> list[int]:
        """The seeds that its command names: with `until`, all that a point may use."""
        return self.seeds if self.until is None else list(self.until.seeds)

    @property
    def until_text(self) -> str | None:
        """How precise a total was to become, if seeds were added until then."""
        return None if self.until is None else self.until.text

    @property
    def condition_keys(self) -> list[str]:
        """The keys that nobody chooses."""
        return [axis.key for axis in self.across]

    @property
    def looks(self) -> int:
        """How often the intervals of a point were looked at to decide whether it needs more seeds."""
        return 1 if self.until is None else len(self.until.looks)

    @cached_property
    def reached(self) -> list[bool]:
        """Whether each point is as precise as it was to become. Empty without `until`."""
        if self.until is None:
            return []
        return [self.until.is_reached(total.measures[self.until.key]) for total in self.totals]

    def _variant_words(self, loading: Sequence[str]) -> list[str]:
        # A design has its own words for what `--over` was given.
        axes = self.axes if self.design.is_grid else ()
        options = (("--over", axes), ("--across", self.across))
        varied = [
            word
            for option, axes in options
            for axis in axes
            for word in (option, f"{axis.key}={','.join(axis.values)}")
        ]
        until = [] if self.until is None else self.until.words
        return [*loading, *self.design.words, *varied, *until, *self.wanted.words]

    @cached_property
    def conditions(self) -> list[tuple[str, Self]]:
        """The points of each condition as a sweep of their own, with the name of the condition.

        Without `across` there is one condition, without a name.
        """
        if not self.across:
            return [("", self)]
        found: dict[tuple[str, ...], list[tuple[Settings, Result]]] = {}
        for settings, result in self.points:
            labels = tuple(settings[axis.key] for axis in self.across)
            found.setdefault(labels, []).append((_chosen(settings, self.axes), result))
        return [(", ".join(labels), self._under(labels, points)) for labels, points in found.items()]

    def _under(self, labels: Sequence[str], points: Sequence[tuple[Settings, Result]]) -> Self:
        named = zip(self.across, labels, strict=True)
        overrides = [override for axis, label in named for override in axis.overrides(label)]
        return replace(self, scenario=self.scenario.overridden(*overrides), points=points, across=())

    @cached_property
    def choices(self) -> list[OverConditions]:
        """Each choice over the conditions: its means, worst cases and ranks. Empty without `across`."""
        if not self.across:
            return []
        chosen = [_chosen(settings, self.axes) for settings, _ in self.points]
        rows = {
            label: {
                choice_label(settings): {run.seed: total(run.outcome, self.link) for run in result.runs}
                for settings, result in part.points
            }
            for label, part in self.conditions
        }
        return over_conditions({choice_label(settings): settings for settings in chosen}, rows)

    @cached_property
    def totals(self) -> list[Component]:
        """The totals of each point, such as goodput and queueing delay, over its seeds.

        With `until`, their intervals are wider, so that they hold in spite of the looks at them.
        """
        return [total_of(result, self.link, self.looks) for _, result in self.points]

    def indices(self, measure: str | None = None) -> list[KeyIndices]:
        """Return how much each key matters for a total: Sobol' indices, with 95 % intervals by a bootstrap.

        The default is the total that was asked for. Raises `InputError` if the points were not chosen for it,
        or if the total does not vary or has no value somewhere.
        """
        if not self.design.order:
            raise InputError('indices: expected a sweep with sensitivity="goodput", found another design')
        chosen = measure or self.wanted.sensitivity or "goodput_mbps"
        keys = [axis.key for axis in self.axes]
        values = [each.measures[chosen].mean if chosen in each.measures else None for each in self.totals]
        return of_keys(keys, chosen, values, self.design.order)

    @cached_property
    def sensitivity(self) -> list[KeyIndices] | InputError | None:
        """The indices that were asked for, or why there are none; None if none were asked for."""
        if self.wanted.sensitivity is None:
            return None
        try:
            return self.indices()
        except InputError as error:
            return error

    @cached_property
    def efficient(self) -> list[bool]:
        """Whether no other point of its condition has as much goodput with as little queueing delay."""
        if not self.across:
            return front(self.tradeoffs)
        return [best for _, part in self.conditions for best in part.efficient]

    @cached_property
    def tradeoffs(self) -> list[Tradeoff]:
        """Goodput against queueing delay: of each point, or of each choice as a mean over the conditions."""
        if self.across:
            return [
                tradeoff(each.settings, {key: each.mean_over_seeds(key) for key in each.keys}, each.label)
                for each in self.choices
            ]
        return [
            tradeoff(settings, total.measures, choice_label(settings))
            for (settings, _), total in zip(self.points, self.totals, strict=True)
        ]

    @property
    def table(self) -> pl.DataFrame:
        """One row per point: the settings, whether it is efficient, and each total.

        With `until`, `seed_count` and `reached` tell how many seeds it used and whether they were enough.
        A total has a column for its mean, and two for the ends of its 95 % interval (null if nothing varies).
        """
        import polars as pl

        rows = [
            {**settings, "efficient": efficient, **precision, **_columns(total)}
            for (settings, _), efficient, precision, total in zip(
                self.points, self.efficient, self._precision, self.totals, strict=True
            )
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_xarray(self, kind: str = "flow") -> xarray.Dataset:
        """Return the measures of every `flow` (or `subflow`, `group`, `link`, `change`) as labelled arrays.

        The dimensions are those of a grid, `seed` and `name`. Points that are no grid have one dimension,
        `point`, with the values of the keys as its coordinates. Raises what `Result.to_xarray` raises.
        """
        if self.design.is_grid:
            return super().to_xarray(kind)
        from cwndlab.results.labelled_arrays import dataset

        variants = [({"point": str(index + 1)}, result.runs) for index, (_, result) in enumerate(self.points)]
        made = dataset(variants, kind, {"scenario": self.name, "command": self.command})
        places = [int(place) - 1 for place in made["point"].values]
        keys = [axis.key for axis in self._all_axes]
        values = {key: ("point", [self.points[place][0][key] for place in places]) for key in keys}
        return made.assign_coords(values)

    def at(self, **settings: str) -> Result:
        """Return the result at these settings. Pass keys with dots as `**{"flow.0.cc": "cubic"}`.

        A value is given as in the command, or as its label.
        """
        axes = {axis.key: axis for axis in self._all_axes}
        labels = {key: axes[key].label(value) if key in axes else value for key, value in settings.items()}
        found = [result for known, result in self.points if labels.items() <= known.items()]
        if len(found) != 1:
            raise InputError(f"{settings}: expected one point, found {len(found)}")
        return found[0]

    @property
    def _all_axes(self) -> list[Axis]:
        return [*self.across, *self.axes]

    def _measured(self, *, every_flow: bool) -> dict[str, Any]:
        return {
            "design": self.design.to_json(),
            "until": None if self.until is None else self.until.to_json(),
            "axes": [_axis_to_json(axis) for axis in self.axes],
            "across": [_axis_to_json(axis) for axis in self.across],
            "link": self.link,
            "sensitivity": self._sensitivity_to_json(),
            "choices": self._choices_to_json(),
            "points": [
                {
                    "settings": self._values(settings),
                    **({"condition": condition} if self.across else {}),
                    "efficient": efficient,
                    **precision,
                    "total": {key: measure.to_json() for key, measure in total.measures.items()},
                    **measured(result.summary, every_flow=every_flow, looks=self.looks),
                }
                for (settings, result), condition, efficient, precision, total in zip(
                    self.points,
                    self.point_conditions,
                    self.efficient,
                    self._precision,
                    self.totals,
                    strict=True,
                )
            ],
        }

    @property
    def _precision(self) -> list[dict[str, Any]]:
        """How many seeds each point used and whether they were enough, if seeds were added until then."""
        if self.until is None:
            return [{} for _ in self.points]
        return [
            {"seed_count": len(result.runs), "reached": reached}
            for (_, result), reached in zip(self.points, self.reached, strict=True)
        ]

    def _sensitivity_to_json(self) -> dict[str, Any] | None:
        if self.sensitivity is None:
            return None
        found = [] if isinstance(self.sensitivity, InputError) else self.sensitivity
        return {"total": self.wanted.sensitivity, "keys": [each.to_json() for each in found]}

    def _choices_to_json(self) -> list[dict[str, Any]]:
        keys = self.choices[0].keys if self.choices else []
        known = {key: best_on_average(self.choices, key) for key in keys}
        best = {key: choice for key, choice in known.items() if choice is not None}
        return [{"settings": self._values(each.settings), **each.to_json(best)} for each in self.choices]

    @property
    def point_conditions(self) -> list[str]:
        """The name of the condition of each point."""
        return [label for label, part in self.conditions for _ in part.points]

    def choice_of(self, settings: Settings) -> str:
        """Return the label of the choice at these settings."""
        return choice_label(_chosen(settings, self.axes))

    @property
    def by_condition(self) -> Self:
        """The same points as a grid of two axes: the condition and the choice."""
        choices = dict.fromkeys(self.choice_of(settings) for settings, _ in self.points)
        axes = [
            Axis("condition", tuple(label for label, _ in self.conditions)),
            Axis("choice", tuple(choices)),
        ]
        points = [
            ({"condition": condition, "choice": self.choice_of(settings)}, result)
            for (settings, result), condition in zip(self.points, self.point_conditions, strict=True)
        ]
        return replace(self, axes=axes, points=points, across=())

    def _values(self, settings: Settings) -> dict[str, str]:
        """Return the values in full, in place of their labels."""
        return {axis.key: axis.value(settings[axis.key]) for axis in self._all_axes if axis.key in settings}


def collect(
    scenario: Scenario,
    plan: Plan,
    points: Sequence[Point],
    results: Sequence[Result],
    link: str | None = None,
    wanted: Wanted | None = None,
    across: Sequence[Axis] = (),
    until: Until | None = None,
) -> Sweep:
    """Return the sweep of the results of its points."""
    finished = [
        (point.settings, result) for point, result in zip(points, results, strict=True) if result.runs
    ]
    watched = link or busiest_link([result for _, result in finished])
    asked = wanted or NOTHING_WANTED
    return Sweep(
        scenario,
        list(plan.axes),
        finished,
        watched,
        asked,
        list(across),
        plan.design,
        until,
        progress([(len(result.runs), result.asked) for result in results]),
    )


# The only choice, if the user chooses nothing.
AS_GIVEN = "the scenario"


def choice_label(settings: Settings) -> str:
    """Return the values of a choice in one line."""
    return ", ".join(settings.values()) or AS_GIVEN


def _chosen(settings: Settings, axes: Sequence[Axis]) -> dict[str, str]:
    return {axis.key: settings[axis.key] for axis in axes}


def _axis_to_json(axis: Axis) -> dict[str, Any]:
    return {
        "key": axis.key,
        "values": list(axis.values),
        "labels": list(axis.labels),
        **({"drawn": axis.drawn} if axis.drawn else {}),
    }


def _columns(total: Component) -> dict[str, float | None]:
    return {
        name: value for key, measure in total.measures.items() for name, value in _ends(key, measure).items()
    }


def _ends(key: str, measure: Measure) -> dict[str, float | None]:
    low, high = measure.interval or (None, None)
    return {key: measure.mean, f"{key}_low": low, f"{key}_high": high}
