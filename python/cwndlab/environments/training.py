"""A DQN of this laboratory that learns in an environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwndlab import _native
from cwndlab.environments import course as courses
from cwndlab.errors import CwndlabError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cwndlab.environments.course import Overrides, Source

# Decisions between two looks at whether to stop: a fraction of a second.
SLICE = 500


@dataclass(frozen=True)
class Episode:
    """One that was played to its end."""

    seed: int
    decisions: int
    mean_reward: float


@dataclass
class Training:
    """What was learned, and on the way."""

    environment: str
    seed: int
    decisions: int = 0
    interrupted: bool = False
    episodes: list[Episode] = field(default_factory=list)
    # A safetensors file.
    weights: bytes = b""

    def to_json(self) -> dict[str, Any]:
        """All but the weights."""
        from dataclasses import asdict

        from cwndlab.manifest import builder

        return {
            "schema": 1,
            "environment": self.environment,
            "seed": self.seed,
            "decisions": self.decisions,
            "interrupted": self.interrupted,
            "episodes": [asdict(episode) for episode in self.episodes],
            "manifest": builder([self.seed]),
        }


def train(
    environment: str,
    decisions: int,
    seed: int = 1,
    scenario: Source | None = None,
    flow: str | None = None,
    overrides: Overrides | None = None,
    weights: bytes | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> Training:
    """Learn from so many decisions, over as many episodes as they make; Ctrl-C ends it with what was learned.

    The learner has the parameters of the environment's algorithm, `overrides` such as `flow.0.cc.gamma` over
    them. It begins with random weights, or with `weights` (a safetensors file); what else an earlier training
    had, its ring of experiences and Adam's moments, begins anew.
    """
    if decisions < 1:
        raise InputError(f"{decisions} decisions: expected at least 1")
    course = courses.course(environment, scenario, [flow] if flow else [], overrides)
    try:
        trainer = _native.Trainer(course, courses.checked_seed(seed), weights)
    except ValueError as error:
        raise InputError(f"{environment}: {error}") from None
    training = Training(environment, seed)
    try:
        while training.decisions < decisions:
            count = min(SLICE, decisions - training.decisions)
            training.episodes += [Episode(*episode) for episode in trainer.train(count)]
            training.decisions += count
            watch(training.decisions / decisions)
    except KeyboardInterrupt:
        training.interrupted = True
    except RuntimeError as error:
        raise CwndlabError(str(error)) from None
    training.weights = trainer.weights()
    return training
