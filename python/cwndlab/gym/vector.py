"""Many environments that step together, on all cores."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

from cwndlab.engine import in_use
from cwndlab.errors import CwndlabError, InputError
from cwndlab.learning import course as courses
from cwndlab.system.arguments import WHOLE, Kind, is_whole, optional, require
from cwndlab.system.threads import checked_threads
from cwndlab.system.wording import in_arguments

try:
    import numpy as np
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

    from cwndlab.gym.actions import checked_all
    from cwndlab.gym.spaces import action_space, observation_space
except ModuleNotFoundError:
    raise CwndlabError(courses.GYM) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cwndlab.scenarios.source import Overrides, Source

    Turns = tuple[
        NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]
    ]


class FlowVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` copies of one environment. The simulations run in threads without Python's lock.

    An environment whose episode has ended begins a new one at the next step (`AutoresetMode.NEXT_STEP`): that
    step's action is ignored and its reward is 0.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    render_mode = None

    @in_arguments
    def __init__(
        self,
        environment: str,
        num_envs: int = 1,
        scenario: Source | None = None,
        flow: str | None = None,
        overrides: Overrides | None = None,
        threads: int | None = None,
        backend: str = "sim",
        *,
        render_mode: str | None = None,
        **unknown: Any,
    ) -> None:
        """Make `num_envs` environments of this name, with the arguments of `FlowEnv`.

        `threads` is the number of threads (default: all cores). With `backend="linux"` each environment is a
        kernel of its own. Raises `InputError` if an argument is wrong or `unknown`, or if that kernel has not
        been built.
        """
        courses.refuse_unknown(unknown, ("scenario", "flow", "overrides", "threads", "backend"), render_mode)
        require("num_envs", num_envs, WHOLE)
        require("threads", threads, optional(WHOLE))
        if num_envs < 1:
            raise InputError(f"num_envs={num_envs}: expected at least 1")
        threads = checked_threads(threads)
        engine = in_use()
        steered = courses.named(flow)
        course = courses.course(engine, environment, scenario, steered, overrides, backend=backend)
        self.num_envs = num_envs
        self.single_observation_space = observation_space(course)
        self.single_action_space = action_space(course)
        self._actions = int(action_space(course).n)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._fleet = engine.EpisodeFleet(course, num_envs, threads)
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode in each. A single seed is for the first environment; the others get the next ones.

        Raises `InputError` for options, and if a seed is out of range or their number is wrong.
        """
        courses.refuse_options(options)
        seen, _, _, _, info = self._fleet.reset(self._seeds(seed))
        return seen, _masked(info)

    def step(self, actions: NDArray[np.int64]) -> Turns:
        """Act in each, and simulate to its next decision. Raises `InputError` for wrong actions.

        Returns arrays of observations, rewards, terminated and truncated, then the information.
        """
        chosen = checked_all(actions, self.num_envs, self._actions)
        seen, rewards, terminated, truncated, info = self._fleet.step(chosen)
        return seen, rewards, terminated, truncated, _masked(info)

    def close_extras(self, **_: Any) -> None:
        """End the episodes, and in Linux their kernels."""
        # Gymnasium also closes what could not be made.
        if hasattr(self, "_fleet"):
            self._fleet.close()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None and not self._seeded:
            # The generator of a vector environment seeds itself from the system.
            seed = int(self.np_random.integers(2**62))
        self._seeded = True
        if seed is None:
            return [None] * self.num_envs
        require("seed", seed, WHOLE | Kind("a list of seeds", lambda value: isinstance(value, Collection)))
        if is_whole(seed):
            seed = int(cast("int", seed))
        if not isinstance(seed, int):
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise InputError(f"seed: expected {self.num_envs} seeds, found {len(seeds)}")
            return [None if each is None else courses.checked_seed(each) for each in seeds]
        seeds = [courses.checked_seed(seed + place) for place in range(self.num_envs)]
        self._np_random, self._np_random_seed = np.random.default_rng(seed), seed
        return seeds

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a copy. Without seeds yet, both get the same ones."""
        self.np_random  # noqa: B018 (draws one from the system)
        return self.__dict__


def _masked(info: dict[str, Any]) -> dict[str, Any]:
    """Add Gymnasium's mask to each value: the environments that have it, which are all."""
    masks = {f"_{name}": np.ones(len(values), dtype=bool) for name, values in info.items()}
    return info | masks
