"""Results as data frames, for other tools to read.

Every frame begins with the columns that tell whose a row is: the settings of the scenario's variant (none
for a single scenario; a column for each overridden key in a comparison or a sweep), then the seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.summary import is_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from cwndlab.detail import Detail
    from cwndlab.recording import SeriesTable
    from cwndlab.runner import SeedRun

    Settings = Mapping[str, str]

# The kinds of rows; those of kind `subflow` follow their flow.
KINDS = ("flow", "group", "link", "change")
_IDENTITY = ("seed", "kind", "name", "cc", "degraded")


def joined(frames: Iterable[tuple[Settings, pl.DataFrame]]) -> pl.DataFrame:
    """One frame of several variants, their settings in columns of their own."""
    import polars as pl

    told = [
        frame.select(*(pl.lit(value).alias(key) for key, value in settings.items()), pl.all())
        for settings, frame in frames
    ]
    return pl.concat(told, how="diagonal") if told else pl.DataFrame()


def runs_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """One row per seed and component: seed, kind, name, cc, degraded, then every measure.

    A measure that a component lacks is null. `kind` is `flow`, `subflow`, `group`, `link`, `change`, or `run`
    for what concerns the run as a whole.
    """
    import polars as pl

    rows = [row for run in runs for row in _rows(run)]
    measures = dict.fromkeys(key for row in rows for key in row if key not in _IDENTITY)
    schema: dict[str, Any] = {**_identity_types(), **dict.fromkeys(measures, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, strict=False)


def series_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """One row per recorded seed, component and time: seed, kind, name, time_s, then every column."""
    recorded = [(run.seed, run.recording) for run in runs if run.recording is not None]
    return _stacked(
        _component(seed, table, time_s=recording.time_s)
        for seed, recording in recorded
        for table in recording.tables
    )


def events_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """One row per event of a flow in a recorded seed: seed, time_s, flow, kind."""
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
    """One row per seed, component and interval: seed, kind, name, end_s, then every column (or null).

    Rows of kind `run` have Jain's index over the window that ends then, as `jain`.
    """
    return _stacked(frame for run in runs for frame in _intervals(run.seed, run.detail))


def distributions_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """One row per seed, component, measure and bucket: seed, kind, name, measure, middle, count."""
    import polars as pl

    return _stacked(
        _told(
            pl.DataFrame({"middle": each.middle, "count": each.count}), run.seed, each.kind, each.name
        ).select("seed", "kind", "name", pl.lit(each.measure).alias("measure"), "middle", "count")
        for run in runs
        for each in run.detail.distributions
    )


def _identity_types() -> dict[str, Any]:
    import polars as pl

    return dict(zip(_IDENTITY, (pl.UInt64, pl.String, pl.String, pl.String, pl.Boolean), strict=True))


def _rows(run: SeedRun) -> Iterator[dict[str, Any]]:
    outcome = run.outcome
    for kind in KINDS:
        for component in outcome.get(f"{kind}s") or []:
            yield _row(run.seed, kind, component)
            for subflow in component.get("subflows") or []:
                yield _row(run.seed, "subflow", subflow)
    indices = {key: outcome.get(key) for key in ("jain", "jain_over_time")}
    yield {"seed": run.seed, "kind": "run", **indices, **(outcome.get("work") or {})}


def _row(seed: int, kind: str, component: Mapping[str, Any]) -> dict[str, Any]:
    identity = {key: component[key] for key in ("name", "cc", "degraded") if key in component}
    measures = {key: value for key, value in component.items() if is_measure(component, key)}
    return {"seed": seed, "kind": kind, **identity, **measures}


def _intervals(seed: int, detail: Detail) -> Iterator[pl.DataFrame]:
    import polars as pl

    yield from (_component(seed, table, end_s=detail.end_s) for table in detail.tables)
    if len(detail.jain):
        yield _told(pl.DataFrame({"end_s": detail.jain_end_s, "jain": detail.jain}), seed, "run", "")


def _component(seed: int, table: SeriesTable, **grid: Any) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({**grid, **table.columns}).fill_nan(None)
    return _told(frame, seed, table.kind, table.name)


def _told(frame: pl.DataFrame, seed: int, kind: str, name: str) -> pl.DataFrame:
    import polars as pl

    whose = (
        pl.lit(seed, dtype=pl.UInt64).alias("seed"),
        pl.lit(kind).alias("kind"),
        pl.lit(name).alias("name"),
    )
    return frame.select(*whose, pl.all())


def _stacked(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    found = list(frames)
    return pl.concat(found, how="diagonal") if found else pl.DataFrame()
