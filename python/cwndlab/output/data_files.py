"""The data of a result in its folder: the tables, and `runs.json`.

`runs.json` holds what does not fit into a table: the scenarios, their settings and the outcomes. It holds
hashes of the tables and of itself, so that a damaged file is not decoded.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from cwndlab.output.kinds import kind_of, sources
from cwndlab.output.names import DOCUMENT
from cwndlab.results.frames import (
    distributions_frame,
    events_frame,
    intervals_frame,
    joined,
    runs_frame,
    series_frame,
)
from cwndlab.system.reading import read_regular
from cwndlab.system.table_files import write_csv, write_parquet
from cwndlab.system.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cwndlab.results.result import Result, Settings, Study

SCHEMA = 1
FILE = "runs.json"
DETAILS = {
    "series": series_frame,
    "events": events_frame,
    "intervals": intervals_frame,
    "distributions": distributions_frame,
}
RUNS = "runs.parquet"
# The keys of the hashes of the Parquet tables, of `result.json`, and of `runs.json` without this key.
HASHES = "tables_sha256"
DOCUMENT_HASH = "result_sha256"
SEAL = "sha256"


def write(study: Study, folder: Path) -> None:
    """Write `runs.json`, and the tables as Parquet (the runs also as CSV). Empty tables are left out.

    The document, `result.json`, is there already.
    """
    kind = kind_of(study)
    variants = study.all_variants
    runs = joined((settings, runs_frame(result.runs)) for settings, result in variants)
    write_parquet(runs, folder / RUNS)
    write_csv(runs, folder / "runs.csv")
    hashes = {"runs": sha256_of(folder / RUNS)}
    for name, frame in (DETAILS if kind.has_details else {}).items():
        table = joined((settings, frame(result.runs)) for settings, result in variants)
        if table.height:
            path = folder / f"{name}.parquet"
            write_parquet(table, path)
            hashes[name] = sha256_of(path)
    document = {
        "schema": SCHEMA,
        "kind": study.kind,
        **kind.request(study),
        "results": [_described(*variant) for variant in variants],
        HASHES: hashes,
        DOCUMENT_HASH: sha256_of(folder / DOCUMENT),
    }
    write_text(folder / FILE, json.dumps(sealed(document), ensure_ascii=False, allow_nan=False) + "\n")


def sha256_of(path: Path) -> str:
    """Return the hash of a file of the folder."""
    return hashlib.sha256(read_regular(path)).hexdigest()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with a hash of its content, which does not depend on its layout."""
    text = json.dumps(document, sort_keys=True)
    return {**document, SEAL: hashlib.sha256(text.encode()).hexdigest()}


def _described(settings: Settings, result: Result) -> dict[str, Any]:
    return {
        "settings": settings,
        "scenario": sources.described(result.scenario),
        "interrupted": result.interrupted,
        "runs": [{"seed": run.seed, "outcome": run.outcome} for run in result.runs],
    }
