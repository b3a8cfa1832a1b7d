"""Plans papers and runs them again."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from cwndlab.papers.contents.asked import check
from cwndlab.papers.contents.backends import SIM, on_backend
from cwndlab.papers.contents.readings import Reading, readings
from cwndlab.papers.explaining.explanation import Explanation, explain
from cwndlab.papers.reading import library
from cwndlab.papers.reproducing.course import Course, InterruptedSearchError
from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction
from cwndlab.running.cache import default_folder, prune

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from cwndlab.papers.judging.evaluation import Evaluated


def plan(
    names: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
    full: bool,
    defaults_only: bool = False,
    asked: Sequence[str] = (),
    alternative_seeds: int | None = None,
    backend: str = SIM,
) -> list[list[Reading]]:
    """Return the readings of each paper on a backend. Alternatives have the first `alternative_seeds` seeds.

    Raises `InputError` if a paper is unknown or has a mistake, no paper has an answer that is asked for,
    or the backend cannot run.
    """
    papers = [library.read(name) for name in names or library.names()]
    check(papers, asked)
    extent = {"quick": quick, "full": full, "defaults_only": defaults_only}
    planned = [
        readings(paper, seeds, **extent, asked=asked, alternative_seeds=alternative_seeds) for paper in papers
    ]
    return [on_backend(each, backend, own_options=not (quick or defaults_only)) for each in planned]


def reproduce(
    planned: Sequence[Sequence[Reading]],
    seeds: Sequence[int],
    *,
    in_linux: Sequence[Sequence[Reading]] = (),
    quick: bool = False,
    full: bool = False,
    defaults_only: bool = False,
    asked: Sequence[str] = (),
    alternative_seeds: int | None = None,
    explained: bool = False,
    backend: str = SIM,
    threads: int | None = None,
    executor: Executor | None = None,
    fresh: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> Reproduction:
    """Run every cell of every reading, on all cores, and judge the papers. Finished runs are reused.

    `executor` makes the runs, or threads of this process without one.
    With `explained`, the combinations of answers are searched as well, and the closest ones are judged.
    `in_linux` has the readings of the same papers that are to be run in Linux besides.
    """
    searched = [each[0] for each in planned] if explained else []
    everything = [reading for each in (*planned, *in_linux) for reading in each]
    course = Course(everything, searched, watch, threads=threads, executor=executor, fresh=fresh)
    course.run_ahead(everything)
    papers = [
        _paper(course, each, there, explained=explained)
        for each, there in zip_longest(planned, in_linux, fillvalue=())
    ]
    prune(default_folder())
    extent = {"quick": quick, "full": full, "defaults_only": defaults_only, "explained": explained}
    return Reproduction(
        papers,
        seeds,
        course.interrupted,
        asked=asked,
        alternative_seeds=alternative_seeds,
        backend=backend,
        **extent,
    )


def _paper(
    course: Course, planned: Sequence[Reading], in_linux: Sequence[Reading], *, explained: bool
) -> PaperReproduction:
    defaults, *alternatives = (course.run(reading) for reading in planned)
    explanation = None
    if explained and not course.interrupted:
        explanation, found = _explained(course, planned)
        alternatives += found
    there = _paper(course, in_linux, (), explained=False) if in_linux else None
    return PaperReproduction(defaults, alternatives, explanation, there)


def _explained(course: Course, tried: Sequence[Reading]) -> tuple[Explanation | None, list[Evaluated]]:
    """Search the answers of a paper, and judge what was found and is not among the readings that were tried.

    After Ctrl-C, there are none.
    """
    defaults = tried[0]
    try:
        explanation = explain(defaults.paper, defaults.seeds, course.measure)
    except InterruptedSearchError:
        return None, []
    known = {reading.answers for reading in tried if not reading.only}
    found = [each for each in explanation.readings(defaults.seeds) if each.answers not in known]
    return explanation, [course.run(reading) for reading in found]
