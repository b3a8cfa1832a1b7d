"""The report: one HTML file that holds all it needs and works offline.

`document` says what a report is made of, `render` makes the page of it. Neither knows what a run is.
"""

from __future__ import annotations

from cwndlab.output.html.document import (
    Block,
    Cell,
    ChartGroup,
    Column,
    Command,
    Event,
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
