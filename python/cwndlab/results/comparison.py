"""Several algorithms in the same scenario, compared seed by seed.

Chance derives from the seed and from names, so each algorithm meets the same losses, starts and arrivals:
the difference of two of them is taken within each seed, and its interval is that of the differences.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.summary import components, is_measure, is_of_a_flow
from cwndlab.results.totals import busiest_link, total, total_of, tradeoff
from cwndlab.scenarios.grid import names_by_place
from cwndlab.scenarios.scenario import with_options
from cwndlab.scenarios.seeds import shown_seeds
from cwndlab.statistics.measure import Measure, measure, paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from cwndlab.results.result import Result
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.scenario import Scenario
    from cwndlab.statistics.pareto import Point as Tradeoff

    Outcome = Mapping[str, Any]
    Values = Mapping[str, float | None]

# What harm is counted in: whether more of it is better.
HARMED = {"goodput_mbps": True, "rtt_ms": False, "rtt_p95_ms": False}


@dataclass(frozen=True)
class Contest:
    """What is to be compared: the algorithms, and the flows that take them.

    `alone` is the scenario without those flows; None if no flow would be left.
    """

    scenario: Scenario
    algorithms: tuple[str, ...]
    flows: tuple[str, ...]
    variants: tuple[Scenario, ...]
    alone: Scenario | None

    @property
    def scenarios(self) -> list[Scenario]:
        """All that must be run."""
        return [*self.variants, *([self.alone] if self.alone is not None else [])]

    def result(self, results: Sequence[Result], link: str | None = None) -> Comparison:
        """The comparison, when `scenarios` have been run."""
        count = len(self.variants)
        alone = results[count] if self.alone is not None else None
        watched = link or busiest_link(results[:count])
        return Comparison(self, list(results[:count]), alone, watched)


def contest(scenario: Scenario, algorithms: Sequence[str], flows: Sequence[str] = ()) -> Contest:
    """Plan a comparison; `flows` (names or numbers) take the algorithms, all flows if none is named.

    Raises `ScenarioError` for the first algorithm with which the scenario cannot be run.
    """
    if len(algorithms) < 2 or len(set(algorithms)) < len(algorithms):
        raise InputError(f"compare {','.join(algorithms)}: expected two or more algorithms, none twice")
    named = scenario.overridden(*names_by_place(scenario))
    chosen = _chosen(named, flows)
    variants = tuple(
        named.overridden(*((f"flow.{index}.cc", cc) for index in chosen), option=f"--cc {cc}")
        for cc in algorithms
    )
    for variant in variants:
        variant.validate()
    others = len(named.resolved["flow"]) - len(chosen)
    alone = named.overridden(*((f"flow.{index}.enabled", "false") for index in chosen)) if others else None
    return Contest(scenario, tuple(algorithms), tuple(flows), variants, alone)


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
class Comparison:
    """The results of each algorithm, in the order in which they were named; the first is the baseline.

    `link` is the one whose queue the totals tell of.
    """

    contest: Contest
    results: Sequence[Result]
    alone: Result | None
    link: str | None

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was given."""
        return self.contest.scenario

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.results[0].name

    @property
    def labels(self) -> tuple[str, ...]:
        """What the variants are called: the algorithms as they were given."""
        return self.contest.algorithms

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished with every algorithm: only these are compared."""
        finished = [set(result.seeds) for result in self.results]
        return [seed for seed in self.results[0].seeds if all(seed in each for each in finished)]

    @property
    def interrupted(self) -> bool:
        """Whether seeds are missing because of Ctrl-C."""
        return any(result.interrupted for result in self.results)

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        parts = ["cwndlab", "compare", self.scenario.file, "--cc", ",".join(self.labels)]
        parts += with_options(result.scenario for result in self.results)
        parts += [word for flow in self.contest.flows for word in ("--flow", flow)]
        parts += [*self.scenario.set_options, "--seeds", shown_seeds(self.seeds)]
        return shlex.join(parts)

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

        Harm is that of Ware et al. 2019: the part of its goodput that
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

    @property
    def flows(self) -> pl.DataFrame:
        """One row per algorithm, seed and flow."""
        return self._frame("flows")

    @property
    def subflows(self) -> pl.DataFrame:
        """One row per algorithm, seed and subflow of a multipath connection."""
        return self._frame("subflows")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per algorithm, seed and arrival process."""
        return self._frame("groups")

    @property
    def links(self) -> pl.DataFrame:
        """One row per algorithm, seed and link."""
        return self._frame("links")

    @property
    def flows_left_out(self) -> int:
        """How many flows the document leaves out by default."""
        return max(result.flows_left_out for result in self.results)

    def to_json(self, *, every_flow: bool = False) -> dict[str, Any]:
        """The document that `cwndlab compare --json` prints; see `Result.to_json` for `every_flow`."""
        from cwndlab.results.document import is_listed, measured
        from cwndlab.results.manifest import document_head

        listed = all(is_listed(result.summary, every_flow=every_flow) for result in self.results)
        tables = self.tables if listed else self.common_tables
        harm = self.harm if listed else self.mean_harm
        return {
            **document_head(self.name, self.scenario, self.seeds, interrupted=self.interrupted),
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

    def _frame(self, table: str) -> pl.DataFrame:
        from cwndlab.results.frames import joined

        return joined(
            ({"variant": label}, getattr(result, table))
            for label, result in zip(self.labels, self.results, strict=True)
        )

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


def _by_name(run: SeedRun, kind: str) -> dict[str, Outcome]:
    return {component["name"]: component for component in components(run.outcome, kind)}


def _harm(among: Values, alone: Values) -> Values:
    """Ware et al. 2019 section 3: (solo - load) / solo where more is better, else (load - solo) / load."""
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


def _chosen(scenario: Scenario, flows: Sequence[str]) -> list[int]:
    """The places of the flows of these names or numbers; all if none is given."""
    names = [flow["names"] for flow in scenario.resolved["flow"]]
    if not flows:
        return list(range(len(names)))
    return list(dict.fromkeys(_place(flow, names) for flow in flows))


def _place(flow: str, names: Sequence[Sequence[str]]) -> int:
    for index, known in enumerate(names):
        if flow in known or flow == known[0].rpartition("-")[0]:
            return index
    if flow.isdecimal() and int(flow) < len(names):
        return int(flow)
    known = ", ".join(name for group in names for name in group[:8])
    raise InputError(f"--flow {flow}: no such flow; there are: {known}")
