"""Names next to points, placed so that they hide nothing."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    Place = tuple[float, float]

POINTS_PER_INCH = 72
FONT_SIZE = "small"

# The places for a name, best first: sideways and upwards, and the distance in points.
DIRECTIONS = ((-1, 1), (0, 1), (-1, 0), (1, -1), (0, -1), (1, 0), (1, 1), (-1, -1))
DISTANCES_POINTS = (4, 12, 20, 30)

LEADER = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}

# The distance of names from the edges, in pixels.
EDGE = 6.0

# Half the side of a point's marker, in points.
MARKER = 4.0

ALIGNMENTS_X = {-1: "right", 0: "center", 1: "left"}
ALIGNMENTS_Y = {-1: "top", 0: "center", 1: "bottom"}


def label_points(
    figure: Figure, ax: Axes, names: Sequence[tuple[str, Place]], points: Sequence[Place]
) -> None:
    """Write names next to their places, so that they hide neither each other nor a point.

    Everything else in the figure must be drawn before. A name without room is left out.
    """
    figure.draw_without_rendering()
    pixels = figure.dpi / POINTS_PER_INCH
    taken = [_around(place, MARKER * pixels) for place in ax.transData.transform(points)]
    for name, place in names:
        text = ax.annotate(name, place, xytext=(0, 0), textcoords="offset points", fontsize=FONT_SIZE)
        text.set_in_layout(False)
        distance = _find_room(text, ax.bbox, taken)
        if distance is None:
            text.remove()
        elif distance > DISTANCES_POINTS[0]:
            _lead(ax, text)


def _find_room(text: Annotation, inside: Bbox, taken: list[Bbox]) -> float | None:
    """Move a name to the first free place and return its distance."""
    for distance, (sideways, upwards) in product(DISTANCES_POINTS, DIRECTIONS):
        text.set(
            position=(sideways * distance, upwards * distance),
            horizontalalignment=ALIGNMENTS_X[sideways],
            verticalalignment=ALIGNMENTS_Y[upwards],
        )
        box = text.get_window_extent()
        if _holds(inside.padded(-EDGE), box) and not box.count_overlaps(taken):
            taken.append(box)
            return distance
    return None


def _lead(ax: Axes, text: Annotation) -> None:
    """Draw a line from a distant name to its point."""
    leader = ax.annotate(
        "", text.xy, xytext=text.get_position(), textcoords="offset points", arrowprops=dict(LEADER)
    )
    leader.set_in_layout(False)


def _around(place: Place, reach: float) -> Bbox:
    x, y = place
    return Bbox.from_extents(x - reach, y - reach, x + reach, y + reach)


def _holds(outer: Bbox, inner: Bbox) -> bool:
    return all(outer.contains(x, y) for x, y in (inner.p0, inner.p1))
