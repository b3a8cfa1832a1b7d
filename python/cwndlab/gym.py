"""Environments for agents that learn; to import this tells Gymnasium of them.

>>> import gymnasium
>>> import cwndlab.gym
>>> env = gymnasium.make("cwndlab/DqnCubic-v0")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab import catalogue
from cwndlab._native import Policy
from cwndlab.environments import course
from cwndlab.environments.scores import score
from cwndlab.environments.training import train
from cwndlab.errors import CwndlabError

try:
    import gymnasium
except ModuleNotFoundError:
    raise CwndlabError(course.GYM) from None

from cwndlab.environments.single import FlowEnv
from cwndlab.environments.vector import FlowVectorEnv

if TYPE_CHECKING:
    from cwndlab.environments.multi import FlowsEnv

__all__ = ["FlowEnv", "FlowVectorEnv", "FlowsEnv", "Policy", "score", "train"]


def __getattr__(name: str) -> Any:
    """PettingZoo is asked for by those who need it only."""
    if name == "FlowsEnv":
        from cwndlab.environments.multi import FlowsEnv

        return FlowsEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


for _entry in catalogue.read()["environments"]:
    gymnasium.register(
        _entry["name"],
        entry_point="cwndlab.environments.single:FlowEnv",
        vector_entry_point="cwndlab.environments.vector:FlowVectorEnv",
        kwargs={"environment": _entry["name"]},
    )
