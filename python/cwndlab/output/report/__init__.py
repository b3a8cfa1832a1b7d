"""Which report a result gets: its tables, charts and commands, put into sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.report.comparison import comparison_page
from cwndlab.output.report.run import run_page
from cwndlab.output.report.sweep import sweep_page
from cwndlab.results.result import Result
from cwndlab.results.sweep import Sweep

if TYPE_CHECKING:
    from cwndlab.output.html import Report
    from cwndlab.results.comparison import Comparison


def report_of(result: Result | Comparison | Sweep) -> Report:
    """The report of a run, a comparison or a sweep."""
    if isinstance(result, Result):
        return run_page(result)
    if isinstance(result, Sweep):
        return sweep_page(result)
    return comparison_page(result)
