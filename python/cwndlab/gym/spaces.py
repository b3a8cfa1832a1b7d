"""The spaces of an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from cwndlab._native import EnvironmentCourse

# No bound of the quantities themselves: what is seen is brought to about 1, and may be any number.
LIMIT = float(np.finfo(np.float32).max)


def observation_space(course: EnvironmentCourse) -> spaces.Box:
    """Give the numbers that an agent sees."""
    length, _ = course.spaces
    return spaces.Box(-LIMIT, LIMIT, (length,), np.float32)


def action_space(course: EnvironmentCourse) -> spaces.Discrete:
    """Give the actions that an agent has."""
    _, actions = course.spaces
    return spaces.Discrete(actions)
