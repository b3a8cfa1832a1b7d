"""The answers that `--try` names: those to an open point (`B12`), one of them, or several together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.engine.suggestions import did_you_mean
from cwndlab.errors import InputError
from cwndlab.papers.contents.paper import Answer, Combination

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from cwndlab.papers.contents.paper import Paper


def alone(paper: Paper) -> Iterator[Combination]:
    """Return each answer to an open point by itself."""
    for point in paper.open_points:
        for each in point.alternatives:
            yield Combination((Answer(point, each),), telling=each.telling)


def is_asked(other: Combination, asked: Collection[str]) -> bool:
    """Whether these names name the answer or combination. A point stands for each of its answers alone."""
    alone = len(other.answers) == 1
    return str(other) in asked or (alone and other.answers[0].point.id in asked)


def check(papers: Sequence[Paper], asked: Sequence[str]) -> None:
    """Raise `InputError` if a name names nothing in these papers."""
    others = [other for paper in papers for other in (*alone(paper), *paper.combinations)]
    points = dict.fromkeys(each.answers[0].point.id for each in others)
    for name in asked:
        if not any(is_asked(other, (name,)) for other in others):
            expected = f"expected an answer or one of the points {', '.join(points)}"
            hint = did_you_mean(name, map(str, others), expected, quote='"')
            where = ", ".join(each.id for each in papers)
            raise InputError(f'--try: "{name}" names no alternative answer of {where}; {hint}')
