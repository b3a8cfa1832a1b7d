"""Results in a folder, and back again.

`runs.json` has all that cannot be told by a table: the scenarios, their settings and the outcomes. The
series, intervals and distributions are read back from their Parquet files. `runs.json` has the hashes of
these and of itself: a file that was damaged is not decoded.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.engine.origins import Origin
from cwndlab.errors import InputError
from cwndlab.results.comparison import Comparison, Contest
from cwndlab.results.detail import Detail, Distribution
from cwndlab.results.frames import (
    distributions_frame,
    events_frame,
    intervals_frame,
    joined,
    runs_frame,
    series_frame,
)
from cwndlab.results.recording import FlowEvent, Recording, SeriesTable
from cwndlab.results.result import Result
from cwndlab.results.seed_run import SeedRun
from cwndlab.results.sweep import Sweep
from cwndlab.scenarios.grid import Axis
from cwndlab.scenarios.scenario import Scenario
from cwndlab.system.reading import read_regular
from cwndlab.system.table_files import write_csv, write_parquet
from cwndlab.system.writing import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    import polars as pl

    from cwndlab.results.recording import Column

    Saved = Result | Comparison | Sweep

SCHEMA = 1
FILE = "runs.json"
FRAMES = {
    "series": series_frame,
    "events": events_frame,
    "intervals": intervals_frame,
    "distributions": distributions_frame,
}
# The column of the tables that tells whose a row is where there are several results.
VARIANT = "variant"
ALONE = "alone"
# The keys of the hashes: of the tables in Parquet, and of the document without this key.
HASHES = "tables_sha256"
SEAL = "sha256"


def write(result: Saved, folder: Path) -> None:
    """Write `runs.json`, and the tables as Parquet (the runs also as CSV); an empty table is left out.

    Of a sweep there is the table of runs only: a grid of intervals would be too large for what it tells.
    """
    variants = list(_variants(result))
    runs = joined((settings, runs_frame(one.runs)) for settings, one in variants)
    write_parquet(runs, folder / "runs.parquet")
    write_csv(runs, folder / "runs.csv")
    hashes = {}
    for name, frame in (FRAMES if not isinstance(result, Sweep) else {}).items():
        table = joined((settings, frame(one.runs)) for settings, one in variants)
        if table.height:
            path = folder / f"{name}.parquet"
            write_parquet(table, path)
            hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    described = [_described(*variant) for variant in variants]
    document = {"schema": SCHEMA, **_head(result), "results": described, HASHES: hashes}
    sealed = document | {SEAL: _seal(document)}
    write_text(folder / FILE, json.dumps(sealed, ensure_ascii=False, allow_nan=False) + "\n")


def load(folder: str | os.PathLike[str]) -> Saved:
    """Read what `save`, or a command, has written into a folder.

    Raises `InputError` if there is no result in it, one that is damaged, or one of a later version.
    """
    path = Path(folder) / FILE
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
        # Without a hash there may be anything in it.
        raise InputError(f"{path}: is damaged ({type(error).__name__}: {error})") from None


def _read(document: dict[str, Any], path: Path) -> Saved:
    if document["schema"] != SCHEMA:
        raise InputError(f"{path}: schema {document['schema']}; this version reads {SCHEMA}")
    seal = document.pop(SEAL, None)
    if seal is not None and seal != _seal(document):
        raise InputError(f"{path}: is damaged: its content is not what was saved")
    result = _rebuilt(document, _Tables(path.parent, document.get(HASHES)))
    if seal is None:
        # Written before there were hashes: whether it is whole shows when it is used.
        result.to_json()
    return result


def _seal(document: Mapping[str, Any]) -> str:
    """A hash of what it says, however it is laid out."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _variants(result: Saved) -> Iterator[tuple[dict[str, str], Result]]:
    """Every result, with what tells it from the others."""
    if isinstance(result, Result):
        yield {}, result
    elif isinstance(result, Sweep):
        yield from result.points
    else:
        for label, one in zip(result.labels, result.results, strict=True):
            yield {VARIANT: label}, one
        if result.alone is not None:
            yield {VARIANT: ALONE}, result.alone


def _head(result: Saved) -> dict[str, Any]:
    if isinstance(result, Result):
        return {"kind": "run"}
    if isinstance(result, Sweep):
        axes = [{"key": axis.key, "values": axis.values} for axis in result.axes]
        return {"kind": "sweep", "link": result.link, "axes": axes, "scenario": _source(result.scenario)}
    contest = result.contest
    return {
        "kind": "compare",
        "link": result.link,
        "algorithms": contest.algorithms,
        "flows": contest.flows,
        "scenario": _source(contest.scenario),
    }


def _described(settings: Mapping[str, str], result: Result) -> dict[str, Any]:
    return {
        "settings": settings,
        "scenario": _source(result.scenario),
        "interrupted": result.interrupted,
        "runs": [{"seed": run.seed, "outcome": run.outcome} for run in result.runs],
    }


def _source(scenario: Scenario) -> dict[str, Any]:
    """The scenario as it was given, and all that was in force.

    Its traces, and its controllers in Python, may be gone when it is read.
    """
    return {
        "file": scenario.file,
        "text": scenario.text.decode(),
        "overrides": scenario.overrides,
        "canonical": scenario.canonical,
        "controllers": [asdict(each) for each in scenario.controllers],
    }


def _scenario(source: Mapping[str, Any]) -> Scenario:
    overrides = tuple((key, value) for key, value in source["overrides"])
    scenario = Scenario(source["text"].encode(), source["file"], overrides)
    # What the cached properties would ask the simulator and this process for.
    scenario.__dict__["canonical"] = source["canonical"]
    controllers = [Origin(**each) for each in source.get("controllers", [])]
    scenario.__dict__["controllers"] = controllers
    return scenario


def _rebuilt(document: Mapping[str, Any], tables: _Tables) -> Saved:
    results = [(entry["settings"], _result(entry, tables)) for entry in document["results"]]
    if document["kind"] == "run":
        return results[0][1]
    if document["kind"] == "sweep":
        axes = [Axis(axis["key"], tuple(axis["values"])) for axis in document["axes"]]
        return Sweep(_scenario(document["scenario"]), axes, results, document["link"])
    variants = [result for settings, result in results if settings[VARIANT] != ALONE]
    alone = next((result for settings, result in results if settings[VARIANT] == ALONE), None)
    contest = Contest(
        _scenario(document["scenario"]),
        tuple(document["algorithms"]),
        tuple(document["flows"]),
        tuple(result.scenario for result in variants),
        None if alone is None else alone.scenario,
    )
    return Comparison(contest, variants, alone, document["link"])


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
    return Result(_scenario(entry["scenario"]), runs, entry["interrupted"])


class _Tables:
    """The tables of a folder, cut up by variant and seed."""

    def __init__(self, folder: Path, hashes: Mapping[str, str] | None) -> None:
        self._folder = folder
        # Of the tables that there are; None if nobody has noted them.
        self._hashes = hashes
        self._parts: dict[str, dict[tuple[Any, ...], pl.DataFrame]] = {}

    def detail(self, settings: Mapping[str, str], seed: int) -> Detail:
        intervals = self._part("intervals", settings, seed)
        end_s, tables = _series_tables(intervals, "end_s", {"flow", "subflow", "group"})
        jain_end_s, jain = _series_tables(intervals, "end_s", {"run"})
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
        time_s, tables = _series_tables(series, "time_s", {"flow", "subflow", "link"})
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
            raise InputError(f"{path}: is damaged: its content is not what was saved")
        try:
            return pl.read_parquet(io.BytesIO(content))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"{path}: is damaged ({error})") from None


def _series_tables(frame: pl.DataFrame, grid: str, kinds: set[str]) -> tuple[Column, list[SeriesTable]]:
    """The grid of times and the tables of these kinds; the frame has one component after the other."""
    import numpy as np
    import polars as pl

    times: Column = np.zeros(0)
    tables = []
    if frame.height:
        keys = ["kind", "name"]
        parts = frame.partition_by(keys, as_dict=True, include_key=False, maintain_order=True)
        for (kind, name), part in parts.items():
            if kind in kinds:
                times = part[grid].to_numpy()
                values = part.drop(grid).select(pl.col(pl.Float64).fill_null(float("nan")))
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
