"""Trains a DQN of this laboratory in an environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwndlab.engine import Engine, in_use
from cwndlab.errors import ArgumentError, CwndlabError, InputError
from cwndlab.learning import course as courses
from cwndlab.linux.backend import engine_of
from cwndlab.system.arguments import BYTES, WHOLE, checked, optional
from cwndlab.system.wording import in_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from cwndlab._native import EnvironmentCourse, Trainer
    from cwndlab.scenarios.source import Overrides, Source

# Decisions between two checks for Ctrl-C: a fraction of a second.
SLICE = 500


@dataclass(frozen=True)
class Episode:
    """A finished episode."""

    seed: int
    decisions: int
    mean_reward: float


@dataclass
class Training:
    """The result of a training: its weights, checkpoint and episodes."""

    environment: str
    seed: int
    engine: Engine
    decisions: int = 0
    interrupted: bool = False
    episodes: list[Episode] = field(default_factory=list)
    # Decisions before this training, if it continued from a checkpoint.
    decisions_before: int = 0
    # Safetensors files: the learned weights, and the state from which another training can continue.
    weights: bytes = b""
    checkpoint: bytes = b""

    def to_json(self) -> dict[str, Any]:
        """Return everything except the files, for JSON."""
        from dataclasses import asdict

        from cwndlab.results.manifest import builder

        return {
            "schema": 1,
            "environment": self.environment,
            "backend": self.engine.backend,
            "seed": self.seed,
            "decisions": self.decisions,
            "decisions_before": self.decisions_before,
            "interrupted": self.interrupted,
            "episodes": [asdict(episode) for episode in self.episodes],
            "manifest": builder([self.seed], self.engine),
        }


@in_arguments
@checked(decisions=WHOLE, weights=optional(BYTES), checkpoint=optional(BYTES))
def train(
    environment: str,
    decisions: int,
    seed: int = 1,
    scenario: Source | None = None,
    flow: str | None = None,
    overrides: Overrides | None = None,
    weights: bytes | None = None,
    checkpoint: bytes | None = None,
    watch: Callable[[float], None] = lambda _: None,
    *,
    backend: str = "sim",
) -> Training:
    """Train for `decisions` decisions, over as many episodes as needed. Ctrl-C ends it early.

    The learner has the parameters of the environment's algorithm, which `overrides` such as `flow.0.cc.gamma`
    can change. It begins with random weights or with `weights` (a safetensors file), or continues from the
    `checkpoint` of an earlier training with the same settings, as if that had not ended. `watch` gets the
    share done, 0 to 1. With `backend="linux"` the flow is one of Linux's own TCP. Raises `InputError` if an
    argument is wrong, and `CwndlabError` if the training fails.
    """
    if decisions < 1:
        raise InputError(f"{decisions} decisions: expected at least 1")
    learner = begun(environment, seed, scenario, flow, overrides, weights, checkpoint, backend=backend)
    return learner.learn(decisions, watch)


@dataclass(frozen=True)
class Learner:
    """A training whose arguments are right, before its first decision."""

    environment: str
    seed: int
    engine: Engine
    trainer: Trainer

    def learn(self, decisions: int, watch: Callable[[float], None]) -> Training:
        """Train for this many decisions. `watch` gets the share done."""
        trainer = self.trainer
        training = Training(self.environment, self.seed, self.engine, decisions_before=trainer.decisions)
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
        training.checkpoint = trainer.checkpoint()
        return training


def begun(
    environment: str,
    seed: int,
    scenario: Source | None,
    flow: str | None,
    overrides: Overrides | None,
    weights: bytes | None,
    checkpoint: bytes | None,
    *,
    backend: str,
) -> Learner:
    """Check the arguments of `train` and return what learns. Raises `InputError` if one is wrong."""
    if weights is not None and checkpoint is not None:
        raise InputError("weights and checkpoint: expected one of the two")
    engine = in_use()
    steered = courses.named(flow)
    course = courses.course(engine, environment, scenario, steered, overrides, backend=backend)
    courses.checked_seed(seed)
    trainer = _trainer(engine, course, seed, weights, checkpoint)
    return Learner(environment, seed, engine_of(backend, engine), trainer)


def _trainer(
    engine: Engine, course: EnvironmentCourse, seed: int, weights: bytes | None, checkpoint: bytes | None
) -> Trainer:
    """Return what trains. Raises `ArgumentError` if a file does not fit the environment."""
    try:
        if checkpoint is not None:
            return engine.Trainer.resumed(course, seed, checkpoint)
        return engine.Trainer(course, seed, weights)
    except ValueError as error:
        if checkpoint is None and weights is None:
            raise InputError(f"{course.arguments[0]}: {error}") from None
        raise ArgumentError("weights" if checkpoint is None else "checkpoint", str(error)) from None
