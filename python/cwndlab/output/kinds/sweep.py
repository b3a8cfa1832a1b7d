"""The output of `cwndlab sweep`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cwndlab.output.kinds import sources
from cwndlab.output.kinds.kind import FigureKind, Kind
from cwndlab.results.sweep import Sweep
from cwndlab.results.until import until
from cwndlab.results.wanted import wanted as stored
from cwndlab.scenarios.axis import Axis
from cwndlab.scenarios.design import design

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from cwndlab.output.html import Report
    from cwndlab.output.tables.block import Block
    from cwndlab.results.result import Result, Settings
    from cwndlab.results.wanted import Wanted

# With more conditions than this, only the report shows each of them.
MOST_DRAWN = 12
# How the names of the figures of one key begin.
OVER = "over-"
# The longest name of a figure's file.
LONGEST = 100


class SweepKind(Kind[Sweep]):
    """The output of a sweep."""

    # The intervals of a whole grid would take much space and help little.
    has_details = False

    def answer(self, study: Sweep, wanted: Wanted | None = None) -> list[str]:
        """Return which point to take."""
        from cwndlab.output.answers.sweep import of_whole_sweep

        return of_whole_sweep(study, wanted)

    def print_tables(self, console: Console, study: Sweep) -> None:
        """Print the tables of a sweep."""
        from cwndlab.output.answers.goal import goal
        from cwndlab.output.tables.sensitivity import print_sensitivity
        from cwndlab.output.tables.sweep import print_sweep

        print_sensitivity(console, study)
        print_sweep(console, study, goal(study.wanted.best, ()).best)

    def tables(self, study: Sweep) -> list[Block]:
        """Return the tables of a sweep: with conditions the choices over them, then all points."""
        from cwndlab.output.answers.goal import goal
        from cwndlab.output.tables.conditions import choices_blocks
        from cwndlab.output.tables.sensitivity import sensitivity_blocks
        from cwndlab.output.tables.sweep import block

        best = goal(study.wanted.best, ()).best
        choices = choices_blocks(study, best) if study.across else []
        return [*sensitivity_blocks(study), *choices, block(study, best)]

    def report(self, study: Sweep) -> Report:
        """Return the report of a sweep."""
        from cwndlab.output.report.sweep import sweep_page

        return sweep_page(study)

    def figures(self, study: Sweep) -> Mapping[str, FigureKind]:
        """Return the figures of a sweep, with conditions also the trade-off in each of them."""
        from cwndlab.output.figures import grid, spread
        from cwndlab.output.figures.over_keys import over_key
        from cwndlab.output.figures.sensitivity import sensitivity_rows
        from cwndlab.output.figures.tradeoff import tradeoff

        over = study.by_condition if study.across else study
        mean = f"mean over {len(study.conditions)} conditions" if study.across else None
        figures: dict[str, FigureKind] = {
            "pareto": FigureKind(lambda _, names: tradeoff(study, names), subtitle=mean),
            "heatmap": FigureKind(
                lambda measure, names: grid.heat_map(over, str(measure), names),
                over.design.is_grid and len(over.axes) > 1,
                "goodput_mbps",
            ),
            "box": FigureKind(
                lambda measure, names: spread.box_of_sweep(study, str(measure), names),
                default="goodput_mbps",
            ),
        }
        if study.design.order:
            figures["sensitivity"] = FigureKind(
                lambda measure, names: sensitivity_rows(study, measure, names),
                default=study.wanted.sensitivity,
            )
        for axis in over_each(study):
            figures[f"{OVER}{axis.key}"] = FigureKind(
                lambda measure, names, axis=axis: over_key(study, axis, str(measure), names),  # type: ignore[misc]
                default="goodput_mbps",
            )
        for label, part in study.conditions if study.across else []:
            figures[f"pareto-{label}"] = FigureKind(
                lambda _, names, part=part: tradeoff(part, names),  # type: ignore[misc]
                subtitle=label,
            )
        return figures

    def figure_files(self, study: Sweep) -> Mapping[str, tuple[str, str | None]]:
        """Return the trade-off, that in each of a few conditions, and heat maps of two keys or more.

        With conditions, the heat maps show each choice in each condition.
        """
        files: dict[str, tuple[str, str | None]] = {"pareto": ("pareto", None)}
        if study.design.is_grid and (study.across or len(study.axes) > 1):
            files["heatmap-goodput"] = ("heatmap", "goodput_mbps")
            files["heatmap-queue-delay"] = ("heatmap", "queue_delay_ms")
        if isinstance(study.sensitivity, list):
            files["sensitivity"] = ("sensitivity", None)
        for axis in over_each(study):
            figure = f"{OVER}{axis.key}"
            name = quote(figure, safe="*+")[:LONGEST]
            files[f"{name}-goodput"] = (figure, "goodput_mbps")
            files[f"{name}-queue-delay"] = (figure, "queue_delay_ms")
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
            "design": study.design.to_json(),
            "until": None if study.until is None else study.until.stored(),
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
        chosen = design(request.get("design"))
        aim = until(request.get("until"))
        return Sweep(scenario, axes, results, request["link"], asked, across, chosen, aim)


def over_each(study: Sweep) -> Sequence[Axis]:
    """Return the keys that have a figure of their own: those of points that are no grid."""
    return () if study.design.is_grid else study.axes


def _axis(stored: Mapping[str, Any]) -> Axis:
    """Return an axis from `runs.json`. Those of older versions have no labels."""
    labels = tuple(stored.get("labels", ()))
    return Axis(stored["key"], tuple(stored["values"]), labels, stored.get("drawn", ""))
