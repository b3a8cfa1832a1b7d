"""Which report a result gets: its tables, charts and commands, put into sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.pages.comparison import comparison_page
from cwndlab.pages.run import run_page
from cwndlab.pages.sweep import sweep_page
from cwndlab.result import Result
from cwndlab.swept import Sweep

if TYPE_CHECKING:
    from cwndlab.comparison import Comparison
    from cwndlab.report import Report


def report_of(result: Result | Comparison | Sweep) -> Report:
    """The report of a run, a comparison or a sweep."""
    if isinstance(result, Result):
        return run_page(result)
    if isinstance(result, Sweep):
        return sweep_page(result)
    return comparison_page(result)
