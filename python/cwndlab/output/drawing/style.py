"""The style of all figures, and writing them to files.

The colours are Okabe and Ito's, which colour-blind readers can distinguish. Dashes, markers and their filling
differ too, for print in grey.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib.rcsetup import cycler

from cwndlab.output.drawing.formats import FORMATS
from cwndlab.system.writing import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

Width = Literal["column", "page"]
Filling = Literal["full", "none", "left", "bottom", "right", "top"]

# One and two columns of an IEEE journal (IEEE Author Center, "Size Requirements for Graphics").
WIDTHS_IN: dict[Width, float] = {"column": 3.5, "page": 7.16}

# Without the palette's yellow, which is too pale for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1)),
    (0, (5, 1, 1.5, 1)),
    (0, (9, 1.5)),
    (0, (9, 1, 1.5, 1)),
    (0, (1.5, 2.5)),
    (0, (5, 1, 1.5, 1, 1.5, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
FILLINGS: tuple[Filling, ...] = ("full", "none", "left", "bottom", "right", "top")

# The date is left out, so that the same data give the same file.
METADATA: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one series, which distinguishes it from the others."""

    colour: Any
    dash: Any
    marker: Any
    filling: Filling


@contextmanager
def style(*, styled: bool = True) -> Iterator[None]:
    """Draw in cwndlab's style; with `styled=False`, in the style of the user's matplotlibrc.

    To change part of the style, set `matplotlib.rcParams` inside this context and draw with `styled=False`.
    """
    with mpl.rc_context():
        if styled:
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)
        yield


def looks(count: int) -> list[Look]:
    """Return the looks of `count` series. Colours and dashes come from matplotlib's current cycle."""
    cycle = islice(mpl.rcParams["axes.prop_cycle"](), count)
    return [
        Look(
            colour=properties.get("color", mpl.rcParams["lines.color"]),
            dash=properties.get("linestyle", mpl.rcParams["lines.linestyle"]),
            marker=properties.get("marker", MARKERS[index % len(MARKERS)]),
            filling=FILLINGS[index % len(FILLINGS)],
        )
        for index, properties in enumerate(cycle)
    ]


def save(
    figure: Figure, folder: Path, stem: str, kinds: Sequence[str] = FORMATS, *, styled: bool = True
) -> list[Path]:
    """Write a figure in these formats, and return the paths. The same figure gives the same bytes."""
    paths = [folder / f"{stem}.{kind}" for kind in kinds]
    for path in paths:
        save_as(figure, path, styled=styled)
    return paths


def save_as(figure: Figure, path: Path, *, styled: bool = True) -> None:
    """Write the figure in the format that the end of the path names. The same figure gives the same bytes."""
    kind = path.suffix.removeprefix(".")
    with style(styled=styled):
        mpl.rcParams["svg.hashsalt"] = SETTINGS["svg.hashsalt"]
        with whole(path) as file:
            figure.savefig(file, format=kind, metadata=METADATA[kind])


def svg(figure: Figure) -> str:
    """Return the figure as an SVG element for a page. The same figure gives the same text."""
    picture = io.StringIO()
    with style():
        figure.savefig(picture, format="svg", metadata=METADATA["svg"])
    text = picture.getvalue()
    return text[text.index("<svg") :]


def _cycle() -> Any:
    """Return every colour with every dash. Each round through the colours begins one dash later."""
    rounds = range(len(DASHES))
    dashes = [DASHES[(index + turn) % len(DASHES)] for turn in rounds for index in range(len(COLOURS))]
    return cycler(color=COLOURS * len(rounds), linestyle=dashes)


# Text stays text in SVG and PDF, and the same figure gives the same SVG. IEEE requires at least 300 dpi for
# figures in colour ("Resolution and Size", as above).
SETTINGS: Mapping[Any, Any] = {
    "font.size": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.prop_cycle": _cycle(),
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "image.cmap": "viridis",
    "lines.linewidth": 1.1,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "cwndlab",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
