"""A scenario over a grid of its keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.document import measured
from cwndlab.results.result import Study
from cwndlab.results.totals import busiest_link, total_of, tradeoff
from cwndlab.results.wanted import NOTHING_WANTED, Wanted
from cwndlab.statistics.pareto import front

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from cwndlab.results.result import Result, Settings
    from cwndlab.results.summary import Component
    from cwndlab.scenarios.grid import Axis, Point
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.measure import Measure
    from cwndlab.statistics.pareto import Point as Tradeoff


@dataclass(frozen=True)
class Sweep(Study):
    """The results of each combination of the axes' values, in the order of the grid.

    A combination without any finished seed is left out. The totals report the queue of `link`.
    """

    kind = "sweep"

    axes: Sequence[Axis]
    points: Sequence[tuple[Settings, Result]]
    link: str | None
    wanted: Wanted = NOTHING_WANTED

    @property
    def variants(self) -> Sequence[tuple[Settings, Result]]:
        """The points."""
        return self.points

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished at any point."""
        return sorted({seed for _, result in self.points for seed in result.seeds})

    def _variant_words(self, loading: Sequence[str]) -> list[str]:
        over = [word for axis in self.axes for word in ("--over", f"{axis.key}={','.join(axis.values)}")]
        return [*loading, *over, *self.wanted.words]

    @cached_property
    def totals(self) -> list[Component]:
        """The totals of each point, such as goodput and queueing delay, over its seeds."""
        return [total_of(result, self.link) for _, result in self.points]

    @cached_property
    def efficient(self) -> list[bool]:
        """Whether no other point has at least its goodput with at most its queueing delay."""
        return front(self.tradeoffs)

    @cached_property
    def tradeoffs(self) -> list[Tradeoff]:
        """Goodput against queueing delay of each point."""
        return [
            tradeoff(settings, total) for (settings, _), total in zip(self.points, self.totals, strict=True)
        ]

    @property
    def table(self) -> pl.DataFrame:
        """One row per point: the settings, whether it is efficient, and each total.

        A total has a column for its mean, and two for the ends of its 95 % interval (null if nothing varies).
        """
        import polars as pl

        rows = [
            {**settings, "efficient": efficient, **_columns(total)}
            for (settings, _), efficient, total in zip(self.points, self.efficient, self.totals, strict=True)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def at(self, **settings: str) -> Result:
        """Return the result at these settings. Pass keys with dots as `**{"flow.0.cc": "cubic"}`."""
        found = [result for known, result in self.points if settings.items() <= known.items()]
        if len(found) != 1:
            raise InputError(f"{settings}: expected one point, found {len(found)}")
        return found[0]

    def _measured(self, *, every_flow: bool) -> dict[str, Any]:
        return {
            "axes": [{"key": axis.key, "values": list(axis.values)} for axis in self.axes],
            "link": self.link,
            "points": [
                {
                    "settings": settings,
                    "efficient": efficient,
                    "total": {key: measure.to_json() for key, measure in total.measures.items()},
                    **measured(result.summary, every_flow=every_flow),
                }
                for (settings, result), efficient, total in zip(
                    self.points, self.efficient, self.totals, strict=True
                )
            ],
        }


def collect(
    scenario: Scenario,
    axes: Sequence[Axis],
    points: Sequence[Point],
    results: Sequence[Result],
    link: str | None = None,
    wanted: Wanted | None = None,
) -> Sweep:
    """Return the sweep of the results of its points."""
    finished = [
        (point.settings, result) for point, result in zip(points, results, strict=True) if result.runs
    ]
    watched = link or busiest_link([result for _, result in finished])
    return Sweep(scenario, list(axes), finished, watched, wanted or NOTHING_WANTED)


def _columns(total: Component) -> dict[str, float | None]:
    return {
        name: value for key, measure in total.measures.items() for name, value in _ends(key, measure).items()
    }


def _ends(key: str, measure: Measure) -> dict[str, float | None]:
    low, high = measure.interval or (None, None)
    return {key: measure.mean, f"{key}_low": low, f"{key}_high": high}
