"""Names along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from cwndlab.output.drawing.sheet import SIDE_IN, letters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def name_ticks(figure: Figure, ax: Axes, names: Sequence[str]) -> None:
    """Write names below the places 0, 1, 2 and so on. Names that do not fit side by side are slanted."""
    room_in = (figure.get_figwidth() - SIDE_IN) / max(1, len(names))
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    if longest < letters(room_in, mpl.rcParams["xtick.labelsize"]):
        ax.set_xticks(range(len(names)), names)
    else:
        ax.set_xticks(
            range(len(names)),
            [name.replace("\n", ", ") for name in names],
            rotation=45,
            rotation_mode="anchor",
            horizontalalignment="right",
        )
