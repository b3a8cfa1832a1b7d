"""Environments for learning agents. Importing this module registers them with Gymnasium.

>>> import gymnasium
>>> import cwndlab.gym
>>> env = gymnasium.make("cwndlab/DqnCubic-v0")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.engine import in_use
from cwndlab.errors import CwndlabError
from cwndlab.learning import course
from cwndlab.learning.scores import score
from cwndlab.learning.training import train

try:
    import gymnasium
except ModuleNotFoundError:
    raise CwndlabError(course.GYM) from None

from cwndlab.gym.single import FlowEnv
from cwndlab.gym.vector import FlowVectorEnv

if TYPE_CHECKING:
    from cwndlab._native import Policy
    from cwndlab.gym.multi import FlowsEnv

__all__ = ["FlowEnv", "FlowVectorEnv", "FlowsEnv", "Policy", "score", "train"]


def __getattr__(name: str) -> Any:
    """Return `Policy` of the engine in use, or `FlowsEnv`, which imports PettingZoo only when it is used."""
    if name == "Policy":
        return in_use().Policy
    if name == "FlowsEnv":
        from cwndlab.gym.multi import FlowsEnv

        return FlowsEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


for _entry in in_use().read_catalogue()["environments"]:
    gymnasium.register(
        _entry["name"],
        entry_point="cwndlab.gym.single:FlowEnv",
        vector_entry_point="cwndlab.gym.vector:FlowVectorEnv",
        kwargs={"environment": _entry["name"]},
    )
