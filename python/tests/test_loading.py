"""What is saved comes back whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import cwndlab as cl
from cwndlab.output.data_files import DETAILS
from tests.conftest import SCENARIO
from tests.damage import changed
from tests.same import assert_detail_is, assert_recording_is

pytestmark = pytest.mark.usefixtures("own_cache")


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
    cl.run(SCENARIO, seeds=2).save(tmp_path / "new" / "folder", formats=["svg"])
    names = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert {"report.html", "series.svg", "cdf.svg", "box.svg", "fairness.svg", "intervals.parquet"} <= names


def test_a_folder_without_a_result(tmp_path: Path) -> None:
    with pytest.raises(cl.InputError, match=r"runs\.json.*No such file"):
        cl.load(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"{}",
        b"\xff",
        b'{"schema": 1}',
        b'{"schema": 1, "kind": "run", "results": []}',
        b'{"schema": 1, "kind": "sweep", "results": {}}',
        b'{"schema": ' + b"[" * 100_000,
        b'{"schema": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_damaged_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "runs.json").write_bytes(content)
    with pytest.raises(cl.InputError, match=r"runs\.json: is damaged"):
        cl.load(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison."""
    folder = tmp_path_factory.mktemp("whole")
    options: dict[str, Any] = {"seeds": 2, "overrides": {"duration": "0.3 s"}, "fresh": True}
    cl.compare(SCENARIO, ["cubic", "reno"], ["b"], **options).save(folder, figures=False)
    return folder


READ = ["runs.json", *(f"{name}.parquet" for name in DETAILS)]
# These are for other programs.
CHECKED = ["runs.parquet", "result.json"]


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """A folder like it, to be damaged."""
    for file in (*READ, *CHECKED):
        shutil.copy(whole / file, tmp_path)
    return tmp_path


# The keys of the hashes in `runs.json`, which earlier versions did not write.
HASHES = ("sha256", "tables_sha256", "result_sha256")


def unsealed(folder: Path) -> dict[str, Any]:
    """Take the hashes out of a folder's document, and return that."""
    document: dict[str, Any] = json.loads((folder / "runs.json").read_text())
    for key in HASHES:
        document.pop(key, None)
    (folder / "runs.json").write_text(json.dumps(document))
    return document


def failure(folder: Path) -> str:
    """What is said when it is loaded."""
    try:
        cl.load(folder)
    except cl.InputError as error:
        return str(error)
    return ""


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_damage_is_told_with_the_file(whole: Path, copy: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from([*READ, *CHECKED]))
    content = (whole / file).read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.none() | st.integers(1, 255))
    damaged = content[:place]
    if byte is not None:
        damaged += bytes([content[place] ^ byte]) + content[place + 1 :]
    (copy / file).write_bytes(damaged)
    told = failure(copy)
    # A byte of the document may mean the same (a space for a line break, or no line break at the end), or
    # be in the name of its hash.
    may_mean_the_same = byte is not None or damaged == content.rstrip()
    assert file in told or (file == "runs.json" and may_mean_the_same and not told)
    (copy / file).write_bytes(content)
    assert isinstance(cl.load(copy), cl.Comparison)


@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_document_of_another_kind(whole: Path, copy: Path, data: st.DataObject) -> None:
    """With its hash it is refused; without one, as in earlier folders, it is refused or can be used."""
    document = json.loads((whole / "runs.json").read_text())
    hashes = {key: document.pop(key) for key in HASHES}
    other = changed(data, document)
    (copy / "runs.json").write_text(json.dumps(other))
    with suppress(cl.InputError):
        back = cl.load(copy)
        back.to_json()
        back.to_markdown()
    if isinstance(other, dict) and json.dumps(other, sort_keys=True) != json.dumps(document, sort_keys=True):
        sealed = other | hashes
        (copy / "runs.json").write_text(json.dumps(sealed))
        assert "runs.json" in failure(copy)


@pytest.mark.parametrize("content", [b"", b"garbage", b"PAR1" + bytes(100) + b"PAR1"])
@pytest.mark.parametrize("file", READ[1:])
def test_a_damaged_table_of_an_earlier_version(copy: Path, file: str, content: bytes) -> None:
    unsealed(copy)
    assert isinstance(cl.load(copy), cl.Comparison)
    (copy / file).write_bytes(content)
    with pytest.raises(cl.InputError, match=rf"{file}: is damaged"):
        cl.load(copy)


@pytest.mark.parametrize("file", [*READ, *CHECKED])
def test_a_file_that_is_none_is_not_waited_for(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(cl.InputError, match=rf"{file}: cannot be read \(No such file"):
        cl.load(copy)
    os.mkfifo(copy / file)
    with pytest.raises(cl.InputError, match=rf"{file}: cannot be read \(not a regular file"):
        cl.load(copy)


def test_the_layout_does_not_matter(copy: Path) -> None:
    document = json.loads((copy / "runs.json").read_text())
    (copy / "runs.json").write_text(json.dumps(document, indent=4, sort_keys=True))
    assert isinstance(cl.load(copy), cl.Comparison)


def test_a_later_version(tmp_path: Path) -> None:
    for schema in (2, "1", True, None):
        (tmp_path / "runs.json").write_text(json.dumps({"schema": schema}))
        with pytest.raises(cl.InputError, match=f"expected schema 1, found {json.dumps(schema)}$"):
            cl.load(tmp_path)


def test_no_words_of_python(copy: Path) -> None:
    def damaged(change: Callable[[dict[str, Any]], object]) -> str:
        document = unsealed(copy)
        change(document)
        (copy / "runs.json").write_text(json.dumps(document))
        return failure(copy)

    changes: list[Callable[[dict[str, Any]], object]] = [
        lambda document: document.update(results=None),
        lambda document: document.update(results=[]),
        lambda document: document.update(kind="other"),
        lambda document: document.pop("kind"),
        lambda document: document["results"][0]["runs"][0]["outcome"]["flows"][0].update(name=[]),
        lambda document: [each.update(runs=[]) for each in document["results"]],
    ]
    whole = (copy / "runs.json").read_text()
    for change in changes:
        (copy / "runs.json").write_text(whole)
        assert damaged(change) == f"{copy / 'runs.json'}: is damaged: its content is not that of a result"
    (copy / "runs.json").write_text("{\n")
    assert failure(copy).startswith(f"{copy / 'runs.json'}: is damaged: line 2 is not JSON (")
