"""The sheet of a figure: its size, its title and its legend."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from cwndlab.output.drawing.names import shown
from cwndlab.output.drawing.style import WIDTHS_IN, Width, style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

POINTS_PER_INCH = 72

# The mean width of a letter as a share of the font's size, a little more than that of DejaVu Sans.
LETTER = 0.6

# The width of a legend entry without its name, in letters.
HANDLE = 9

# The width of the left axis and its labels.
SIDE_IN = 0.6

MAX_COLUMNS = 4


@contextmanager
def sheet(title: str | None, *, width: Width, height_in: float, styled: bool) -> Iterator[Figure]:
    """Yield an empty figure in cwndlab's style; if not `styled`, in the user's style and size."""
    if width not in WIDTHS_IN:
        raise ValueError(f"width {width!r}: expected {' or '.join(map(repr, WIDTHS_IN))}")
    with style(styled=styled):
        figure = Figure(figsize=(WIDTHS_IN[width], height_in) if styled else None, layout="constrained")
        FigureCanvasAgg(figure)
        if title:
            room = letters(figure.get_figwidth(), mpl.rcParams["figure.titlesize"])
            figure.suptitle(shown(title, room))
        yield figure


def letters(width_in: float, font_size: float | str) -> int:
    """Return the number of letters of a font size (points, or a word such as `large`) that fit a width."""
    points = FontProperties(size=font_size).get_size_in_points()
    return int(width_in * POINTS_PER_INCH / (LETTER * points))


def legend_below(figure: Figure, handles: Sequence[Artist], *, styled: bool) -> None:
    """Add a legend below the axes. The figure grows by it, unless its size is the user's."""
    if not handles:
        return
    columns = _columns(figure.get_figwidth(), handles)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    if styled:
        rows = -(-len(handles) // columns)
        figure.set_figheight(figure.get_figheight() + rows * _row_in())


def legend_above(figure: Figure, ax: Axes, handles: Sequence[Artist]) -> None:
    """Add a legend above a panel, where it hides no data."""
    if handles:
        columns = _columns(figure.get_figwidth() - SIDE_IN, handles)
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=columns)


def _columns(width_in: float, handles: Sequence[Artist]) -> int:
    longest = HANDLE + max(len(str(handle.get_label())) for handle in handles)
    return max(1, min(MAX_COLUMNS, letters(width_in, mpl.rcParams["legend.fontsize"]) // longest))


def _row_in() -> float:
    points = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()
    return (1 + float(mpl.rcParams["legend.labelspacing"])) * points / POINTS_PER_INCH
