"""The measures are declared once; the documentation has the same names, units and meanings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwndlab import _native
from cwndlab.engine import SHIPPED
from cwndlab.output.tables.columns import titled
from tests.conftest import SCENARIO
from tests.documents import ROOT

MEASURES: dict[str, list[dict[str, Any]]] = SHIPPED.read_catalogue()["measures"]
SERIES: dict[str, list[dict[str, Any]]] = SHIPPED.read_catalogue()["series"]
PAGE = (ROOT / "docs" / "results.md").read_text()


@pytest.mark.parametrize("kind", MEASURES)
def test_the_page_has_the_declared_table(kind: str) -> None:
    rows = [f"| `{each['name']}` | {each['unit']} | {each['meaning']} |" for each in MEASURES[kind]]
    head = [f"<!-- measures: {kind} -->", "| measure | unit | meaning |", "|---|---|---|"]
    table = "\n".join([*head, *(row.replace("|  |", "| |") for row in rows)])
    assert f"{table}\n\n" in PAGE, f"docs/results.md should have:\n{table}"


@pytest.mark.parametrize("kind", SERIES)
def test_the_page_has_the_declared_series(kind: str) -> None:
    rows = [f"| `{each['name']}` | {each['unit']} | {each['meaning']} |" for each in SERIES[kind]]
    head = [f"<!-- series: {kind} -->", "| column | unit | meaning |", "|---|---|---|"]
    table = "\n".join([*head, *(row.replace("|  |", "| |") for row in rows)])
    assert f"{table}\n\n" in PAGE, f"docs/results.md should have:\n{table}"


def test_a_recording_has_the_declared_columns() -> None:
    text = SCENARIO.encode().replace(b"[[link]]", b"timeout_patterns = true\n[[link]]", 1)
    recorded = _native.run_seed(text, "x.toml", [], 1, True, _native.RunToken())[2]
    assert recorded is not None
    declared = {kind: [each["name"] for each in columns] for kind, columns in SERIES.items()}
    for kind, _, columns in recorded["tables"]:
        assert list(dict(columns))[: len(declared[kind])] == declared[kind]


def test_a_run_reports_what_is_declared_and_nothing_else() -> None:
    text = SCENARIO.encode().replace(b"[[link]]", b"timeout_patterns = true\n[[link]]", 1)
    answer = _native.run_seed(text, "x.toml", [], 1, False, _native.RunToken())
    outcome = json.loads(answer[0])
    names = {kind: {each["name"] for each in measures} for kind, measures in MEASURES.items()}
    flow = set(outcome["flows"][0]) - {"name", "cc", "degraded"}
    assert flow == names["flow"] | names["patterns"]
    assert set(outcome["links"][0]) - {"name"} == names["link"]


def test_headings_come_from_the_declarations() -> None:
    for key in ("sent_packets", "start_s", "rtt_peaks", "marked_packets"):
        declared = next(measures[key] for measures in SHIPPED.measures.values() if key in measures)
        assert (titled(key).title, titled(key).unit) == (declared["heading"], declared["unit"])
