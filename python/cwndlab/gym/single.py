"""One flow, steered by one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import in_use
from cwndlab.errors import CwndlabError, InputError
from cwndlab.learning import course as courses
from cwndlab.system.wording import in_arguments

try:
    import gymnasium

    from cwndlab.gym.actions import checked
    from cwndlab.gym.spaces import action_space, observation_space
except ModuleNotFoundError:
    raise CwndlabError(courses.GYM) from None

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cwndlab.scenarios.source import Overrides, Source

    Observation = NDArray[np.float32]


class FlowEnv(gymnasium.Env[Any, Any]):
    """A flow of a simulated network whose congestion control waits for this agent at each decision."""

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's)
    render_mode = None

    @in_arguments
    def __init__(
        self,
        environment: str,
        scenario: Source | None = None,
        flow: str | None = None,
        overrides: Overrides | None = None,
        backend: str = "sim",
        *,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        """Make the environment of this name; `cwndlab list environments` lists them.

        Each episode draws a link from its seed, unless `scenario` is given (a path, text or dictionary);
        `flow` then names the steered flow (default: the first). `overrides` maps keys such as
        `flow.0.decision_delay` to values, as for `cwndlab.run`. With `backend="linux"` the flow is one of
        Linux's own TCP, and each episode is a kernel of its own, whose virtual time stands still while the
        agent decides. Nothing is rendered: `render_mode` is None. Raises `InputError` if an argument is wrong
        or `unknown`, or if that kernel has not been built.
        """
        courses.refuse_unknown(unknown, ("scenario", "flow", "overrides", "backend"), render_mode)
        engine = in_use()
        steered = courses.named(flow)
        self.course = courses.course(engine, environment, scenario, steered, overrides, backend=backend)
        if len(self.course.agents) != 1:
            named = ", ".join(self.course.agents)
            raise InputError(f"{environment}: one agent cannot steer {named}; name one flow, or use FlowsEnv")
        self.observation_space = observation_space(self.course)
        self.action_space = action_space(self.course)
        self._actions = int(self.action_space.n)
        self._episodes = engine.Episodes(self.course)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode. The seed decides everything random, in this episode and those after it.

        Returns the observation and its information. Raises `InputError` for options, and if the seed is out
        of range.
        """
        courses.refuse_options(options)
        super().reset(seed=None if seed is None else courses.checked_seed(seed))
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        self._seeded = True
        observation, _, _, _, info = self._episodes.reset(
            None if seed is None else courses.checked_seed(seed)
        )
        return observation, self._described(info)

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act, and simulate to the next decision. Raises `InputError` for a wrong action.

        Returns observation, reward, terminated, truncated and information, as Gymnasium defines them.
        """
        return self._episodes.step(checked(action, self._actions))

    @property
    def inputs(self) -> str | None:
        """The observed quantities and their scaling, as named in weights for use in a scenario."""
        return self.course.inputs

    def outcome(self) -> dict[str, Any]:
        """End the episode and return its measures, in the form of one seed of `cwndlab run --json`.

        Raises `RuntimeError` if there is no episode, and in Linux if it is not over: its measures are those
        of the whole run.
        """
        import json

        measured: dict[str, Any] = json.loads(self._episodes.finish())
        return measured

    def close(self) -> None:
        """End the episode, and in Linux its kernel."""
        self._episodes.close()

    def _described(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return the information with the seed of the episode and the properties of its link."""
        return {**info, "seed": self._episodes.seed, **dict(self._episodes.link)}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy. Without a seed yet, both get the same one."""
        self.np_random  # noqa: B018 (draws one from the system)
        return self.__dict__
