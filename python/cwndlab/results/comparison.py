"""Several algorithms in the same scenario, compared seed by seed.

Random numbers derive from the seed and from names, so each algorithm meets the same losses, starts and
arrivals. Two algorithms are therefore compared by their difference within each seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.results.compared import Compared, by_name, tables_of, total_table
from cwndlab.results.document import is_listed, measured
from cwndlab.results.result import Study
from cwndlab.results.summary import is_of_a_flow
from cwndlab.results.totals import busiest_link, total_of, tradeoff
from cwndlab.results.wanted import NOTHING_WANTED, Wanted
from cwndlab.statistics.measure import Measure, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from cwndlab.results.compared import Values
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.contest import Contest
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.pareto import Point as Tradeoff

# The setting that distinguishes the variants, and its value for the run without the chosen flows.
VARIANT = "variant"
ALONE = "alone"

# The measures of harm, and whether more is better.
HARMED = {"goodput_mbps": True, "rtt_ms": False, "rtt_p95_ms": False}


@dataclass(frozen=True, repr=False)
class Comparison(Study):
    """The results of each algorithm, in the order of the command line. The first is the baseline.

    `chosen` names the flows that run the algorithms; it is empty if all flows do. `alone` is the result
    without these flows. The totals report the queue of `link`.
    """

    kind = "compare"

    labels: tuple[str, ...]
    chosen: tuple[str, ...]
    results: Sequence[Result]
    alone: Result | None
    link: str | None
    wanted: Wanted = NOTHING_WANTED

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
        """The seeds that finished with every algorithm. Only these are compared."""
        finished = [set(result.seeds) for result in self.results]
        return [seed for seed in self.results[0].seeds if all(seed in each for each in finished)]

    def _variant_words(self, loading: Sequence[str]) -> list[str]:
        flows = [word for flow in self.chosen for word in ("--flow", flow)]
        return ["--cc", ",".join(self.labels), *loading, *flows, *self.wanted.words]

    @cached_property
    def tables(self) -> list[Compared]:
        """The compared subjects: all flows together, then each flow, subflow, group and link by name."""
        kinds = ("flow", "subflow", "group", "link")
        return [self._total(), *(table for kind in kinds for table in self._tables_of(kind))]

    @cached_property
    def common_tables(self) -> list[Compared]:
        """The compared subjects without single flows and their access links."""
        several = (table for kind in ("group", "link") for table in self._tables_of(kind))
        return [self._total(), *(table for table in several if not is_of_a_flow(table.name))]

    def tables_of_few(self, most_flows: int) -> list[Compared]:
        """Return the compared subjects. Single flows are left out if there are more than `most_flows`."""
        return self.tables if self.results[0].summary.senders <= most_flows else self.common_tables

    @cached_property
    def harm(self) -> list[Compared]:
        """The harm that the chosen flows did to each of the others, as shares of 0 to 1.

        Harm is defined by Ware et al. 2019, compared with a run without the rivals: the share of its goodput
        that a flow loses to them, or the share of its RTT that they add.
        """
        if self.alone is None:
            return []
        solo = {run.seed: by_name(run, "flow") for run in self.alone.runs}
        among = [
            [(by_name(run, "flow"), solo[run.seed]) for run in self._runs(result) if run.seed in solo]
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
        """The mean harm to all other flows, as one subject."""
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
        return [tradeoff({}, total.measures, label) for label, total in zip(self.labels, totals, strict=True)]

    @property
    def differences(self) -> pl.DataFrame:
        """One row per subject, measure and algorithm: the paired difference from the baseline.

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
                {"cc": label, "subjects": [_subject(table, table.differences[index]) for table in tables]}
                for index, label in enumerate(self.labels[1:])
            ],
            "harm": [
                {"cc": label, "flows": [_subject(table, table.means[index]) for table in harm]}
                for index, label in enumerate(self.labels)
            ]
            if harm
            else [],
        }

    def _total(self) -> Compared:
        return total_table([self._runs(result) for result in self.results], self.link)

    def _tables_of(self, kind: str) -> Iterator[Compared]:
        return tables_of(kind, [self._runs(result) for result in self.results])

    def _runs(self, result: Result) -> list[SeedRun]:
        compared = set(self.seeds)
        return [run for run in result.runs if run.seed in compared]


def named(contest: Contest) -> list[tuple[Settings, Scenario]]:
    """Return the scenarios of a contest with the settings of their variants."""
    labels = [*contest.algorithms, *([ALONE] if contest.alone is not None else [])]
    return [({VARIANT: label}, each) for label, each in zip(labels, contest.scenarios, strict=True)]


def collect(
    contest: Contest, results: Sequence[Result], link: str | None = None, wanted: Wanted | None = None
) -> Comparison:
    """Return the comparison of the results of a contest."""
    count = len(contest.variants)
    alone = results[count] if contest.alone is not None else None
    watched = link or busiest_link(results[:count])
    return Comparison(
        contest.scenario,
        contest.algorithms,
        contest.flows,
        results[:count],
        alone,
        watched,
        wanted or NOTHING_WANTED,
    )


def _harm(among: Values, alone: Values) -> Values:
    """Ware et al. 2019 section 3: (solo - load) / solo if more is better, otherwise (load - solo) / load."""
    return {
        key: _share(alone[key], among[key]) if more_is_better else _share(among[key], alone[key])
        for key, more_is_better in HARMED.items()
    }


def _mean(flows: Sequence[Values]) -> Values:
    return {key: measure(flow[key] for flow in flows).mean for key in flows[0]}


def _share(large: float | None, small: float | None) -> float | None:
    return (large - small) / large if large and small is not None else None


def _subject(table: Compared, measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {"kind": table.kind, "name": table.name, **_to_json(measures)}


def _to_json(measures: Mapping[str, Measure]) -> dict[str, Any]:
    return {key: each.to_json() for key, each in measures.items()}


def _interval(difference: Measure) -> dict[str, float | int | None]:
    low, high = difference.interval or (None, None)
    return {"difference": difference.mean, "ci95_low": low, "ci95_high": high, "n": difference.n}
