"""What the episodes of an environment are made from, as its users give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.learning import copies
from cwndlab.scenarios.seeds import MAX_SEED
from cwndlab.scenarios.source import loaded, written_overrides

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab._native import EnvironmentCourse
    from cwndlab.engine import Engine
    from cwndlab.scenarios.source import Overrides, Source

GYM = "gymnasium is missing: pip install 'cwndlab[gym]'"
PETTINGZOO = "pettingzoo is missing: pip install 'cwndlab[multi]'"


def course(
    engine: Engine,
    environment: str,
    source: Source | None,
    steered: Sequence[str],
    overrides: Overrides | None,
    flows: int = 1,
) -> EnvironmentCourse:
    """Make it: of a scenario in which these flows are steered, or of drawn links with so many flows."""
    changes = list(written_overrides(overrides))
    if source is None:
        if steered:
            raise InputError(
                f"flow={steered[0]!r}: flows have names in a scenario only; scenario= is missing"
            )
        given = None
    else:
        found = loaded(source)
        given = (found.text, found.file, list(steered))
    return copies.made(engine, (environment, given, flows, changes))


def checked_seed(seed: int) -> int:
    """Refuse a seed that the simulator has not."""
    if not 0 <= seed <= MAX_SEED:
        raise InputError(f"seed={seed}: expected a whole number from 0 to {MAX_SEED}")
    return seed


def refuse_options(options: Mapping[str, Any] | None) -> None:
    """Refuse what `reset` would not heed."""
    if options:
        raise InputError(f"options={dict(options)!r}: an environment has none; see scenario= and overrides=")
