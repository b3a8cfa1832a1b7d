"""The output of `cwndlab sweep`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cwndlab.output.kinds import sources
from cwndlab.output.kinds.kind import Kind
from cwndlab.results.sweep import Sweep
from cwndlab.results.wanted import wanted as stored
from cwndlab.scenarios.axis import Axis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.kinds.kind import Draw
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted

# With more conditions than this, only the report shows each of them.
MOST_DRAWN = 12
# The longest name of a figure's file.
LONGEST = 100


class SweepKind(Kind[Sweep]):
    """The output of a sweep."""

    # The intervals of a whole grid would take much space and help little.
    has_details = False

    def answer(self, study: Sweep, wanted: Wanted | None = None) -> list[str]:
        """Return which point to take."""
        from cwndlab.output.answers.conditions import of_sweep_or_conditions

        return of_sweep_or_conditions(study, wanted)

    def print_tables(self, console: Console, study: Sweep) -> None:
        """Print the tables of a sweep."""
        from cwndlab.output.answers.goal import goal
        from cwndlab.output.tables.sweep import print_sweep

        print_sweep(console, study, goal(study.wanted.best, ()).best)

    def main_table(self, study: Sweep) -> Block:
        """Return the table of all points."""
        from cwndlab.output.answers.goal import goal
        from cwndlab.output.tables.sweep import block

        return block(study, goal(study.wanted.best, ()).best)

    def report(self, study: Sweep) -> Report:
        """Return the report of a sweep."""
        from cwndlab.output.report.sweep import sweep_page

        return sweep_page(study)

    def figures(self, study: Sweep, *, styled: bool) -> Mapping[str, Draw]:
        """Return the figures of a sweep, with conditions also the trade-off in each of them."""
        from cwndlab.output import figures

        def pareto(name: str, part: Sweep) -> Draw:
            return lambda _: figures.pareto(part.tradeoffs, name, part.link, styled=styled)

        grid = study.by_condition if study.across else study
        title = f"{study.name}: mean over {len(study.conditions)} conditions" if study.across else study.name
        return {
            "pareto": pareto(title, study),
            "heatmap": lambda measure: figures.heatmap(grid, measure or "goodput_mbps", styled=styled),
            **{
                f"pareto-{label}": pareto(f"{study.name}: {label}", part)
                for label, part in (study.conditions if study.across else [])
            },
        }

    def figure_files(self, study: Sweep) -> Mapping[str, tuple[str, str | None]]:
        """Return the trade-off, that in each of a few conditions, and heat maps of two keys or more.

        With conditions, the heat maps show each choice in each condition.
        """
        files: dict[str, tuple[str, str | None]] = {"pareto": ("pareto", None)}
        if study.across or len(study.axes) > 1:
            files["heatmap-goodput"] = ("heatmap", "goodput_mbps")
            files["heatmap-queue-delay"] = ("heatmap", "queue_delay_ms")
        if study.across and len(study.conditions) <= MOST_DRAWN:
            for place, (label, _) in enumerate(study.conditions, start=1):
                # A label need not be a valid file name.
                name = f"pareto-{quote(label, safe=' ,+')}"
                files[name if len(name) <= LONGEST else f"pareto-{place}"] = (f"pareto-{label}", None)
        return files

    def request(self, study: Sweep) -> dict[str, Any]:
        """Return the keys with their values, the link, and what was asked for."""
        return {
            "link": study.link,
            "axes": [asdict(axis) for axis in study.axes],
            "across": [asdict(axis) for axis in study.across],
            "wanted": study.wanted.to_json(),
            "scenario": sources.described(study.scenario),
        }

    def restored(self, request: Mapping[str, Any], results: Sequence[tuple[Settings, Result]]) -> Sweep:
        """Return the sweep with the results as points of the grid."""
        asked = stored(request.get("wanted"))
        axes, across = (
            [_axis(axis) for axis in axes] for axes in (request["axes"], request.get("across", []))
        )
        scenario = sources.restored(request["scenario"])
        return Sweep(scenario, axes, results, request["link"], asked, across)


def _axis(stored: Mapping[str, Any]) -> Axis:
    """Return an axis from `runs.json`. Those of older versions have no labels."""
    return Axis(stored["key"], tuple(stored["values"]), tuple(stored.get("labels", ())))
