"""The output of `cwndlab compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds import sources
from cwndlab.output.kinds.kind import FigureKind, Kind
from cwndlab.results.comparison import ALONE, VARIANT, Comparison
from cwndlab.results.wanted import wanted as stored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted


class ComparisonKind(Kind[Comparison]):
    """The output of a comparison of algorithms."""

    def answer(self, study: Comparison, wanted: Wanted | None = None) -> list[str]:
        """Return which algorithm to take."""
        from cwndlab.output.answers.sentences import of_comparison

        return of_comparison(study, wanted)

    def print_tables(self, console: Console, study: Comparison) -> None:
        """Print the tables of a comparison."""
        from cwndlab.output.tables.comparison import print_comparison

        print_comparison(console, study)

    def tables(self, study: Comparison) -> list[Block]:
        """Return the tables of a comparison."""
        from cwndlab.output.tables.comparison import blocks, harm_blocks
        from cwndlab.results.crowd import MANY

        return [*blocks(study, MANY), *harm_blocks(study)]

    def report(self, study: Comparison) -> Report:
        """Return the report of a comparison."""
        from cwndlab.output.report.comparison import comparison_page

        return comparison_page(study)

    def figures(self, study: Comparison) -> Mapping[str, FigureKind]:
        """Return the figures of a comparison."""
        from cwndlab.output.figures import distribution, over_time, spread
        from cwndlab.output.figures.content import has_intervals, with_content
        from cwndlab.output.figures.tradeoff import tradeoff

        full = with_content(study)
        variants = study.labelled
        return {
            "box": FigureKind(
                lambda measure, names: spread.box(study, str(measure), names), default="goodput_mbps"
            ),
            "series": FigureKind(
                lambda measure, names: over_time.series(study, measure, names),
                has_intervals(study),
                shows_all=True,
            ),
            "cdf": FigureKind(
                lambda measure, names: distribution.distribution(variants, str(measure), names),
                "cdf" in full,
                "rtt_ms",
            ),
            "fairness": FigureKind(lambda _, names: over_time.fairness(variants, names), "fairness" in full),
            "pareto": FigureKind(lambda _, names: tradeoff(study, names)),
            "harm": FigureKind(
                lambda measure, names: spread.harm(study, str(measure), names),
                bool(study.harm),
                "goodput_mbps",
            ),
            "convergence": FigureKind(
                lambda _, names: over_time.convergence(study, names), has_intervals(study)
            ),
        }

    def figure_files(self, study: Comparison) -> Mapping[str, tuple[str, str | None]]:
        """Return the figures over all seeds, the trade-off, and the harm if some flows are compared."""
        from cwndlab.output.figures.content import has_intervals, with_content

        shown = ["series"] * has_intervals(study) + with_content(study) + ["pareto"]
        shown += ["harm"] * bool(study.harm)
        return {name: (name, None) for name in shown}

    def request(self, study: Comparison) -> dict[str, Any]:
        """Return the algorithms, the flows that run them, the link, and what was asked for."""
        return {
            "link": study.link,
            "algorithms": study.labels,
            "flows": study.chosen,
            "wanted": study.wanted.to_json(),
            "scenario": sources.described(study.scenario),
        }

    def restored(self, request: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> Comparison:
        """Return the comparison of the algorithms' results and the result without their flows."""
        by_label = {settings[VARIANT]: result for settings, result in results}
        alone = by_label.pop(ALONE, None)
        return Comparison(
            sources.restored(request["scenario"]),
            tuple(request["algorithms"]),
            tuple(request["flows"]),
            list(by_label.values()),
            alone,
            request["link"],
            stored(request.get("wanted")),
        )
