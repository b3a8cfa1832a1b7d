"""What is saved comes back whole."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import cwndlab as cl
from tests.conftest import SCENARIO
from tests.same import assert_detail_is, assert_recording_is


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))


def test_run(tmp_path: Path) -> None:
    made = cl.run(SCENARIO, seeds=3, record="all")
    made.save(tmp_path, figures=False)
    back = cl.load(tmp_path)
    assert isinstance(back, cl.Result)
    assert back.to_json() == made.to_json()
    assert_frame_equal(back.series("cwnd"), made.series("cwnd"))
    assert_frame_equal(back.intervals, made.intervals)
    for one, other in zip(back.runs, made.runs, strict=True):
        assert_detail_is(one.detail, other.detail)
        assert one.recording is not None
        assert other.recording is not None
        assert_recording_is(one.recording, other.recording)
    assert back.plot().axes


def test_comparison(tmp_path: Path) -> None:
    made = cl.compare(SCENARIO, ["cubic", "reno"], ["b"], seeds=2)
    made.save(tmp_path, figures=False)
    back = cl.load(tmp_path)
    assert isinstance(back, cl.Comparison)
    assert back.to_json() == made.to_json()
    assert back.command == made.command
    assert_frame_equal(back.results[1].series("cwnd"), made.results[1].series("cwnd"))
    assert pl.read_parquet(tmp_path / "runs.parquet")["variant"].unique().sort().to_list() == [
        "alone",
        "cubic",
        "reno",
    ]


def test_sweep(tmp_path: Path) -> None:
    made = cl.sweep(SCENARIO, {"flow.a.cc": ["cubic", "reno"], "link.0.queue": ["1 bdp", "2 bdp"]}, seeds=2)
    made.save(tmp_path, figures=False)
    back = cl.load(tmp_path)
    assert isinstance(back, cl.Sweep)
    assert back.to_json() == made.to_json()
    assert_frame_equal(back.table, made.table)


def test_figures_and_report_are_beside_it(tmp_path: Path) -> None:
    cl.run(SCENARIO, seeds=2).save(tmp_path / "new" / "folder")
    names = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert {"report.html", "series.svg", "cdf.pdf", "box.png", "fairness.png", "intervals.parquet"} <= names


def test_a_folder_without_a_result(tmp_path: Path) -> None:
    with pytest.raises(cl.InputError, match=r"runs\.json.*No such file"):
        cl.load(tmp_path)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"schema": 1}', '{"schema": 1, "kind": "run", "results": []}']
)
def test_a_damaged_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "runs.json").write_text(content)
    with pytest.raises(cl.InputError, match="is damaged"):
        cl.load(tmp_path)


def test_a_later_version(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(json.dumps({"schema": 2}))
    with pytest.raises(cl.InputError, match="schema 2; this version reads 1"):
        cl.load(tmp_path)
