"""The report: one HTML file that contains everything it needs and works offline.

`document` defines the parts of a report, `render` makes the page. Neither knows about runs.
"""

from __future__ import annotations

from cwndlab.output.charts import (
    ChartGroup,
    ChartRow,
    Event,
    HeatCell,
    HeatMap,
    RowChart,
    ScatterChart,
    ScatterPoint,
    Series,
    TimeChart,
)
from cwndlab.output.html.document import (
    Block,
    Cell,
    Column,
    Command,
    ForestLine,
    ForestPlot,
    Mark,
    Picture,
    Report,
    Row,
    Section,
    Table,
    Text,
)
from cwndlab.output.html.render import render, write

__all__ = [
    "Block",
    "Cell",
    "ChartGroup",
    "ChartRow",
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
    "RowChart",
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
