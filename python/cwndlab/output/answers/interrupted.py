"""The sentence that comes first if Ctrl-C ended a study: what follows rests on the finished runs only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.statistics.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cwndlab.results.result import Study


def of_interrupted(study: Study) -> Iterator[str]:
    """Say how many runs are done, and of a sweep how many points have any, if it was interrupted."""
    if not study.interrupted:
        return
    done = study.progress
    if done is None:
        finished = sum(len(result.runs) for _, result in study.all_variants)
        yield f"Interrupted: only {counted(finished, 'run')} {'is' if finished == 1 else 'are'} done."
        return
    runs = f"{done.runs} of {counted(done.runs_asked, 'run')} {'is' if done.runs == 1 else 'are'} done"
    points = f"{done.variants} of {counted(done.variants_asked, 'point')}"
    has = "has" if done.variants == 1 else "have"
    yield f"Interrupted: {runs}{f'; {points} {has} results' if study.kind == 'sweep' else ''}."
