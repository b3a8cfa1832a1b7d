"""The files of a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from cwndlab.errors import InputError
from cwndlab.output import names, place
from tests.samples import flow, outcome, recording, result


def test_same_data_same_files(tmp_path: Path) -> None:
    made = result([outcome([flow("a", 1), flow("b", 2)])] * 2, recording())
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        made.save(folder, formats="png,svg,pdf")
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert {"report.html", "series.svg", "box.pdf", "runs.parquet"} <= set(written[0])


def test_stale_files_go(tmp_path: Path) -> None:
    for name in names.NAMES:
        (tmp_path / name).write_text("of an earlier run")
    result([outcome([flow("a", 1)])]).save(tmp_path, figures=False, replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "about.json",
        "distributions.parquet",
        "intervals.parquet",
        "report.html",
        "result.json",
        "runs.csv",
        "runs.json",
        "runs.parquet",
    ]


def test_a_folder_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        place.prepare(tmp_path / "file" / "folder")
