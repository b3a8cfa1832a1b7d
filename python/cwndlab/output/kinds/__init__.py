"""The differences between the outputs of a run, a comparison and a sweep, one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds.comparison import ComparisonKind
from cwndlab.output.kinds.run import RunKind
from cwndlab.output.kinds.sweep import SweepKind
from cwndlab.results.comparison import Comparison
from cwndlab.results.result import Result
from cwndlab.results.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cwndlab.output.drawing.style import Width
    from cwndlab.output.kinds.kind import Kind
    from cwndlab.results.result import Study

KINDS: dict[str, Kind[Any]] = {
    Result.kind: RunKind(),
    Comparison.kind: ComparisonKind(),
    Sweep.kind: SweepKind(),
}


def kind_of(study: Study) -> Kind[Any]:
    """Return the kind of a study."""
    return KINDS[study.kind]


def plot(
    study: Study,
    name: str | None = None,
    measure: str | None = None,
    *,
    styled: bool = True,
    labels: Mapping[str, str] | None = None,
    width: Width = "page",
    title: str | None = None,
    axes: Sequence[Axes] = (),
) -> Figure:
    """Draw a figure of a study; without a name, the default figure.

    `labels` replace names; an empty `title` leaves the title out. Raises `InputError` if the study has no
    such figure or measure, or if a label is for a name that the figure does not have.
    """
    from cwndlab.output.charts.names import Names
    from cwndlab.output.drawing.draw import draw
    from cwndlab.output.drawing.sheet import Page

    chart = kind_of(study).chart(study, name, measure, Names(labels))
    own = kind_of(study).title(study, name) if title is None and not axes else title
    return draw(chart, Page(own, width, styled, axes))
