"""Makes the course of an environment, which makes its episodes, and checks the arguments of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.errors import ArgumentError, InputError
from cwndlab.learning import copies
from cwndlab.learning.asking import refuse_silent
from cwndlab.scenarios.overwritten import require_own_set_once
from cwndlab.scenarios.seeds import MAX_SEED
from cwndlab.scenarios.source import loaded, written_overrides
from cwndlab.system.arguments import DICTIONARY, SOURCE, TEXT, WHOLE, checked, optional, require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cwndlab._native import EnvironmentCourse
    from cwndlab.engine import Engine
    from cwndlab.scenarios.source import Overrides, Source

GYM = "gymnasium is missing: pip install 'cwndlab[gym]'"
PETTINGZOO = "pettingzoo is missing: pip install 'cwndlab[multi]'"


@checked(environment=TEXT, scenario=optional(SOURCE), backend=TEXT)
def course(
    engine: Engine,
    environment: str,
    scenario: Source | None,
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
    if scenario is None and steered:
        raise ArgumentError(
            f"flow={steered[0]!r}", "only flows of a scenario have names; expected a scenario too"
        )
    found = None if scenario is None else loaded(scenario)
    if found is not None:
        require_own_set_once(found.overridden(*changes))
    world = None if found is None else (found.text, found.file, list(steered))
    try:
        made = copies.made(engine, (environment, world, flows, changes, backend))
    except InputError as error:
        raise _of_flow(error, steered) or error from None
    refuse_silent(engine, environment, found, made.agents, changes)
    return made


def named(flow: str | None) -> list[str]:
    """Return the names of the steered flows: that of this one, or none for the first."""
    require("flow", flow, optional(TEXT))
    return [] if flow is None else [flow]


def _of_flow(error: InputError, steered: Sequence[str]) -> ArgumentError | None:
    """Return the error for a flow that the scenario has not, if this is one."""
    _, sign, known = str(error).partition(": expected one of ")
    missing = next((name for name in steered if known.endswith(f", found `{name}`")), None)
    if not sign or missing is None:
        return None
    known = known.removesuffix(f", found `{missing}`")
    return ArgumentError(f"flow={missing!r}", f"no such flow; expected one of {known}")


def checked_seed(seed: int) -> int:
    """Return the seed. Raises `InputError` if it is no whole number, or out of range."""
    require("seed", seed, WHOLE)
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
    require("options", options, optional(DICTIONARY))
    if options:
        raise InputError(
            f"options={dict(options)!r}: expected no options; use scenario= and overrides= of the environment"
        )
