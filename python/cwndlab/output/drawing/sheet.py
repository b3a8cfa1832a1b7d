"""The sheet of a figure: its size, its title, its axes and its legend."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from cwndlab.errors import InputError
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


@dataclass(frozen=True)
class Page:
    """What a figure is drawn on: its width and title, whose style, or axes of the user.

    In the user's style, the figure has the user's size. In the user's axes, nothing outside them changes.
    """

    title: str | None = None
    width: Width = "page"
    styled: bool = True
    axes: Sequence[Axes] = ()

    def __post_init__(self) -> None:
        if self.width not in WIDTHS_IN:
            expected = " or ".join(map(repr, WIDTHS_IN))
            raise InputError(f"width {self.width!r}: expected {expected}")


@dataclass
class Sheet:
    """A figure with its axes, from the top down."""

    figure: Figure
    axes: list[Axes]
    page: Page

    @property
    def is_own(self) -> bool:
        """Whether the figure is ours, and not the user's."""
        return not self.page.axes

    @property
    def width_in(self) -> float:
        """The width of the figure, or of the user's axes."""
        return self.figure.get_figwidth() * (1 if self.is_own else self.axes[0].get_position().width)

    def legend_below(self, handles: Sequence[Artist]) -> None:
        """Add a legend below the axes. The figure grows by it, unless its size is the user's."""
        if not handles:
            return
        if not self.is_own:
            self.axes[-1].legend(handles=handles)
            return
        columns = _columns(self.width_in, handles)
        self._shorten(handles, columns)
        self.figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        if self.page.styled:
            rows = -(-len(handles) // columns)
            self.figure.set_figheight(self.figure.get_figheight() + rows * _row_in())

    def _shorten(self, handles: Sequence[Artist], columns: int) -> None:
        """Shorten the names that are wider than the figure."""
        room = letters(self.width_in / columns, mpl.rcParams["legend.fontsize"]) - HANDLE + 1
        for handle in handles:
            name = str(handle.get_label())
            if len(name) > room:
                handle.set_label(shown(name.replace(r"\$", "$"), max(8, room)))


@contextmanager
def sheet(page: Page, height_in: float, panels: int = 1) -> Iterator[Sheet]:
    """Yield an empty figure with panels in a column, or the user's axes."""
    with style(styled=page.styled):
        if page.axes:
            yield _users_own(page, panels)
            return
        size = (WIDTHS_IN[page.width], height_in) if page.styled else None
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        if page.title:
            room = letters(figure.get_figwidth(), mpl.rcParams["figure.titlesize"])
            figure.suptitle(shown(page.title, room))
        axes = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
        yield Sheet(figure, [*axes], page)


def _users_own(page: Page, panels: int) -> Sheet:
    if len(page.axes) != panels:
        expected = "one axes" if panels == 1 else f"{panels} axes, one for each panel"
        raise InputError(f"ax: expected {expected}, found {len(page.axes)}")
    figure = page.axes[0].get_figure(root=True)
    if not isinstance(figure, Figure):
        raise InputError("ax: expected axes of a figure")
    if page.title:
        page.axes[0].set_title(shown(page.title))
    return Sheet(figure, [*page.axes], page)


def letters(width_in: float, font_size: float | str) -> int:
    """Return the number of letters of a font size (points, or a word such as `large`) that fit a width."""
    points = FontProperties(size=font_size).get_size_in_points()
    return int(width_in * POINTS_PER_INCH / (LETTER * points))


def _columns(width_in: float, handles: Sequence[Artist]) -> int:
    longest = HANDLE + max(len(str(handle.get_label())) for handle in handles)
    return max(1, min(MAX_COLUMNS, letters(width_in, mpl.rcParams["legend.fontsize"]) // longest))


def _row_in() -> float:
    points = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()
    return (1 + float(mpl.rcParams["legend.labelspacing"])) * points / POINTS_PER_INCH
