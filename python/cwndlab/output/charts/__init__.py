"""Charts as plain values: what is drawn, on which axes.

matplotlib (`output.drawing`) and the page of a report (`output.html`) draw the same specification, so that a
figure and the chart in the report never differ in what they show.
"""

from __future__ import annotations

from cwndlab.output.charts.heat import HeatCell, HeatMap
from cwndlab.output.charts.lines import ChartGroup, Event, Series, Shade, Spot, TimeChart
from cwndlab.output.charts.rows import ChartRow, RowChart
from cwndlab.output.charts.scatter import ScatterChart, ScatterPoint

# What can be drawn as a figure.
Chart = TimeChart | ChartGroup | ScatterChart | HeatMap | RowChart

__all__ = [
    "Chart",
    "ChartGroup",
    "ChartRow",
    "Event",
    "HeatCell",
    "HeatMap",
    "RowChart",
    "ScatterChart",
    "ScatterPoint",
    "Series",
    "Shade",
    "Spot",
    "TimeChart",
]
