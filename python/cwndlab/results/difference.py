"""Two stored results of the same kind: what was asked for, what was in force, and what came out."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.compared import KINDS, Compared, tables_of, total_table
from cwndlab.results.comparison import Comparison
from cwndlab.results.sweep import Sweep
from cwndlab.results.totals import busiest_link
from cwndlab.scenarios.seeds import shown_seeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cwndlab.results.result import Result, Settings, Study

SCHEMA = 1
# These follow from the settings, which are listed one by one, or are listed with the request.
NOT_SHOWN = ("scenario_sha256", "overrides", "seeds")


@dataclass(frozen=True)
class Changed:
    """Something that two results do not share: its name, and its value in each; None where it is absent."""

    name: str
    one: str | None
    other: str | None


@dataclass(frozen=True)
class Counts:
    """The number of measures that both results have, and of differences.

    `nonzero` differences are not 0, `tested` ones have an interval, and `shown` ones an interval without 0,
    or the same value with every seed.
    """

    measures: int
    nonzero: int
    tested: int
    shown: int


@dataclass(frozen=True)
class VariantDifference:
    """A variant that both results have. `link` is the one whose queue its totals report."""

    settings: Settings
    one: Result
    other: Result
    link: str | None

    @cached_property
    def shared(self) -> list[int]:
        """The seeds that both have."""
        known = set(self.other.seeds)
        return [seed for seed in self.one.seeds if seed in known]

    @property
    def paired(self) -> bool:
        """Whether the difference is taken within each seed. Without a shared seed it cannot be."""
        return bool(self.shared)

    @property
    def label(self) -> str:
        """The settings in one line."""
        return ", ".join(self.settings.values())

    @cached_property
    def tables(self) -> list[Compared]:
        """The subjects: all flows together, then each flow, subflow, group and link that both have."""
        runs = [self.one.runs, self.other.runs]
        if self.paired:
            by_seed = [{run.seed: run for run in each} for each in runs]
            runs = [[each[seed] for seed in self.shared] for each in by_seed]
        of_kinds = (table for kind in KINDS for table in tables_of(kind, runs, paired=self.paired))
        return [total_table(runs, self.link, paired=self.paired), *of_kinds]


@dataclass(frozen=True)
class Difference:
    """Two results, called by the names of their folders. `manifests` are those that were stored."""

    names: tuple[str, str]
    one: Study
    other: Study
    manifests: tuple[Mapping[str, Any], Mapping[str, Any]]

    @cached_property
    def request(self) -> list[Changed]:
        """What was asked for differently: seeds, algorithms, axes."""
        return list(_changed(_request(self.one), _request(self.other)))

    @cached_property
    def settings(self) -> list[Changed]:
        """The settings in force that differ, by their keys in the scenario."""
        one, other = (dict(_flat("", study.scenario.resolved)) for study in (self.one, self.other))
        return list(_changed(one, other))

    @cached_property
    def manifest(self) -> list[Changed]:
        """What differs in the manifests: version, commit, machine."""
        one, other = (
            {key: _text(value) for key, value in manifest.items() if key not in NOT_SHOWN}
            for manifest in self.manifests
        )
        return list(_changed(one, other))

    @cached_property
    def variants(self) -> list[VariantDifference]:
        """The variants that both results have."""
        others = {_key(settings): result for settings, result in self.other.variants}
        return [
            VariantDifference(settings, result, others[_key(settings)], self._link)
            for settings, result in self.one.variants
            if _key(settings) in others and result.runs and others[_key(settings)].runs
        ]

    @property
    def missing(self) -> tuple[list[str], list[str]]:
        """The variants that only the first or only the second has."""
        known = {_key(each.settings) for each in self.variants}
        one, other = (
            [", ".join(settings.values()) for settings, _ in study.variants if _key(settings) not in known]
            for study in (self.one, self.other)
        )
        return one, other

    @cached_property
    def counts(self) -> Counts:
        """How many measures differ, and of how many the interval says so."""
        found = [
            difference
            for variant in self.variants
            for table in variant.tables
            for difference in table.differences[0].values()
            if difference.n
        ]
        return Counts(
            len(found),
            sum(bool(each.mean) for each in found),
            sum(each.interval is not None for each in found),
            sum(each.excludes_zero for each in found),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the document of `cwndlab diff --json`."""
        one, other = self.missing
        return {
            "schema": SCHEMA,
            "kind": self.one.kind,
            "a": self.names[0],
            "b": self.names[1],
            "request": [_entry(each) for each in self.request],
            "settings": [_entry(each) for each in self.settings],
            "manifest": [_entry(each) for each in self.manifest],
            "only_a": one,
            "only_b": other,
            "variants": [_variant(each) for each in self.variants],
        }

    @cached_property
    def _link(self) -> str | None:
        """The link that both report, or else the busiest of those that both have."""
        links = [study.link for study in (self.one, self.other) if isinstance(study, Comparison | Sweep)]
        if links and links[0] == links[1]:
            return links[0]
        return busiest_link([result for study in (self.one, self.other) for _, result in study.variants])


def difference(
    names: tuple[str, str], one: Study, other: Study, manifests: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> Difference:
    """Return the difference of two results. Raises `InputError` if they are of different kinds."""
    if one.kind != other.kind:
        made = f"made by `cwndlab {one.kind}` as {names[0]} is"
        raise InputError(f"{names[1]}: expected a result {made}, found one made by `cwndlab {other.kind}`")
    return Difference(names, one, other, manifests)


def _request(study: Study) -> dict[str, str]:
    asked = {"seeds": shown_seeds(study.seeds) if study.seeds else "none"}
    match study:
        case Comparison():
            asked |= {"algorithms": ", ".join(study.labels), "flows": ", ".join(study.chosen) or "all"}
        case Sweep():
            asked |= {axis.key: axis.drawn or ", ".join(axis.values) for axis in study.axes}
            asked |= {"points": shlex.join(study.design.words)} if study.design.words else {}
            asked |= {} if study.until is None else {"until": study.until.text}
    return asked


def _changed(one: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Changed]:
    for name in dict.fromkeys((*one, *other)):
        if one.get(name) != other.get(name):
            yield Changed(name, one.get(name), other.get(name))


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield every setting with its key, such as `link.0.rate`."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list) and any(isinstance(each, dict | list) for each in value)
        else None
    )
    if inner is None:
        yield key, _text(value)
        return
    for part, each in inner:
        yield from _flat(f"{key}.{part}" if key else str(part), each)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _key(settings: Settings) -> tuple[tuple[str, str], ...]:
    return tuple(settings.items())


def _entry(changed: Changed) -> dict[str, str | None]:
    return {"name": changed.name, "a": changed.one, "b": changed.other}


def _variant(variant: VariantDifference) -> dict[str, Any]:
    return {
        "settings": dict(variant.settings),
        "link": variant.link,
        "paired": variant.paired,
        "shared_seeds": variant.shared,
        "subjects": [_subject(table) for table in variant.tables],
    }


def _subject(table: Compared) -> dict[str, Any]:
    one, other = table.means
    measures = {
        key: {
            "a": one[key].to_json(),
            "b": other[key].to_json(),
            "difference": found.to_json(),
            "excludes_zero": found.excludes_zero,
        }
        for key, found in table.differences[0].items()
    }
    return {"kind": table.kind, "name": table.name, "measures": measures}
