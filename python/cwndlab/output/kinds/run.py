"""The output of `cwndlab run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds.kind import Kind
from cwndlab.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.kinds.kind import Draw
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Settings
    from cwndlab.results.wanted import Wanted


class RunKind(Kind[Result]):
    """The output of a run."""

    def answer(self, study: Result, wanted: Wanted | None = None) -> list[str]:
        """Return what each flow got, and how long packets waited."""
        from cwndlab.output.answers.sentences import of_run

        del wanted
        return of_run(study)

    def print_tables(self, console: Console, study: Result) -> None:
        """Print the tables of a run."""
        from cwndlab.output.tables.run import print_result

        print_result(console, study)

    def main_table(self, study: Result) -> Block:
        """Return the table of flows, or the next one if there are no flows."""
        from cwndlab.output.tables.run import blocks

        return next(block for block in blocks(study) if block.rows and block.columns)

    def report(self, study: Result) -> Report:
        """Return the report of a run."""
        from cwndlab.output.report.run import run_page

        return run_page(study)

    def figures(self, study: Result, *, styled: bool) -> Mapping[str, Draw]:
        """Return the figures of a run."""
        from cwndlab.output import figures

        return {
            "series": lambda _: figures.series(study, styled=styled),
            "cdf": lambda measure: figures.cdf(study.labelled, measure or "rtt_ms", styled=styled),
            "box": lambda measure: figures.box(study.labelled, measure or "goodput_mbps", styled=styled),
            "fairness": lambda _: figures.fairness(study.labelled, styled=styled),
        }

    def figure_files(self, study: Result) -> Mapping[str, tuple[str, str | None]]:
        """Return the figure of the series if any were recorded, and the figures over all seeds."""
        from cwndlab.output.figures import with_content

        shown = ["series"] * bool(study.recorded) + with_content(study)
        return {name: (name, None) for name in shown}

    def weights(self, study: Result) -> Mapping[tuple[str, int], bytes]:
        """Return the weights of all learning flows."""
        return study.weights

    def request(self, study: Result) -> dict[str, Any]:
        """Return nothing: the only result is the whole request."""
        del study
        return {}

    def restored(self, request: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> Result:
        """Return the only result."""
        del request
        [(_, result)] = results
        return result
