"""Copies and pickles environments by their arguments and the actions of the current episode.

The simulation itself is not copied. A copy is made from the same arguments and replays the episode action by
action, with bit-identical results.
"""

from __future__ import annotations

import copyreg
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from cwndlab.errors import InputError, ReportedError
from cwndlab.linux.backend import Linux, engine_of
from cwndlab.linux.episodes import Playing

if TYPE_CHECKING:
    from collections.abc import Callable

    from cwndlab._native import CourseArguments, EnvironmentCourse, EpisodeFleet, Episodes, Standing
    from cwndlab.engine import Engine

    # What starts kernels, whether they have the crate of the engine, and their name with its hash.
    Kernels = tuple[Callable[..., Playing], bool, tuple[str, str]]

S = TypeVar("S")


def made(engine: Engine, arguments: CourseArguments) -> EnvironmentCourse:
    """Make a course with the controllers of this process.

    Raises `InputError` if the arguments are wrong, or if a kernel is needed and none has been built.
    """
    _make_copyable(engine)
    controllers = [(one.name, one.code_sha256) for one in engine.origins()]
    backend = engine_of(arguments[-1], engine)
    try:
        return engine.EnvironmentCourse(arguments, controllers, _kernels(backend))
    except ValueError as error:
        raise ReportedError(str(error)) from None


def _kernels(backend: Engine) -> Kernels | None:
    """Return the kernels of a backend, if it has some."""
    if not isinstance(backend, Linux) or backend.kernel is None:
        return None
    image = backend.kernel
    return partial(Playing, image), backend.linked, (f"the kernel (Linux {image.version})", image.sha256)


@cache
def _make_copyable(engine: Engine) -> None:
    """Register how to copy the types of an engine."""
    copyreg.pickle(
        engine.EnvironmentCourse, lambda course: (_course, (engine, course.arguments, course.hashes))
    )
    copyreg.pickle(
        engine.Episodes, lambda episodes: (_episodes, (engine, episodes.course, episodes.standing))
    )
    copyreg.pickle(
        engine.EpisodeFleet, lambda fleet: (_fleet, (engine, fleet.course, fleet.threads, fleet.standing))
    )


def _course(engine: Engine, arguments: CourseArguments, hashes: list[tuple[str, str]]) -> EnvironmentCourse:
    course = made(engine, arguments)
    for name, _ in set(hashes) ^ set(course.hashes):
        raise InputError(f"{name}: has changed since the environment was made; it cannot be copied")
    return course


def _episodes(engine: Engine, course: EnvironmentCourse, standing: Standing) -> Episodes:
    episodes = engine.Episodes(course)
    _play_again(episodes.go_to, standing)
    return episodes


def _fleet(
    engine: Engine, course: EnvironmentCourse, threads: int | None, standing: list[Standing]
) -> EpisodeFleet:
    fleet = engine.EpisodeFleet(course, len(standing), threads)
    _play_again(fleet.go_to, standing)
    return fleet


def _play_again(go_to: Callable[[S], None], standing: S) -> None:
    try:
        go_to(standing)
    except ValueError as error:
        raise InputError(f"an environment cannot be copied: {error}") from None
