"""What was asked to be run. A folder of results keeps it, so that no other request replaces its files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cwndlab.results.recording import Record
    from cwndlab.results.result import Study
    from cwndlab.scenarios.scenario import Scenario

    Variant = tuple[Mapping[str, str], Scenario]


@dataclass(frozen=True)
class Request:
    """Requests of the same kind with the same hash ask for the same runs.

    How results are shown is no part of it: the link that is reported, limits, the formats of figures.
    """

    kind: str
    sha256: str

    @classmethod
    def of(cls, kind: str, content: Any) -> Request:
        """Return the request with this content, as plain JSON values."""
        text = json.dumps(content, sort_keys=True)
        return cls(kind, hashlib.sha256(text.encode()).hexdigest())


def planned(
    kind: str,
    variants: Iterable[Variant],
    seeds: Sequence[int],
    record: Record,
    until: str | None = None,
    across: Sequence[str] | None = None,
) -> Request:
    """Return the request for runs of these variants, before they are made.

    `across` are the keys of a sweep that are conditions; None if it is no sweep.
    """
    recorded = [seed for index, seed in enumerate(seeds) if record.holds(index)]
    return _request(kind, variants, seeds, recorded, until, across)


def request_of(study: Study) -> Request:
    """Return the request that a finished study answers."""
    variants = [(settings, result.scenario) for settings, result in study.all_variants]
    recorded = [run.seed for _, result in study.variants[:1] for run in result.recorded]
    return _request(study.kind, variants, study.seeds_asked, recorded, study.until_text, study.condition_keys)


def _request(
    kind: str,
    variants: Iterable[Variant],
    seeds: Sequence[int],
    recorded: Sequence[int],
    until: str | None,
    across: Sequence[str] | None,
) -> Request:
    content = {
        "variants": [_described(*variant) for variant in variants],
        "seeds": list(seeds),
        "recorded": list(recorded),
        **({} if until is None else {"until": until}),
        # The same points answer another question if some of their keys are conditions.
        **({} if across is None else {"across": list(across)}),
    }
    return Request.of(kind, content)


def _described(settings: Mapping[str, str], scenario: Scenario) -> dict[str, Any]:
    return {
        "settings": dict(settings),
        "backend": scenario.engine.backend,
        "scenario": scenario.canonical,
        "controllers": [asdict(each) for each in scenario.controllers],
    }
