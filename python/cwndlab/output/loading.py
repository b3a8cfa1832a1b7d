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
from cwndlab.output.data_files import FILE, HASHES, SCHEMA, SEAL, sealed
from cwndlab.output.kinds import KINDS, sources
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
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); expected the folder of a result"
        ) from None
    try:
        return _read(json.loads(text), path)
    except InputError:
        raise
    except Exception as error:
        # Without a hash, the file may contain anything.
        raise InputError(f"{path}: is damaged ({type(error).__name__}: {error})") from None


def _read(document: dict[str, Any], path: Path) -> Study:
    if document["schema"] != SCHEMA:
        raise InputError(f"{path}: expected schema {SCHEMA}, found {document['schema']}")
    seal = document.pop(SEAL, None)
    if seal is not None and seal != sealed(document)[SEAL]:
        raise InputError(f"{path}: is damaged: its content does not match its hash")
    tables = _Tables(path.parent, document.get(HASHES))
    results = [(entry["settings"], _result(entry, tables)) for entry in document["results"]]
    study: Study = KINDS[document["kind"]].restored(document, results)
    if seal is None:
        # The file is older than the hashes. Only using it shows whether it is complete.
        study.to_json()
    return study


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
        try:
            content = read_regular(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        if self._hashes is not None and hashlib.sha256(content).hexdigest() != self._hashes[name]:
            raise InputError(f"{path}: is damaged: its content does not match its hash")
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
