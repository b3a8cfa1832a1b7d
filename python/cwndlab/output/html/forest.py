"""Where the parts of a forest plot stand, in percent of its axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab.output.html.document import ForestPlot

# The outlines of the signs, around their middle. No two marks differ in colour alone.
SIGNS = {
    "reproduced": "M-4.5,0A4.5,4.5 0 1 1 4.5,0A4.5,4.5 0 1 1 -4.5,0Z",
    "supported": "M-4,-4H4V4H-4Z",
    "refuted": "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0Z",
    "undecided": "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
}
BEYOND_LEFT = "M-5,0L4,-5V5Z"
BEYOND_RIGHT = "M5,0L-4,-5V5Z"
# Where a line goes on beyond an end of the axis.
ON_TO_LEFT = "M0,-6L-5,0L0,6"
ON_TO_RIGHT = "M0,-6L5,0L0,6"


def place(plot: ForestPlot, value: float) -> str:
    """Return the position of a value. Values beyond the axis stand at its ends."""
    low, high = plot.ticks[0], plot.ticks[-1]
    return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"


def sign(plot: ForestPlot, value: float, mark: str) -> str:
    """Return the outline of a value's sign: that of its mark, or an arrow if it lies beyond the axis."""
    if value < plot.ticks[0]:
        return BEYOND_LEFT
    return BEYOND_RIGHT if value > plot.ticks[-1] else SIGNS[mark]


def cut_ends(plot: ForestPlot, low: float, high: float) -> list[tuple[str, str]]:
    """Return the position and outline of the sign at each end at which the axis cuts this line."""
    ends = []
    if low < plot.ticks[0]:
        ends.append(("0%", ON_TO_LEFT))
    if high > plot.ticks[-1]:
        ends.append(("100%", ON_TO_RIGHT))
    return ends
