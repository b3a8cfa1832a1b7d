"""A heat map: a number for each pair of two settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.patches import Rectangle

from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.sheet import letters, sheet
from cwndlab.output.drawing.ticks import name_ticks
from cwndlab.statistics.numbers import with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    from cwndlab.output.drawing.style import Width
    from cwndlab.statistics.measure import Measure

ROW_IN = 0.34
REST_IN = 1.4
LONGEST = 24
FONT_SIZE = "small"

# The share of a cell's width and height that its number may cover.
FILLED = 0.9

# The luminance of a colour from its red, green and blue. Above the middle, black has the greater contrast;
# below it, white has (WCAG 2.2, "relative luminance" and "contrast ratio").
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
MIDDLE_LUMINANCE = 0.179


def draw_heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Measure]],
    label: str,
    row_title: str,
    column_title: str,
    title: str | None = None,
    *,
    width: Width = "double",
    styled: bool = True,
) -> Figure:
    """Colour each cell by its mean and write its number into it. `label`, with the unit, names the colours.

    If there is room in all cells, the numbers have their 95 % intervals. Otherwise the means are shown, or
    nothing if even they do not fit. A hatched cell has no value.
    """
    means = _means(rows, columns, cells)
    height_in = REST_IN + ROW_IN * len(rows)
    with sheet(title, width=width, height_in=height_in, styled=styled) as figure:
        ax = figure.subplots()
        ax.grid(visible=False)
        mesh = ax.pcolormesh(_edges(columns), _edges(rows), means, edgecolors="white", linewidth=0.5)
        _name(figure, ax, rows, columns)
        ax.set_ylabel(row_title)
        ax.set_xlabel(column_title)
        for row, column in np.argwhere(~np.isfinite(means)):
            ax.add_patch(_hatched(row, column))
        if np.isfinite(means).any():
            figure.colorbar(mesh, ax=ax, label=label)
            _annotate(figure, ax, mesh, cells)
        return figure


def _means(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Measure]]
) -> NDArray[float64]:
    if not rows or not columns:
        raise ValueError("a heat map needs at least one row and one column")
    if [len(row) for row in cells] != [len(columns)] * len(rows):
        raise ValueError(f"expected {len(rows)} rows of {len(columns)} cells")
    return np.array([[np.nan if each.mean is None else each.mean for each in row] for row in cells])


def _edges(names: Sequence[str]) -> NDArray[float64]:
    """Return the borders of cells with middles at 0, 1, 2 and so on."""
    return np.arange(len(names) + 1, dtype=np.float64) - 0.5


def _name(figure: Figure, ax: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    length = min(LONGEST, letters(figure.get_figwidth() / 4, mpl.rcParams["ytick.labelsize"]))
    name_ticks(figure, ax, [shown(name, LONGEST) for name in columns])
    ax.set_yticks(range(len(rows)), [shown(name, length) for name in rows])
    ax.invert_yaxis()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _hatched(row: int, column: int) -> Rectangle:
    corner = (column - 0.5, row - 0.5)
    return Rectangle(corner, 1, 1, facecolor="0.95", edgecolor="0.6", hatch="////", linewidth=0)


def _annotate(figure: Figure, ax: Axes, mesh: QuadMesh, cells: Sequence[Sequence[Measure]]) -> None:
    """Write the numbers in the first form that fits all cells."""
    # The sizes of the cells and the colours of the map are known after everything else is laid out.
    figure.draw_without_rendering()
    origin, opposite = ax.transData.transform([(0, 0), (1, 1)])
    room = FILLED * np.abs(opposite - origin)
    texts = {
        ax.text(column, row, "", ha="center", va="center", fontsize=FONT_SIZE): cell
        for row, line in enumerate(cells)
        for column, cell in enumerate(line)
        if cell.mean is not None
    }
    for text, cell in texts.items():
        text.set_color(_contrast(mesh.to_rgba(np.array(cell.mean))))
    for form in (with_interval, _in_two_lines, _without_interval):
        for text, cell in texts.items():
            text.set_text(form(cell))
        if all(np.all(text.get_window_extent().size <= room) for text in texts):
            return
    for text in texts:
        text.remove()


def _in_two_lines(cell: Measure) -> str:
    return with_interval(cell, "\n± ")


def _without_interval(cell: Measure) -> str:
    # The number of digits is the same as with the interval.
    return with_interval(cell, "\n").split("\n")[0]


def _contrast(colour: ArrayLike) -> str:
    """Return black or white, whichever is easier to read on a colour (sRGB)."""
    channels = np.asarray(colour, dtype=np.float64)[:3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ LUMINANCE > MIDDLE_LUMINANCE else "white"
