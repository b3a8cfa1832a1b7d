"""Several flows on one network, each steered by its own agent."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from cwndlab.engine import in_use
from cwndlab.errors import ArgumentError, CwndlabError
from cwndlab.learning import course as courses
from cwndlab.system.arguments import TEXTS, WHOLE, optional, require
from cwndlab.system.wording import in_arguments

try:
    import numpy as np
    from pettingzoo import AECEnv

    from cwndlab.gym.actions import checked
    from cwndlab.gym.spaces import action_space, observation_space
except ModuleNotFoundError:
    raise CwndlabError(courses.PETTINGZOO) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium import spaces
    from numpy.typing import NDArray

    from cwndlab.scenarios.source import Overrides, Source


# The flows of a drawn link if no number is given, and the most that a scenario may have.
DRAWN = 2
MOST = 1_000_000


class FlowsEnv(AECEnv):  # type: ignore[misc,type-arg,unused-ignore]
    """Flows that decide in the order in which their ACKs arrive: PettingZoo's agent-environment cycle.

    The reward of an agent covers the time since its own last decision.
    """

    metadata = {"name": "cwndlab_flows_v0", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012
    render_mode = None

    @in_arguments
    def __init__(
        self,
        environment: str,
        flows: int | Sequence[str] | None = None,
        scenario: Source | None = None,
        overrides: Overrides | None = None,
        backend: str = "sim",
        *,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        """Make the environment of this name for several flows.

        `flows` equal flows (default: 2) share a link that each episode draws from its seed. With `scenario`
        (a path, text or dictionary), `flows` are the names of the steered flows. `overrides` and `backend`
        are those of `FlowEnv`. Nothing is rendered: `render_mode` is None. Raises `InputError` if an argument
        is wrong or `unknown`, or if the kernel of the backend has not been built.
        """
        super().__init__()
        courses.refuse_unknown(unknown, ("flows", "scenario", "overrides", "backend"), render_mode)
        named, count = _named(flows, scenario), _counted(flows, scenario)
        engine = in_use()
        self.course = courses.course(engine, environment, scenario, named, overrides, count, backend)
        self.possible_agents = self.course.agents
        self._observation_space = observation_space(self.course)
        self._action_space = action_space(self.course)
        self._actions = int(self._action_space.n)
        self._episodes = engine.Episodes(self.course)
        # The seed of the first episode if none is given. It also decides the seeds of the following episodes.
        self._seed: int | None = secrets.randbits(63)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of observations, which is the same for all agents."""
        del agent
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of actions, which is the same for all agents."""
        del agent
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. The seed decides everything random, in this episode and those after it.

        Raises `InputError` if the seed is out of range.
        """
        # PettingZoo's own tests pass options, which have no effect.
        del options
        seed = self._seed if seed is None else courses.checked_seed(seed)
        self._seed = None
        seen, _, _, _, info = self._episodes.reset(seed)
        self.agents = list(self.possible_agents)
        nothing = np.zeros_like(seen)
        self._seen: dict[str, NDArray[np.float32]] = dict.fromkeys(self.agents, nothing)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._turn_of(self.possible_agents[self._episodes.turn], seen, info)

    def observe(self, agent: str) -> NDArray[np.float32]:
        """Return the agent's observation at its last decision, or at the end."""
        return self._seen[agent]

    def step(self, action: np.int64 | int | None) -> None:
        """Act for the agent whose turn it is, and simulate to the next decision of any agent.

        Raises `InputError` for a wrong action, and `RuntimeError` before the first `reset`.
        """
        if not hasattr(self, "agent_selection"):
            raise RuntimeError("there is no episode yet: call reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen = checked(action, self._actions, f" of {agent}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        seen, reward, terminated, truncated, info = self._episodes.step(chosen)
        turn = self.possible_agents[self._episodes.turn]
        self.rewards[turn] = reward
        self._turn_of(turn, seen, info)
        if terminated or truncated:
            self._end(turn, terminated=terminated, truncated=truncated)
        self._accumulate_rewards()

    def render(self) -> None:
        """Do nothing: there is nothing to draw."""

    def close(self) -> None:
        """End the episode, and in Linux its kernel."""
        self._episodes.close()

    def _turn_of(self, agent: str, seen: NDArray[np.float32], info: dict[str, Any]) -> None:
        self.agent_selection = agent
        self._seen[agent] = seen
        self.infos[agent] = info

    def _end(self, turn: str, *, terminated: bool, truncated: bool) -> None:
        """End the episode for all agents. The agent of this turn already has its last observation."""
        for place, agent in enumerate(self.possible_agents):
            self.terminations[agent] = terminated
            self.truncations[agent] = truncated
            if agent != turn:
                self._seen[agent], self.rewards[agent], _, _, self.infos[agent] = self._episodes.last(place)
        self.agent_selection = self.agents[0]


def _named(flows: int | Sequence[str] | None, scenario: Source | None) -> list[str]:
    """Return the names of the steered flows, which a scenario needs and a drawn link has not."""
    if scenario is None:
        return []
    require("flows", flows, replace(TEXTS, words="a list of names of the scenario's flows"))
    named = list(cast("Sequence[str]", flows))
    if not named or len(set(named)) < len(named):
        raise ArgumentError("flows", f"expected names of different flows of the scenario, found {named}")
    return named


def _counted(flows: int | Sequence[str] | None, scenario: Source | None) -> int:
    """Return the number of flows on a drawn link."""
    if scenario is not None:
        return 1
    require("flows", flows, optional(WHOLE))
    count = DRAWN if flows is None else int(cast("int", flows))
    if not 1 <= count <= MOST:
        raise ArgumentError("flows", f"expected 1 to {MOST} without a scenario, found {count}")
    return count
