"""Copies and pickles of environments: what one was made from, and what was done in its episode.

The simulation itself is not copied. A copy is made from the same arguments and plays the episode again,
action by action: a simulation repeats itself to the bit.
"""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, TypeVar

from cwndlab import _native
from cwndlab.engine.origins import known, origin
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cwndlab._native import CourseArguments, Standing

S = TypeVar("S")


def made(arguments: CourseArguments) -> _native.EnvironmentCourse:
    """Make a course with the controllers of this process."""
    controllers = [(one.name, one.code_sha256) for one in map(origin, known())]
    try:
        return _native.EnvironmentCourse(arguments, controllers)
    except ValueError as error:
        raise InputError(str(error)) from None


def _course(arguments: CourseArguments, hashes: list[tuple[str, str]]) -> _native.EnvironmentCourse:
    course = made(arguments)
    for name, _ in set(hashes) ^ set(course.hashes):
        raise InputError(f"{name}: has changed since the environment was made; it cannot be copied")
    return course


def _episodes(course: _native.EnvironmentCourse, standing: Standing) -> _native.Episodes:
    episodes = _native.Episodes(course)
    _play_again(episodes.go_to, standing)
    return episodes


def _fleet(
    course: _native.EnvironmentCourse, threads: int | None, standing: list[Standing]
) -> _native.EpisodeFleet:
    fleet = _native.EpisodeFleet(course, len(standing), threads)
    _play_again(fleet.go_to, standing)
    return fleet


def _play_again(go_to: Callable[[S], None], standing: S) -> None:
    try:
        go_to(standing)
    except ValueError as error:
        raise InputError(f"an environment cannot be copied: {error}") from None


copyreg.pickle(_native.EnvironmentCourse, lambda course: (_course, (course.arguments, course.hashes)))
copyreg.pickle(_native.Episodes, lambda episodes: (_episodes, (episodes.course, episodes.standing)))
copyreg.pickle(_native.EpisodeFleet, lambda fleet: (_fleet, (fleet.course, fleet.threads, fleet.standing)))
