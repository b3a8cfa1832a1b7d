"""CSV for spreadsheets: no text of it is a formula, and none is lost."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cwndlab.scenarios.scenario import ScenarioError, from_mapping
from cwndlab.system.table_files import write_csv, write_parquet

SCENARIO = {
    "duration": "1 s",
    "link": [{"name": "b", "rate": "1 Mbit/s", "delay": "1 ms"}],
    "flow": [{"name": "a", "cc": "reno", "path": ["b"]}],
}
FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def written(cells: list[str]) -> list[str]:
    """The cells of a column of texts, as a reader of the CSV has them."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write_csv(pl.DataFrame({"number": [-1.5] * len(cells), "text": cells}), file)
        rows = list(csv.reader(io.StringIO(file.read_bytes().decode(), newline="")))
    assert all(row[0] == "-1.5" for row in rows[1:])
    return [row[1] for row in rows[1:]]


@given(st.lists(st.tuples(st.sampled_from(["", *FORMULA]), st.text(max_size=8)), min_size=1, max_size=8))
@example([("=", "cmd|' /C calc'!A0"), ("-", "2+3+cmd|x"), ("+", "1;=1"), ("@", "SUM(1)"), ("", "plain")])
def test_no_text_is_a_formula(parts: list[tuple[str, str]]) -> None:
    cells = [begin + rest for begin, rest in parts]
    for cell, read in zip(cells, written(cells), strict=True):
        # What is there is what was given, behind an apostrophe if need be.
        assert read in (cell, f"'{cell}")
        if read.startswith(FORMULA):
            assert re.fullmatch(r"[+-][\d.]+([eE][+-]?\d+)? ?[A-Za-z%/]*", read), read


@pytest.mark.parametrize(
    "label", ["-1", "+1", "-0.5", "+.5", "-3.5e-2 Mbit/s", "+5 ms", "-1 dB", "-10%", "1 bdp"]
)
def test_a_number_stays_as_it_is(label: str) -> None:
    assert written([label]) == [label]


def test_parquet_has_every_text_as_it_is(tmp_path: Path) -> None:
    table = pl.DataFrame({"text": ["=1+1", "-x", None, "plain"]})
    write_parquet(table, tmp_path / "table.parquet")
    assert pl.read_parquet(tmp_path / "table.parquet").equals(table)
    write_csv(table, tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "text\n'=1+1\n'-x\n\nplain\n"


@pytest.mark.parametrize(
    "name", ["=cmd|x", "+a", "-a", "@a", "a\u200bb", "a\u2028b", "a\u202eb", "a\tb", "\ufeffa"]
)
@pytest.mark.parametrize("kind", ["flow", "link"])
def test_a_name_that_no_table_should_hold_is_refused(name: str, kind: str) -> None:
    changed = {**SCENARIO, kind: [{**SCENARIO[kind][0], "name": name}]}  # type: ignore[dict-item]
    with pytest.raises(ScenarioError) as told:
        from_mapping(changed).validate()
    problem = told.value.problems[0]
    assert problem.line is not None
    assert problem.key == f"{kind}[0].name"
    assert "expected a name " in problem.message
    with pytest.raises(ScenarioError):
        from_mapping(SCENARIO, [(f"{kind}.0.name", name.strip("\t"))]).validate()
