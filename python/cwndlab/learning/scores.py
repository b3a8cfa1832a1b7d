"""Compares agents and algorithms in the same episodes, to separate learning from luck."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cwndlab.engine import Engine, in_use
from cwndlab.errors import ArgumentError, CwndlabError
from cwndlab.learning import course as courses
from cwndlab.scenarios.seeds import listed
from cwndlab.statistics.measure import Measure, measure, paired_difference
from cwndlab.system.arguments import BYTES, checked, optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cwndlab._native import EnvironmentCourse, Policy
    from cwndlab.scenarios.source import Overrides, Source

# Controls and algorithms that replace the agent.
ALGORITHMS = ("constant", "cubic", "bbr3")
RANDOM = "random"
# Agents that always take the same action. Only the one with the largest reward is reported.
ALWAYS = "always"
TRAINED = "trained"


@dataclass(frozen=True)
class Score:
    """The results of one controller over the seeds."""

    name: str
    # The mean reward with each seed, in their order.
    rewards: tuple[float | None, ...]
    goodput_mbps: Measure
    rtt_ms: Measure
    # Goodput divided by the rate of the link, and mean RTT divided by that of the empty link. No values with
    # a scenario of the user's own, which may have many links.
    goodput_share: Measure
    rtt_ratio: Measure
    retransmitted_share: Measure
    # For agents only: algorithms get no rewards.
    mean_reward: Measure

    def more_reward(self, other: Score) -> Measure:
        """Return the mean reward of this less that of another, paired by seed."""
        return paired_difference(self.rewards, other.rewards)

    def to_json(self) -> dict[str, Any]:
        """Return the name, then each measure by its name, for JSON."""
        measures = {name: value for name, value in vars(self).items() if isinstance(value, Measure)}
        return {"name": self.name, **{name: value.to_json() for name, value in measures.items()}}


@dataclass(frozen=True)
class _Played:
    outcome: dict[str, Any]
    mean_reward: float | None = None


@checked(weights=optional(BYTES))
def score(
    environment: str,
    seeds: Sequence[int],
    weights: bytes | None = None,
    overrides: Overrides | None = None,
    watch: Callable[[float], None] = lambda _: None,
    *,
    scenario: Source | None = None,
    flow: str | None = None,
    backend: str = "sim",
) -> list[Score]:
    """Play the episodes of these seeds with algorithms, untrained agents and a trained one.

    Episodes have drawn links, or are those of `scenario`, whose flow `flow` is steered (default: the first).
    `weights` (a safetensors file) are those of the trained agent. Of the agents that always take the same
    action, only the best is returned. `watch` gets the share done, 0 to 1. With `backend="linux"` all of them
    drive Linux's own TCP. Raises `InputError` if an argument is wrong, and `CwndlabError` if a run fails.
    """
    seeds = listed(seeds)
    engine = in_use()
    steered = courses.named(flow)
    course = courses.course(engine, environment, scenario, steered, overrides, backend=backend)
    _, actions = course.spaces
    stubborn = {
        f"{ALWAYS} {action}": _agent(engine, course, partial(_same, action)) for action in range(actions)
    }
    players = (
        {name: _algorithm(course, name) for name in ALGORITHMS} | {RANDOM: _random(engine, course)} | stubborn
    )
    if weights is not None:
        players[TRAINED] = _agent(engine, course, _policy(engine, course, weights))
    played = {}
    for name, play in players.items():
        try:
            played[name] = [play(seed) for seed in seeds]
        except RuntimeError as error:
            raise CwndlabError(str(error)) from None
        watch(len(played) / len(players))
    # A flow without a name is called after its algorithm, so only its place is the same for all players.
    names = [sender["name"] for sender in _senders(played[RANDOM][0].outcome["flows"])]
    place = names.index(course.agents[0])
    scores = {}
    for name, episodes in played.items():
        rows = [_row(course, seed, place, each) for seed, each in zip(seeds, episodes, strict=True)]
        columns = list(zip(*rows, strict=True))
        scores[name] = Score(name, columns[-1], *map(measure, columns))
    best = max(stubborn, key=lambda name: scores[name].mean_reward.mean or 0.0)
    return [score for name, score in scores.items() if name not in stubborn or name == best]


def _policy(engine: Engine, course: EnvironmentCourse, weights: bytes) -> Policy:
    """Return the network of a file. Raises `ArgumentError` if it belongs to another environment."""
    try:
        policy = engine.Policy(weights)
    except ValueError as error:
        raise ArgumentError("weights", str(error)) from None
    _, actions = course.spaces
    if course.inputs is None:
        why = "running normalisation cannot be used with saved weights; choose another `state`"
        raise ArgumentError("weights", why)
    if policy.inputs != course.inputs:
        why = f"expected a network with the inputs `{course.inputs}`, found `{policy.inputs}`"
        raise ArgumentError("weights", why)
    if policy.actions != actions:
        raise ArgumentError("weights", f"expected a network of {actions} actions, found {policy.actions}")
    return policy


def _algorithm(course: EnvironmentCourse, name: str) -> Callable[[int], _Played]:
    return lambda seed: _Played(json.loads(course.with_algorithm(seed, name)))


def _same(action: int, _: Any) -> int:
    return action


def _random(engine: Engine, course: EnvironmentCourse) -> Callable[[int], _Played]:
    import numpy as np

    _, actions = course.spaces

    def play(seed: int) -> _Played:
        generator = np.random.default_rng(seed)
        return _agent(engine, course, lambda _: int(generator.integers(actions)))(seed)

    return play


def _agent(
    engine: Engine, course: EnvironmentCourse, choose: Callable[[Any], int]
) -> Callable[[int], _Played]:
    episodes = engine.Episodes(course)

    def rewards(seed: int) -> Iterator[float]:
        seen, _, terminated, truncated, _ = episodes.reset(seed)
        while not (terminated or truncated):
            seen, reward, terminated, truncated, _ = episodes.step(choose(seen))
            yield reward

    def play(seed: int) -> _Played:
        got = list(rewards(seed))
        return _Played(json.loads(episodes.finish()), sum(got) / len(got))

    return play


def _row(course: EnvironmentCourse, seed: int, place: int, played: _Played) -> tuple[float | None, ...]:
    """Return the values of the steered flow: the one in this place."""
    link = dict(course.link(seed))
    flow = list(_senders(played.outcome["flows"]))[place]
    goodput_mbps, rtt_ms, sent = flow["goodput_mbps"], flow["rtt_ms"], flow["sent_packets"]
    return (
        goodput_mbps,
        rtt_ms,
        _share(goodput_mbps, link.get("link_rate_mbps")),
        _share(rtt_ms, link.get("link_rtt_ms")),
        _share(flow["retransmitted_packets"], sent),
        played.mean_reward,
    )


def _senders(flows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield flows and subflows: an agent steers either."""
    for flow in flows:
        yield flow
        yield from flow.get("subflows", ())


def _share(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else value / whole
