"""The output of `cwndlab compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds import sources
from cwndlab.output.kinds.kind import Kind
from cwndlab.results.comparison import ALONE, VARIANT, Comparison
from cwndlab.results.wanted import wanted as stored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.kinds.kind import Draw
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

    def main_table(self, study: Comparison) -> Block:
        """Return the totals of each algorithm, with its difference from the baseline."""
        from cwndlab.output.tables.comparison import blocks

        return blocks(study, 0)[0]

    def report(self, study: Comparison) -> Report:
        """Return the report of a comparison."""
        from cwndlab.output.report.comparison import comparison_page

        return comparison_page(study)

    def figures(self, study: Comparison, *, styled: bool) -> Mapping[str, Draw]:
        """Return the figures of a comparison."""
        from cwndlab.output import figures

        return {
            "box": lambda measure: figures.box(study.labelled, measure or "goodput_mbps", styled=styled),
            "cdf": lambda measure: figures.cdf(study.labelled, measure or "rtt_ms", styled=styled),
            "fairness": lambda _: figures.fairness(study.labelled, styled=styled),
            "pareto": lambda _: figures.pareto(study.tradeoffs, study.name, study.link, styled=styled),
        }

    def figure_files(self, study: Comparison) -> Mapping[str, tuple[str, str | None]]:
        """Return the figures over all seeds, and the trade-off."""
        from cwndlab.output.figures import with_content

        return {name: (name, None) for name in [*with_content(study), "pareto"]}

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
