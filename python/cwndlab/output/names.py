"""The names of the files of a result in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.output import about
from cwndlab.output.drawing.formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = "result.json"
# The folder of the weights that flows and subflows learned: one file for each of them and each seed.
WEIGHTS = "weights"
REPORT = "report.html"
TABLES = ("runs", "series", "events", "intervals", "distributions")
# The file names of the figures. A figure without content is not drawn.
FIGURES = (
    "series",
    "recorded",
    "box",
    "cdf",
    "fairness",
    "pareto",
    "harm",
    "heatmap-goodput",
    "heatmap-queue-delay",
    "sensitivity",
)
# How the names of the figures of one condition of a sweep begin, and those of one key.
OF_A_PART = ("pareto-", "over-")
NAMES = (
    about.FILE,
    DOCUMENT,
    REPORT,
    "runs.json",
    "runs.csv",
    *(f"{table}.parquet" for table in TABLES),
    *(f"{figure}.{kind}" for figure in FIGURES for kind in FORMATS),
)


def named_as_ours(folder: Path) -> list[Path]:
    """Return the files in a folder that have the name of a file of a result. A new result deletes them."""
    parts = [f"{part}*.{kind}" for part in OF_A_PART for kind in FORMATS]
    patterns = (*NAMES, *parts, f"{WEIGHTS}/*.safetensors")
    return [path for pattern in patterns for path in folder.glob(pattern)]
