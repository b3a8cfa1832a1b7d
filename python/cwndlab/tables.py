"""Results as data frames, for other tools to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cwndlab.summary import is_measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from cwndlab.recording import Recording, SeriesTable
    from cwndlab.runner import SeedRun


def runs_frame(runs: Sequence[SeedRun]) -> pl.DataFrame:
    """One row per seed and component: seed, kind, name, cc, degraded, then every measure.

    A measure that a component lacks is null. `kind` is `flow`, `subflow`, `group`, `link`, or `run` for what
    concerns the run as a whole.
    """
    import polars as pl

    rows = [row for run in runs for row in _rows(run)]
    measures = dict.fromkeys(key for row in rows for key in row if key not in _IDENTITY)
    schema: dict[str, Any] = {**_identity_types(), **dict.fromkeys(measures, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, strict=False)


def series_frame(recording: Recording) -> pl.DataFrame:
    """One row per component and time: kind, name, time_s, then every recorded column (or null)."""
    import polars as pl

    frames = [_series(recording, table) for table in recording.tables]
    return pl.concat(frames, how="diagonal") if frames else pl.DataFrame()


def events_frame(recording: Recording) -> pl.DataFrame:
    """One row per event of a flow: time_s, flow, kind."""
    import polars as pl

    rows = [(event.time_s, event.flow, event.kind) for event in recording.events]
    return pl.DataFrame(
        rows, schema={"time_s": pl.Float64, "flow": pl.String, "kind": pl.String}, orient="row"
    )


_IDENTITY = ("seed", "kind", "name", "cc", "degraded")


def _identity_types() -> dict[str, Any]:
    import polars as pl

    return dict(zip(_IDENTITY, (pl.UInt64, pl.String, pl.String, pl.String, pl.Boolean), strict=True))


def _rows(run: SeedRun) -> Iterator[dict[str, Any]]:
    outcome = run.outcome
    for kind in ("flow", "group", "link"):
        for component in outcome.get(f"{kind}s") or []:
            yield _row(run.seed, kind, component)
            for subflow in component.get("subflows") or []:
                yield _row(run.seed, "subflow", subflow)
    yield {"seed": run.seed, "kind": "run", "jain": outcome.get("jain"), **(outcome.get("work") or {})}


def _row(seed: int, kind: str, component: Mapping[str, Any]) -> dict[str, Any]:
    identity = {key: component[key] for key in ("name", "cc", "degraded") if key in component}
    measures = {key: value for key, value in component.items() if is_measure(component, key)}
    return {"seed": seed, "kind": kind, **identity, **measures}


def _series(recording: Recording, table: SeriesTable) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({"time_s": recording.time_s, **table.columns}).fill_nan(None)
    return frame.select(pl.lit(table.kind).alias("kind"), pl.lit(table.name).alias("name"), pl.all())
