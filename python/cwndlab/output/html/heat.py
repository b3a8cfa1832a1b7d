"""The colours of a heat map: from dark blue to yellow, which is also dark to light."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab.output.charts import HeatMap

Colour = tuple[int, int, int]

# Viridis by S. van der Walt and N. Smith (CC0) at equal steps, with linear interpolation between them.
VIRIDIS: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)


def colour(share: float) -> Colour:
    """Return the colour at a position from 0 to 1."""
    position = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    index = min(int(position), len(VIRIDIS) - 2)
    rest = position - index
    left, right = list(pairwise(VIRIDIS))[index]
    red, green, blue = (round(a + rest * (b - a)) for a, b in zip(left, right, strict=True))
    return red, green, blue


def ramp(heat_map: HeatMap) -> list[Colour]:
    """Return the colours of the scale, from the least value to the greatest."""
    return [*reversed(VIRIDIS)] if heat_map.is_reversed else [*VIRIDIS]


def text_colour(background: Colour) -> Colour:
    """Return black or white, whichever is easier to read."""
    return max(BLACK, WHITE, key=lambda text: contrast(text, background))


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of WCAG 2, from 1 to 21. For text, 4.5 is enough."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def css(of: Colour) -> str:
    """Return the colour for a style sheet."""
    return "#{:02x}{:02x}{:02x}".format(*of)


def _luminance(of: Colour) -> float:
    red, green, blue = (_linear(channel / 255) for channel in of)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
