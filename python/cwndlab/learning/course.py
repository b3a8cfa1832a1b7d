"""Makes the course of an environment, which makes its episodes, and checks the arguments of users."""

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
    backend: str = "sim",
) -> EnvironmentCourse:
    """Make a course from a scenario whose `steered` flows have agents, or from `flows` flows on drawn links.

    `backend` is where the episodes play: `sim` or `linux`. Raises `InputError` if an argument is wrong, if
    the scenario has errors, or if no kernel has been built for `linux`.
    """
    changes = list(written_overrides(overrides))
    if source is None:
        if steered:
            raise InputError(
                f"flow={steered[0]!r}: only flows of a scenario have names; expected scenario= too"
            )
        given = None
    else:
        found = loaded(source)
        given = (found.text, found.file, list(steered))
    return copies.made(engine, (environment, given, flows, changes, backend))


def checked_seed(seed: int) -> int:
    """Return the seed. Raises `InputError` if it is out of range."""
    if not 0 <= seed <= MAX_SEED:
        raise InputError(f"seed={seed}: expected a whole number from 0 to {MAX_SEED}")
    return seed


# Arguments that other environments take, and what there is instead.
INSTEAD = {
    "reward": "the environment has its own; gymnasium.RewardWrapper changes it, and info has the measures",
    "max_episode_steps": "an episode ends with its scenario; set duration in overrides=, or use TimeLimit",
}
OF_A_SCENARIO = (
    'keys of a scenario go into overrides=, as in overrides={"link.0.rate": "5 Mbit/s"}; '
    "a trace needs scenario="
)


def refuse_unknown(unknown: Mapping[str, Any], known: Sequence[str], render_mode: str | None = None) -> None:
    """Raise `InputError` for arguments that an environment has not, and for a mode of rendering."""
    if render_mode is not None:
        raise InputError(
            f"render_mode={render_mode!r}: expected None: nothing is rendered; `cwndlab run` draws a scenario"
        )
    for name in unknown:
        if name in INSTEAD:
            raise InputError(f"{name}=: {INSTEAD[name]}")
        raise InputError(f"{name}=: expected one of {', '.join(known)}, found {name}; {OF_A_SCENARIO}")


def refuse_options(options: Mapping[str, Any] | None) -> None:
    """Raise `InputError` for options, which `reset` would ignore."""
    if options:
        raise InputError(
            f"options={dict(options)!r}: expected no options; use scenario= and overrides= of the environment"
        )
