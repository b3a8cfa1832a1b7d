"""Reads the folder of a result.

The series, intervals and distributions come from the Parquet files, everything else from `runs.json`. A file
whose hash does not match is damaged, and is not decoded.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.output.data_files import DOCUMENT_HASH, FILE, HASHES, RUNS, SCHEMA, SEAL, sealed
from cwndlab.output.kinds import KINDS, kind_of, sources
from cwndlab.output.names import DOCUMENT
from cwndlab.results.detail import Detail, Distribution
from cwndlab.results.frames import TIME
from cwndlab.results.recording import FlowEvent, Recording, SeriesTable
from cwndlab.results.result import Result
from cwndlab.results.seed_run import SeedRun
from cwndlab.system.given import given_path
from cwndlab.system.reading import read_regular

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    import polars as pl

    from cwndlab.results.recording import Column
    from cwndlab.results.result import Study


def load(folder: str | os.PathLike[str]) -> Study:
    """Read the result that `save` or a command wrote into a folder.

    Raises `InputError` if the folder has no result, a damaged one, or one of a later version.
    """
    path = given_path(folder, "folder") / FILE
    try:
        text = read_regular(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            raise InputError(f"{path.parent}: no such folder; expected the folder of a result") from None
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); expected the folder of a result"
        ) from None
    try:
        return _read(json.loads(text), path)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: is damaged: line {error.lineno} is not JSON ({error.msg})") from None
    except Exception:
        # Without a hash, the file may contain anything.
        raise InputError(f"{path}: is damaged: its content is not that of a result") from None


def _read(document: dict[str, Any], path: Path) -> Study:
    schema = json.dumps(document["schema"])
    if schema != str(SCHEMA):
        raise InputError(f"{path}: expected schema {SCHEMA}, found {schema}")
    seal = document.pop(SEAL, None)
    if seal is not None and seal != sealed(document)[SEAL]:
        raise InputError(f"{path}: is damaged: its content does not match its hash")
    _require_unchanged(path.parent, document)
    tables = _Tables(path.parent, document.get(HASHES))
    results = [(entry["settings"], _result(entry, tables)) for entry in document["results"]]
    study: Study = KINDS[document["kind"]].restored(document, results)
    if seal is None:
        _use(study)
    return study


def _require_unchanged(folder: Path, document: Mapping[str, Any]) -> None:
    """Check the files that only other programs read. Earlier versions did not keep their hashes."""
    hashes = {RUNS: document.get(HASHES, {}).get("runs"), DOCUMENT: document.get(DOCUMENT_HASH)}
    for name, expected in hashes.items():
        if expected is not None:
            _checked(folder / name, expected)


def _checked(path: Path, expected: str | None) -> bytes:
    """Return the content of a file. Raises `InputError` if this is not its hash."""
    try:
        content = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if expected is not None and hashlib.sha256(content).hexdigest() != expected:
        raise InputError(f"{path}: is damaged: its content does not match its hash")
    return content


def _use(study: Study) -> None:
    """Use a study from before the hashes: only that shows whether it is complete. Raises any exception."""
    study.to_json()
    kind_of(study).tables(study)
    kind_of(study).answer(study)
    outcomes = [run.outcome for _, result in study.variants for run in result.runs]
    parts = [each for outcome in outcomes for kind in ("flows", "groups", "links") for each in outcome[kind]]
    if not outcomes or not all(isinstance(each["name"], str) for each in parts):
        raise ValueError


def _result(entry: Mapping[str, Any], tables: _Tables) -> Result:
    settings = entry["settings"]
    runs = [
        SeedRun(
            run["seed"],
            run["outcome"],
            tables.detail(settings, run["seed"]),
            tables.recording(settings, run["seed"]),
            reused=True,
        )
        for run in entry["runs"]
    ]
    return Result(sources.restored(entry["scenario"]), runs, entry["interrupted"])


class _Tables:
    """The tables of a folder, divided by variant and seed."""

    def __init__(self, folder: Path, hashes: Mapping[str, str] | None) -> None:
        self._folder = folder
        # The hashes of the existing tables; None if `runs.json` has no hashes.
        self._hashes = hashes
        self._parts: dict[str, dict[tuple[Any, ...], pl.DataFrame]] = {}

    def detail(self, settings: Mapping[str, str], seed: int) -> Detail:
        intervals = self._part("intervals", settings, seed)
        end_s, tables = _series_tables(intervals, {"flow", "subflow", "group"})
        jain_end_s, jain = _series_tables(intervals, {"run"})
        return Detail(
            end_s,
            tables,
            jain_end_s,
            jain[0].columns.get("jain", 0 * jain_end_s + math.nan) if jain else jain_end_s,
            list(_distributions(self._part("distributions", settings, seed))),
        )

    def recording(self, settings: Mapping[str, str], seed: int) -> Recording | None:
        series = self._part("series", settings, seed)
        if not series.height:
            return None
        time_s, tables = _series_tables(series, {"flow", "subflow", "link"})
        events = self._part("events", settings, seed).rows(named=True)
        return Recording(time_s, tables, [FlowEvent(**event) for event in events])

    def _part(self, name: str, settings: Mapping[str, str], seed: int) -> pl.DataFrame:
        import polars as pl

        if name not in self._parts:
            table = self._table(name)
            keys = [*settings, "seed"]
            self._parts[name] = (
                table.partition_by(keys, as_dict=True, include_key=False) if table.height else {}
            )
        return self._parts[name].get((*settings.values(), seed), pl.DataFrame())

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        path = self._folder / f"{name}.parquet"
        is_there = path.exists() if self._hashes is None else name in self._hashes
        if not is_there:
            return pl.DataFrame()
        content = _checked(path, None if self._hashes is None else self._hashes[name])
        try:
            return pl.read_parquet(io.BytesIO(content))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"{path}: is damaged ({error})") from None


def _series_tables(frame: pl.DataFrame, kinds: set[str]) -> tuple[Column, list[SeriesTable]]:
    """Return the grid of times and the tables of these kinds. The frame lists one component after another."""
    import numpy as np
    import polars as pl

    times: Column = np.zeros(0)
    tables = []
    if frame.height:
        keys = ["kind", "name"]
        parts = frame.partition_by(keys, as_dict=True, include_key=False, maintain_order=True)
        for (kind, name), part in parts.items():
            if kind in kinds:
                times = part[TIME].to_numpy()
                values = part.drop(TIME).select(pl.col(pl.Float64).fill_null(float("nan")))
                columns = {each.name: each.to_numpy() for each in values if not each.is_nan().all()}
                tables.append(SeriesTable(str(kind), str(name), columns))
    return times, tables


def _distributions(frame: pl.DataFrame) -> Iterator[Distribution]:
    if frame.height:
        keys = ["kind", "name", "measure"]
        parts = frame.partition_by(keys, as_dict=True, include_key=False, maintain_order=True)
        for (kind, name, measure), part in parts.items():
            buckets = part["middle"].to_numpy(), part["count"].to_numpy()
            yield Distribution(str(kind), str(name), str(measure), *buckets)
