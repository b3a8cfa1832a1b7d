"""The sentences that begin the output of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.answers.conditions import of_sweep_or_conditions
from cwndlab.output.answers.interrupted import of_interrupted
from cwndlab.output.answers.sensitivity import of_sensitivity

if TYPE_CHECKING:
    from cwndlab.results.sweep import Sweep
    from cwndlab.results.wanted import Wanted


def of_whole_sweep(sweep: Sweep, wanted: Wanted | None = None) -> list[str]:
    """Say what was not run, which keys matter, and which point or choice to take."""
    return [*of_interrupted(sweep), *of_sensitivity(sweep), *of_sweep_or_conditions(sweep, wanted)]
