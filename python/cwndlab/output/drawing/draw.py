"""Draws any chart as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output.charts import ChartGroup, HeatMap, RowChart, ScatterChart, TimeChart
from cwndlab.output.drawing.heatmap import draw_heatmap
from cwndlab.output.drawing.lines import draw_lines
from cwndlab.output.drawing.rows import draw_rows
from cwndlab.output.drawing.scatter import draw_scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.output.charts import Chart
    from cwndlab.output.drawing.sheet import Page


def draw(chart: Chart, page: Page) -> Figure:
    """Draw the chart. Raises `InputError` if the page has other axes than the chart needs."""
    match chart:
        case TimeChart():
            return draw_lines(ChartGroup([chart]), page)
        case ChartGroup():
            return draw_lines(chart, page)
        case ScatterChart():
            return draw_scatter(chart, page)
        case HeatMap():
            return draw_heatmap(chart, page)
        case RowChart():
            return draw_rows(chart, page)
