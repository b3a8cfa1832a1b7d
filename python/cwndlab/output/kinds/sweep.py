"""The output of `cwndlab sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds import sources
from cwndlab.output.kinds.kind import FigureKind, Kind
from cwndlab.results.sweep import Sweep
from cwndlab.results.wanted import wanted as stored
from cwndlab.scenarios.grid import Axis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted


class SweepKind(Kind[Sweep]):
    """The output of a sweep."""

    # The intervals of a whole grid would take much space and help little.
    has_details = False

    def answer(self, study: Sweep, wanted: Wanted | None = None) -> list[str]:
        """Return which point to take."""
        from cwndlab.output.answers.sentences import of_sweep

        return of_sweep(study, wanted)

    def print_tables(self, console: Console, study: Sweep) -> None:
        """Print the tables of a sweep."""
        from cwndlab.output.tables.sweep import print_sweep

        print_sweep(console, study)

    def tables(self, study: Sweep) -> list[Block]:
        """Return the tables of a sweep."""
        from cwndlab.output.tables.sweep import block

        return [block(study)]

    def report(self, study: Sweep) -> Report:
        """Return the report of a sweep."""
        from cwndlab.output.report.sweep import sweep_page

        return sweep_page(study)

    def figures(self, study: Sweep) -> Mapping[str, FigureKind]:
        """Return the figures of a sweep."""
        from cwndlab.output.figures import grid, spread
        from cwndlab.output.figures.tradeoff import tradeoff

        return {
            "pareto": FigureKind(lambda _, names: tradeoff(study, names)),
            "heatmap": FigureKind(
                lambda measure, names: grid.heat_map(study, str(measure), names),
                len(study.axes) > 1,
                "goodput_mbps",
            ),
            "box": FigureKind(
                lambda measure, names: spread.box_of_sweep(study, str(measure), names),
                default="goodput_mbps",
            ),
        }

    def figure_files(self, study: Sweep) -> Mapping[str, tuple[str, str | None]]:
        """Return the trade-off, and the heat maps if there are two keys or more."""
        pareto: dict[str, tuple[str, str | None]] = {"pareto": ("pareto", None)}
        if len(study.axes) < 2:
            return pareto
        return pareto | {
            "heatmap-goodput": ("heatmap", "goodput_mbps"),
            "heatmap-queue-delay": ("heatmap", "queue_delay_ms"),
        }

    def request(self, study: Sweep) -> dict[str, Any]:
        """Return the keys with their values, the link, and what was asked for."""
        axes = [{"key": axis.key, "values": axis.values} for axis in study.axes]
        return {
            "link": study.link,
            "axes": axes,
            "wanted": study.wanted.to_json(),
            "scenario": sources.described(study.scenario),
        }

    def restored(self, request: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> Sweep:
        """Return the sweep with the results as points of the grid."""
        axes = [Axis(axis["key"], tuple(axis["values"])) for axis in request["axes"]]
        asked = stored(request.get("wanted"))
        return Sweep(sources.restored(request["scenario"]), axes, results, request["link"], asked)
