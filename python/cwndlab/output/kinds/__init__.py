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
