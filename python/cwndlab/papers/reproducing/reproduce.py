"""Plans papers and runs them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.papers.contents.backends import SIM, on_backend
from cwndlab.papers.contents.readings import Reading, readings
from cwndlab.papers.explaining.explanation import Explanation, explain
from cwndlab.papers.reading import library
from cwndlab.papers.reproducing.course import Course, InterruptedSearchError
from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction
from cwndlab.running.cache import default_folder, prune

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cwndlab.papers.judging.evaluation import Evaluated


def plan(
    names: Sequence[str], seeds: Sequence[int], *, quick: bool, full: bool, backend: str = SIM
) -> list[list[Reading]]:
    """Return the readings of each paper on a backend.

    Raises `InputError` if a paper is unknown or has a mistake, or the backend cannot run.
    """
    papers = [library.read(name) for name in names or library.names()]
    planned = [readings(paper, seeds, quick=quick, full=full) for paper in papers]
    return [[on_backend(reading, backend) for reading in each] for each in planned]


def reproduce(
    planned: Sequence[Sequence[Reading]],
    seeds: Sequence[int],
    *,
    quick: bool = False,
    full: bool = False,
    explained: bool = False,
    backend: str = SIM,
    threads: int | None = None,
    fresh: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> Reproduction:
    """Run every cell of every reading, on all cores, and judge the papers. Finished runs are reused.

    With `explained`, the combinations of answers are searched as well, and the closest ones are judged.
    """
    searched = [each[0] for each in planned] if explained else []
    course = Course([reading for each in planned for reading in each], searched, threads, fresh, watch)
    papers = []
    for each in planned:
        defaults, *alternatives = (course.run(reading) for reading in each)
        explanation = None
        if explained and not course.interrupted:
            explanation, found = _explained(course, each)
            alternatives += found
        papers.append(PaperReproduction(defaults, alternatives, explanation))
    prune(default_folder())
    extent = {"quick": quick, "full": full, "explained": explained}
    return Reproduction(papers, seeds, course.interrupted, backend=backend, **extent)


def _explained(course: Course, tried: Sequence[Reading]) -> tuple[Explanation | None, list[Evaluated]]:
    """Search the answers of a paper, and judge what was found and is not among the readings that were tried.

    After Ctrl-C, there are none.
    """
    defaults = tried[0]
    try:
        explanation = explain(defaults.paper, defaults.seeds, course.measure)
    except InterruptedSearchError:
        return None, []
    known = {reading.answers for reading in tried}
    found = [each for each in explanation.readings(defaults.seeds) if each.answers not in known]
    return explanation, [course.run(reading) for reading in found]
