"""The report: one HTML file that contains everything it needs and works offline.

`document` defines the parts of a report, `render` makes the page. Neither knows about runs.
"""

from __future__ import annotations

from cwndlab.output.html.document import (
    Block,
    Cell,
    ChartGroup,
    Column,
    Command,
    Event,
    ForestLine,
    ForestPlot,
    HeatCell,
    HeatMap,
    Mark,
    Picture,
    Report,
    Row,
    ScatterChart,
    ScatterPoint,
    Section,
    Series,
    Table,
    Text,
    TimeChart,
)
from cwndlab.output.html.render import render, write

__all__ = [
    "Block",
    "Cell",
    "ChartGroup",
    "Column",
    "Command",
    "Event",
    "ForestLine",
    "ForestPlot",
    "HeatCell",
    "HeatMap",
    "Mark",
    "Picture",
    "Report",
    "Row",
    "ScatterChart",
    "ScatterPoint",
    "Section",
    "Series",
    "Table",
    "Text",
    "TimeChart",
    "render",
    "write",
]
