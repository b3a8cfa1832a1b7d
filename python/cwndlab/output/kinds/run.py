"""The output of `cwndlab run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds.kind import FigureKind, Kind
from cwndlab.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Settings
    from cwndlab.results.wanted import Wanted


class RunKind(Kind[Result]):
    """The output of a run."""

    def answer(self, study: Result, wanted: Wanted | None = None) -> list[str]:
        """Return what each flow got, and how long packets waited."""
        from cwndlab.output.answers.run import of_run

        del wanted
        return of_run(study)

    def print_tables(self, console: Console, study: Result) -> None:
        """Print the tables of a run."""
        from cwndlab.output.tables.run import print_result

        print_result(console, study)

    def tables(self, study: Result) -> list[Block]:
        """Return the tables of a run."""
        from cwndlab.output.tables.run import blocks

        return [block for block in blocks(study) if block.rows and block.columns]

    def report(self, study: Result) -> Report:
        """Return the report of a run."""
        from cwndlab.output.report.run import run_page

        return run_page(study)

    def figures(self, study: Result) -> Mapping[str, FigureKind]:
        """Return the figures of a run."""
        from cwndlab.output.figures import distribution, over_time, recorded, spread
        from cwndlab.output.figures.content import has_intervals, with_content

        full = with_content(study)
        variants = study.labelled
        return {
            "series": FigureKind(
                lambda measure, names: over_time.series(study, measure, names),
                has_intervals(study),
                shows_all=True,
            ),
            "recorded": FigureKind(
                lambda _, names: recorded.first_recorded(study, names), bool(study.recorded)
            ),
            "cdf": FigureKind(
                lambda measure, names: distribution.distribution(variants, str(measure), names),
                "cdf" in full,
                "rtt_ms",
            ),
            "box": FigureKind(
                lambda measure, names: spread.box(study, str(measure), names), default="goodput_mbps"
            ),
            "fairness": FigureKind(lambda _, names: over_time.fairness(variants, names), "fairness" in full),
            "convergence": FigureKind(
                lambda _, names: over_time.convergence(study, names), has_intervals(study)
            ),
        }

    def figure_files(self, study: Result) -> Mapping[str, tuple[str, str | None]]:
        """Return the figures over all seeds, and that of the series if any were recorded."""
        from cwndlab.output.figures.content import has_intervals, with_content

        shown = ["series"] * has_intervals(study) + ["recorded"] * bool(study.recorded)
        shown += with_content(study)
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
