"""A heat map: a number for each pair of two settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle

from cwndlab.output.drawing.axes import below, count_by_factors, heading
from cwndlab.output.drawing.names import plain, shown
from cwndlab.output.drawing.sheet import Page, Sheet, letters, sheet
from cwndlab.output.drawing.ticks import name_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from cwndlab.output.charts import HeatCell, HeatMap

ROW_IN = 0.34
REST_IN = 1.9
LONGEST = 24
FONT_SIZE = "small"

# The share of a cell's width and height that its number may cover.
FILLED = 0.9
# The share of the figure's width that a label below the map may take.
LABELLED = 0.65

# The luminance of a colour from its red, green and blue. Above the middle, black has the greater contrast;
# below it, white has (WCAG 2.2, "relative luminance" and "contrast ratio").
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
MIDDLE_LUMINANCE = 0.179


def draw_heatmap(chart: HeatMap, page: Page) -> Figure:
    """Colour each cell by its mean, the better the darker, and write its number into it.

    If there is room in all cells, the numbers have their 95 % intervals. Otherwise the means are shown, or
    nothing if even they do not fit. A hatched cell has no value.
    """
    if not chart.rows or not chart.columns:
        raise ValueError("a heat map needs at least one row and one column")
    means = np.array([[np.nan if cell.value is None else cell.value for cell in row] for row in chart.cells])
    with sheet(page, REST_IN + ROW_IN * len(chart.rows)) as paper:
        [ax] = paper.axes
        figure = paper.figure
        ax.grid(visible=False)
        mesh = ax.pcolormesh(
            _edges(chart.columns),
            _edges(chart.rows),
            means,
            edgecolors="white",
            linewidth=0.5,
            **_colouring(chart),
        )
        _name(paper, ax, chart.rows, chart.columns)
        ax.set_ylabel(plain(heading(chart.row_title, "")))
        ax.set_xlabel(below(heading(chart.column_title, ""), LABELLED * paper.width_in))
        for row, column in np.argwhere(~np.isfinite(means)):
            ax.add_patch(_hatched(row, column))
        if np.isfinite(means).any():
            label = f"{heading(chart.title, chart.unit)}\n{chart.meaning}"
            label = below(label, LABELLED * paper.width_in)
            _add_scale(figure, ax, mesh, label)
            _annotate(figure, ax, mesh, chart.cells)
        return figure


def _colouring(chart: HeatMap) -> dict[str, Any]:
    """Return the colours and their scale."""
    colours = mpl.colormaps[mpl.rcParams["image.cmap"]]
    colours = colours.reversed() if chart.is_reversed else colours
    if chart.range is None:
        return {"cmap": colours}
    scale = LogNorm(*chart.range) if chart.is_log else Normalize(*chart.range)
    return {"cmap": colours, "norm": scale}


def _add_scale(figure: Figure, ax: Axes, mesh: QuadMesh, label: str) -> None:
    """Add the scale of the colours below the map, where it takes no width from the cells."""
    bar = figure.colorbar(mesh, ax=ax, orientation="horizontal", aspect=40, label=label)
    if isinstance(mesh.norm, LogNorm):
        count_by_factors(bar.ax.xaxis, LABELLED * figure.get_figwidth(), mesh.get_clim())


def _edges(names: Sequence[str]) -> NDArray[float64]:
    """Return the borders of cells with middles at 0, 1, 2 and so on."""
    return np.arange(len(names) + 1, dtype=np.float64) - 0.5


def _name(paper: Sheet, ax: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    length = min(LONGEST, letters(paper.width_in / 4, mpl.rcParams["ytick.labelsize"]))
    name_ticks(paper.figure, ax, [shown(name, LONGEST) for name in columns])
    ax.set_yticks(range(len(rows)), [shown(name, length) for name in rows])
    ax.invert_yaxis()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _hatched(row: int, column: int) -> Rectangle:
    corner = (column - 0.5, row - 0.5)
    return Rectangle(corner, 1, 1, facecolor="0.95", edgecolor="0.6", hatch="////", linewidth=0)


def _annotate(figure: Figure, ax: Axes, mesh: QuadMesh, cells: Sequence[Sequence[HeatCell]]) -> None:
    """Write the numbers in the first form that fits all cells."""
    # The sizes of the cells and the colours of the map are known after everything else is laid out.
    figure.draw_without_rendering()
    origin, opposite = ax.transData.transform([(0, 0), (1, 1)])
    room = FILLED * np.abs(opposite - origin)
    texts = {
        ax.text(column, row, "", ha="center", va="center", fontsize=FONT_SIZE): cell
        for row, line in enumerate(cells)
        for column, cell in enumerate(line)
        if cell.value is not None
    }
    for text, cell in texts.items():
        text.set_color(_contrast(mesh.to_rgba(np.array(cell.value))))
        text.set_in_layout(False)
    for form in (_in_full, _in_two_lines, _without_interval):
        for text, cell in texts.items():
            text.set_text(plain(form(cell)))
        if all(np.all(text.get_window_extent().size <= room) for text in texts):
            return
    for text in texts:
        text.remove()


def _in_full(cell: HeatCell) -> str:
    return cell.text


def _in_two_lines(cell: HeatCell) -> str:
    return cell.text.replace(" ± ", "\n± ")


def _without_interval(cell: HeatCell) -> str:
    # The number of digits is the same as with the interval.
    return cell.text.partition(" ± ")[0]


def _contrast(colour: ArrayLike) -> str:
    """Return black or white, whichever is easier to read on a colour (sRGB)."""
    channels = np.asarray(colour, dtype=np.float64)[:3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ LUMINANCE > MIDDLE_LUMINANCE else "white"
