"""Results as data frames, for other tools to read.

Every frame begins with columns that identify the row: the settings of the scenario's variant (none for a
single scenario; one column per overridden key in a comparison or a sweep), then the seed.

Frames are filled column by column: a run may have 100 000 flows, and a call of polars for each takes minutes.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from cwndlab.results.recording import SeriesTable
from cwndlab.results.summary import is_measure
from cwndlab.results.units import unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy import int_
    from numpy.typing import NDArray

    from cwndlab.results.detail import Detail, Distribution
    from cwndlab.results.recording import Column
    from cwndlab.results.seed_run import SeedRun

    Settings = Mapping[str, str]
    # The identity of a row and its measures: seed, kind, and the component of an outcome.
    Row = tuple[int, str, Mapping[str, Any]]

# The kinds of rows. Rows of kind `subflow` follow their flow.
KINDS = ("flow", "group", "link", "change")
_IDENTITY = ("name", "cc", "degraded")
# The column of times in every table over time; of an interval, its end.
TIME = "time_s"


def joined(frames: Iterable[tuple[Settings, pl.DataFrame]]) -> pl.DataFrame:
    """Return one frame of several variants, with a column for each setting."""
    import polars as pl

    labelled = [
        frame.select(*(pl.lit(value).alias(key) for key, value in settings.items()), pl.all())
        for settings, frame in frames
    ]
    return pl.concat(labelled, how="diagonal") if labelled else pl.DataFrame()


def runs_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """Return one row per seed and component: seed, kind, name, cc, degraded, then every measure.

    A measure that a component lacks is null. `kind` is `flow`, `subflow`, `group`, `link`, `change`, or `run`
    for measures of the whole run.
    """
    import polars as pl

    rows = [row for run in runs for row in _rows(run)]
    measures = dict.fromkeys(key for *_, part in rows for key in part if is_measure(part, key))
    types = dict(zip(_IDENTITY, (pl.String, pl.String, pl.Boolean), strict=True))
    return pl.DataFrame(
        [
            pl.Series("seed", [seed for seed, *_ in rows], pl.UInt64),
            pl.Series("kind", [kind for _, kind, _ in rows], pl.String),
            *(pl.Series(key, [part.get(key) for *_, part in rows], dtype) for key, dtype in types.items()),
            *(
                pl.Series(key, [part.get(key) for *_, part in rows], pl.Float64, strict=False)
                for key in measures
            ),
        ]
    )


def long_frame(scenario: str, variants: Iterable[tuple[Settings, Sequence[SeedRun]]]) -> pl.DataFrame:
    """Return one row per value.

    Columns: scenario, variant, one for each setting, seed, kind, name, measure, unit, value. `variant` holds
    all settings in one text. A measure that a component lacks, or that has no value, has no row.
    """
    import polars as pl

    return _stacked(
        _long(runs_frame(runs)).select(
            pl.lit(scenario).alias("scenario"),
            pl.lit(", ".join(settings.values())).alias("variant"),
            *(pl.lit(value).alias(key) for key, value in settings.items() if key != "variant"),
            pl.all(),
        )
        for settings, runs in variants
    )


def _long(runs: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    index = ["seed", "kind", "name"]
    rows = runs.drop("cc", "degraded").unpivot(index=index, variable_name="measure").drop_nulls("value")
    units = pl.Series("unit", [unit(measure) for measure in rows["measure"]], pl.String)
    return rows.select(*index, "measure", units, "value")


def component_frame(runs: Sequence[SeedRun], kind: str) -> pl.DataFrame:
    """Return one row per seed and component of this kind: seed, name, cc, then its measures."""
    import polars as pl

    rows = runs_frame(runs).filter(pl.col("kind") == kind).drop("kind")
    filled = [column.name for column in rows if column.null_count() < rows.height]
    return rows.select(list(dict.fromkeys(["seed", "name", *filled])))


def series_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """Return one row per recorded seed, component and time: seed, kind, name, time_s, then every column."""
    recorded = [(run.seed, run.recording) for run in runs if run.recording is not None]
    return _stacked(_over_time(seed, recording.tables, recording.time_s) for seed, recording in recorded)


def events_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """Return one row per event of a flow in a recorded seed: seed, time_s, flow, kind."""
    import polars as pl

    recorded = [(run.seed, run.recording) for run in runs if run.recording is not None]
    rows = [
        (seed, event.time_s, event.flow, event.kind)
        for seed, recording in recorded
        for event in recording.events
    ]
    schema = {"seed": pl.UInt64, "time_s": pl.Float64, "flow": pl.String, "kind": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def intervals_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """Return one row per seed, component and interval: seed, kind, name, time_s, then every column (or null).

    Rows of kind `run` hold Jain's index over the window that ends at `time_s`, as `jain`.
    """
    return _stacked(part for run in runs for part in _intervals(run.seed, run.detail))


def distributions_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """Return one row per seed, component, measure and bucket: seed, kind, name, measure, middle, count."""
    return _stacked(_buckets(run.seed, run.detail.distributions) for run in runs)


def _rows(run: SeedRun) -> Iterator[Row]:
    outcome = run.outcome
    for kind in KINDS:
        for component in outcome.get(f"{kind}s") or []:
            yield run.seed, kind, component
            for subflow in component.get("subflows") or []:
                yield run.seed, "subflow", subflow
    indices = {key: outcome.get(key) for key in ("jain", "jain_over_time")}
    yield run.seed, "run", {**indices, **(outcome.get("work") or {})}


def _intervals(seed: int, detail: Detail) -> Iterator[pl.DataFrame]:
    yield _over_time(seed, detail.tables, detail.end_s)
    if len(detail.jain):
        jain = SeriesTable("run", "", {"jain": detail.jain})
        yield _over_time(seed, [jain], detail.jain_end_s)


def _over_time(seed: int, tables: Sequence[SeriesTable], times: Column) -> pl.DataFrame:
    """Return the tables of a run, one below the other, on their common grid. Missing columns are null."""
    import numpy as np
    import polars as pl

    if not tables:
        return pl.DataFrame()
    missing = np.full(len(times), np.nan)
    columns = dict.fromkeys(chain.from_iterable(table.columns for table in tables))
    joined_up = {
        name: np.concatenate([table.columns.get(name, missing) for table in tables]) for name in columns
    }
    return pl.DataFrame(
        [
            *_identity(seed, tables, np.full(len(tables), len(times))),
            pl.Series(TIME, np.tile(times, len(tables))),
            *(pl.Series(name, values).fill_nan(None) for name, values in joined_up.items()),
        ]
    )


def _buckets(seed: int, distributions: Sequence[Distribution]) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    if not distributions:
        return pl.DataFrame()
    lengths = np.array([len(each.middle) for each in distributions])
    return pl.DataFrame(
        [
            *_identity(seed, distributions, lengths),
            _repeated("measure", [each.measure for each in distributions], lengths),
            pl.Series("middle", np.concatenate([each.middle for each in distributions])),
            pl.Series("count", np.concatenate([each.count for each in distributions])),
        ]
    )


def _identity(
    seed: int, components: Sequence[SeriesTable] | Sequence[Distribution], lengths: NDArray[int_]
) -> list[pl.Series]:
    """Return seed, kind and name of each component, repeated `lengths` times."""
    import polars as pl

    return [
        pl.repeat(seed, int(lengths.sum()), dtype=pl.UInt64, eager=True).alias("seed"),
        _repeated("kind", [each.kind for each in components], lengths),
        _repeated("name", [each.name for each in components], lengths),
    ]


def _repeated(name: str, values: Sequence[str], lengths: NDArray[int_]) -> pl.Series:
    import numpy as np
    import polars as pl

    return pl.Series(name, values, pl.String).gather(np.repeat(np.arange(len(values)), lengths))


def _stacked(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    found = [frame for frame in frames if frame.width]
    return pl.concat(found, how="diagonal") if found else pl.DataFrame()
