"""Several algorithms in the same scenario, compared seed by seed.

Chance derives from the seed and from names, so each algorithm meets the same losses, starts and arrivals:
the difference of two of them is taken within each seed, and its interval is that of the differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.results.document import is_listed, measured
from cwndlab.results.result import Study
from cwndlab.results.summary import components, is_measure, is_of_a_flow
from cwndlab.results.totals import busiest_link, total, total_of, tradeoff
from cwndlab.statistics.measure import Measure, measure, paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from cwndlab.results.result import Result, Settings
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.contest import Contest
    from cwndlab.statistics.pareto import Point as Tradeoff

    Outcome = Mapping[str, Any]
    Values = Mapping[str, float | None]

# The setting that tells the variants apart, and what it is without the chosen flows.
VARIANT = "variant"
ALONE = "alone"

# What harm is counted in: whether more of it is better.
HARMED = {"goodput_mbps": True, "rtt_ms": False, "rtt_p95_ms": False}


@dataclass(frozen=True)
class Compared:
    """One subject (all flows, a flow, a group, a link) with each algorithm.

    `rows` are its values by algorithm, then by seed.
    """

    kind: str
    name: str
    rows: list[list[Values]]

    @cached_property
    def means(self) -> list[dict[str, Measure]]:
        """The mean of each measure with each algorithm."""
        return [{key: measure(seed[key] for seed in seeds) for key in self._keys} for seeds in self.rows]

    @cached_property
    def differences(self) -> list[dict[str, Measure]]:
        """What each algorithm but the first has over the first, paired by seed."""
        base, *others = self.rows
        return [
            {
                key: paired_difference([seed[key] for seed in seeds], [seed[key] for seed in base])
                for key in self._keys
            }
            for seeds in others
        ]

    @property
    def _keys(self) -> list[str]:
        return [key for key in next((seeds[0] for seeds in self.rows if seeds), {}) if key != "start_s"]


@dataclass(frozen=True)
class Comparison(Study):
    """The results of each algorithm, in the order in which they were named; the first is the baseline.

    `chosen` are the flows that take the algorithms, as they were named; none if all do. `alone` is the result
    without them. `link` is the one whose queue the totals report.
    """

    kind = "compare"

    labels: tuple[str, ...]
    chosen: tuple[str, ...]
    results: Sequence[Result]
    alone: Result | None
    link: str | None

    @property
    def variants(self) -> Sequence[tuple[Settings, Result]]:
        """The results by their algorithms."""
        return [({VARIANT: label}, result) for label, result in zip(self.labels, self.results, strict=True)]

    @property
    def all_variants(self) -> Sequence[tuple[Settings, Result]]:
        """The variants, and the result without the chosen flows."""
        return [*self.variants, *([({VARIANT: ALONE}, self.alone)] if self.alone is not None else [])]

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished with every algorithm: only these are compared."""
        finished = [set(result.seeds) for result in self.results]
        return [seed for seed in self.results[0].seeds if all(seed in each for each in finished)]

    def _asked(self, loading: Sequence[str]) -> list[str]:
        flows = [word for flow in self.chosen for word in ("--flow", flow)]
        return ["--cc", ",".join(self.labels), *loading, *flows]

    @cached_property
    def tables(self) -> list[Compared]:
        """What is compared: all flows together, then each flow, subflow, group and link by its name."""
        kinds = ("flow", "subflow", "group", "link")
        return [self._total(), *(table for kind in kinds for table in self._tables_of(kind))]

    @cached_property
    def common_tables(self) -> list[Compared]:
        """What is compared, without single flows and their access links."""
        several = (table for kind in ("group", "link") for table in self._tables_of(kind))
        return [self._total(), *(table for table in several if not is_of_a_flow(table.name))]

    def tables_of_few(self, most_flows: int) -> list[Compared]:
        """What is compared; of more flows and subflows than these only what they have in common."""
        return self.tables if self.results[0].summary.senders <= most_flows else self.common_tables

    @cached_property
    def harm(self) -> list[Compared]:
        """What the flows that took the algorithms did to each of the others, as shares of 0 to 1.

        Harm is that of Ware et al., Beyond Jain's Fairness Index (HotNets 2019): the part of its goodput that
        a flow loses against running without the rivals, or the part of its RTT that they add.
        """
        if self.alone is None:
            return []
        solo = {run.seed: _by_name(run, "flow") for run in self.alone.runs}
        among = [
            [(_by_name(run, "flow"), solo[run.seed]) for run in self._runs(result) if run.seed in solo]
            for result in self.results
        ]
        return [
            Compared(
                "flow",
                name,
                [[_harm(with_rivals[name], alone[name]) for with_rivals, alone in seeds] for seeds in among],
            )
            for name in next(iter(solo.values()), {})
        ]

    @cached_property
    def mean_harm(self) -> list[Compared]:
        """The mean harm to all flows that stayed as they were, as one subject."""
        if not self.harm:
            return []
        seeds = [
            list(zip(*flows, strict=True)) for flows in zip(*(each.rows for each in self.harm), strict=True)
        ]
        rows = [[_mean(flows) for flows in of_algorithm] for of_algorithm in seeds]
        return [Compared("flow", f"average of {len(self.harm)}", rows)]

    @property
    def tradeoffs(self) -> list[Tradeoff]:
        """Goodput of all flows against the queueing delay, with each algorithm."""
        totals = (total_of(result, self.link) for result in self.results)
        return [tradeoff({"cc": label}, total) for label, total in zip(self.labels, totals, strict=True)]

    @property
    def differences(self) -> pl.DataFrame:
        """One row per subject, measure and algorithm but the baseline: the paired difference to the baseline.

        Columns: kind, name, measure, algorithm, baseline, difference, ci95_low, ci95_high, n.
        """
        import polars as pl

        rows = [
            {
                "kind": table.kind,
                "name": table.name,
                "measure": key,
                "algorithm": label,
                "baseline": self.labels[0],
                **_interval(difference),
            }
            for table in self.tables
            for label, differences in zip(self.labels[1:], table.differences, strict=True)
            for key, difference in differences.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _measured(self, *, every_flow: bool) -> dict[str, Any]:
        listed = all(is_listed(result.summary, every_flow=every_flow) for result in self.results)
        tables = self.tables if listed else self.common_tables
        harm = self.harm if listed else self.mean_harm
        return {
            "baseline": self.labels[0],
            "link": self.link,
            "variants": [
                {"cc": label, "total": _to_json(total), **measured(result.summary, every_flow=every_flow)}
                for label, total, result in zip(self.labels, tables[0].means, self.results, strict=True)
            ],
            "differences": [
                {"cc": label, "subjects": [_told(table, table.differences[index]) for table in tables]}
                for index, label in enumerate(self.labels[1:])
            ],
            "harm": [
                {"cc": label, "flows": [_told(table, table.means[index]) for table in harm]}
                for index, label in enumerate(self.labels)
            ]
            if harm
            else [],
        }

    def _total(self) -> Compared:
        rows: list[list[Values]] = [
            [total(run.outcome, self.link) for run in self._runs(result)] for result in self.results
        ]
        return Compared("total", "all", rows)

    def _tables_of(self, kind: str) -> Iterator[Compared]:
        outcome = next((run.outcome for result in self.results for run in result.runs), None)
        found = [[_by_name(run, kind) for run in self._runs(result)] for result in self.results]
        for component in components(outcome, kind) if outcome else []:
            name = component["name"]
            yield Compared(kind, name, [[_measures(seed[name]) for seed in seeds] for seeds in found])

    def _runs(self, result: Result) -> list[SeedRun]:
        compared = set(self.seeds)
        return [run for run in result.runs if run.seed in compared]


def collect(contest: Contest, results: Sequence[Result], link: str | None = None) -> Comparison:
    """The comparison, when the scenarios of the contest have been run."""
    count = len(contest.variants)
    alone = results[count] if contest.alone is not None else None
    watched = link or busiest_link(results[:count])
    return Comparison(contest.scenario, contest.algorithms, contest.flows, results[:count], alone, watched)


def _by_name(run: SeedRun, kind: str) -> dict[str, Outcome]:
    return {component["name"]: component for component in components(run.outcome, kind)}


def _harm(among: Values, alone: Values) -> Values:
    """Ware et al., section 3: (solo - load) / solo where more is better, else (load - solo) / load."""
    return {
        key: _share(alone[key], among[key]) if more_is_better else _share(among[key], alone[key])
        for key, more_is_better in HARMED.items()
    }


def _mean(flows: Sequence[Values]) -> Values:
    return {key: measure(flow[key] for flow in flows).mean for key in flows[0]}


def _share(large: float | None, small: float | None) -> float | None:
    return (large - small) / large if large and small is not None else None


def _measures(component: Outcome) -> Values:
    return {key: value for key, value in component.items() if is_measure(component, key)}


def _told(table: Compared, measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {"kind": table.kind, "name": table.name, **_to_json(measures)}


def _to_json(measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {key: each.to_json() for key, each in measures.items()}


def _interval(difference: Measure) -> dict[str, float | int | None]:
    low, high = difference.interval or (None, None)
    return {"difference": difference.mean, "ci95_low": low, "ci95_high": high, "n": difference.n}
