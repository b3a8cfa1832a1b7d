"""The page of a report: templates, styles, scripts and data in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import math
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from cwndlab.output.charts import ChartGroup, HeatMap, RowChart, ScatterChart, TimeChart
from cwndlab.output.charts.heat import is_there
from cwndlab.output.html import charts, forest, heat, links, rows
from cwndlab.output.html.document import Block, Command, ForestPlot, Picture, Table, Text
from cwndlab.statistics.numbers import plain
from cwndlab.system.writing import write_text

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.output.html.document import Cell, Report

# The partial template of each kind of block.
TEMPLATES: dict[type[Block], str] = {
    Text: "text",
    Command: "command",
    Table: "table",
    TimeChart: "time_chart",
    ChartGroup: "chart_group",
    ScatterChart: "scatter_chart",
    HeatMap: "heat_map",
    RowChart: "row_chart",
    Picture: "picture",
    ForestPlot: "forest_plot",
}

# A page with fewer sections needs no table of contents.
CONTENTS_FROM_SECTIONS = 4

STYLES = ("uplot/uPlot.min.css", "report.css")
# In this order: later ones use what earlier ones define.
SCRIPTS = (
    "sharp.js",
    "uplot/uPlot.iife.min.js",
    "looks.js",
    "plot.js",
    "time_chart.js",
    "scatter_chart.js",
    "table.js",
    "search.js",
    "copy.js",
    "report.js",
)


def render(report: Report) -> str:
    """Return the page. The same report gives the same bytes."""
    links.check(report)
    page = (
        _templates()
        .get_template("report.html.j2")
        .render(
            report=report,
            style=_style(),
            script=_script(),
            script_hash=_sha256(_script()),
            chart_licence=_asset("uplot/LICENSE"),
            with_contents=sum(section.level == 1 for section in report.sections) >= CONTENTS_FROM_SECTIONS,
        )
    )
    # File names may contain bytes that are not text. They are shown as numbers.
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def write(report: Report, path: Path) -> None:
    """Write the page to a file."""
    write_text(path, render(report))


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("cwndlab.output.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        template=lambda block: f"blocks/{TEMPLATES[type(block)]}.html.j2",
        target=links.target,
        embedded=charts.embedded,
        data_uri=_data_uri,
    )
    environment.tests.update(sortable=_is_sortable)
    environment.globals.update(
        charts=charts,
        forest=forest,
        heat=heat,
        rows=rows,
        is_there=is_there,
        plain=plain,
        section_anchor=links.section_anchor,
    )
    return environment


def _is_sortable(cell: Cell) -> bool:
    """Whether a cell has a sort key that can be compared."""
    return cell.sort is not None and not (isinstance(cell.sort, float) and not math.isfinite(cell.sort))


def _asset(name: str) -> Markup:
    return Markup(resources.files("cwndlab.output.html").joinpath("assets", name).read_text("utf-8"))


@cache
def _style() -> Markup:
    return Markup("\n").join(map(_asset, STYLES))


@cache
def _script() -> Markup:
    return Markup("\n").join(map(_asset, SCRIPTS))


def _sha256(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a script."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _data_uri(svg: str) -> str:
    """Return a separate image, so that equal identifiers in two pictures do not clash."""
    encoded = base64.b64encode(svg.encode("utf-8", "backslashreplace")).decode("ascii")
    return f"data:image/svg+xml;base64,{encoded}"
