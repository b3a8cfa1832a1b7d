"""The files that a result leaves in its folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.result import Result

FIGURES = ("figure.png", "figure.svg", "figure.pdf")
NAMES = ("result.json", "runs.parquet", "runs.csv", "series.parquet", "events.parquet", *FIGURES)


def prepare(folder: Path) -> None:
    """Make the folder, before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written ({error.strerror})") from None


def write_tables(result: Result, folder: Path) -> None:
    """Write the document, the tables and the series.

    Earlier files go first, the figures too: a stale figure beside new numbers would lie.
    """
    from cwndlab.tables import events_frame, runs_frame, series_frame

    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
    (folder / "result.json").write_text(dump(result.to_json()) + "\n")
    runs = runs_frame(result.runs)
    runs.write_parquet(folder / "runs.parquet")
    runs.write_csv(folder / "runs.csv")
    if result.recorded is not None:
        series_frame(result.recorded[1]).write_parquet(folder / "series.parquet")
        events_frame(result.recorded[1]).write_parquet(folder / "events.parquet")


def write_figures(result: Result, folder: Path) -> None:
    """Draw the recorded seed, if it finished."""
    if result.recorded is None:
        return

    from cwndlab.figures.style import save

    save(result.plot(), folder, "figure")


def dump(document: dict[str, Any]) -> str:
    """Format a JSON document; a NaN in it would be a mistake of ours and is refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
