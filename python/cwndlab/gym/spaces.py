"""The spaces of an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from cwndlab._native import EnvironmentCourse

# Not a bound of the quantities: observations are scaled to about 1, but may have any size.
LIMIT = float(np.finfo(np.float32).max)


def observation_space(course: EnvironmentCourse) -> spaces.Box:
    """Return the space of observations: one float32 per observed quantity."""
    length, _ = course.spaces
    return spaces.Box(-LIMIT, LIMIT, (length,), np.float32)


def action_space(course: EnvironmentCourse) -> spaces.Discrete:
    """Return the space of actions: integers from 0."""
    _, actions = course.spaces
    return spaces.Discrete(actions)
