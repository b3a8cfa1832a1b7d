"""The result of running a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.summary import Summary, summarise

if TYPE_CHECKING:
    import matplotlib.figure
    import polars as pl

    from cwndlab.recording import Recording
    from cwndlab.runner import SeedRun
    from cwndlab.scenario import Scenario

SCHEMA = 1


@dataclass(frozen=True)
class Result:
    """The finished runs of a scenario; fewer than were asked for when `interrupted`."""

    scenario: Scenario
    runs: list[SeedRun]
    interrupted: bool = False

    @cached_property
    def name(self) -> str:
        """The scenario's name."""
        return str(self.scenario.resolved["name"] or self.scenario.stem)

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished."""
        return [run.seed for run in self.runs]

    @cached_property
    def summary(self) -> Summary:
        """Means over the seeds with their intervals."""
        return summarise([run.outcome for run in self.runs])

    @property
    def recorded(self) -> tuple[int, Recording] | None:
        """The seed that was recorded, and its series."""
        return next(((run.seed, run.recording) for run in self.runs if run.recording is not None), None)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per seed and flow."""
        return self._rows("flow")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per seed and arrival process."""
        return self._rows("group")

    @property
    def links(self) -> pl.DataFrame:
        """One row per seed and link."""
        return self._rows("link")

    def series(self, column: str) -> pl.DataFrame:
        """One recorded column, such as `cwnd_segments`: kind, name, time_s and the column."""
        import polars as pl

        from cwndlab.tables import series_frame

        if self.recorded is None:
            raise ValueError("no finished run was recorded")
        frame = series_frame(self.recorded[1])
        if column not in frame.columns:
            raise ValueError(f"no column {column!r}; there are: {', '.join(frame.columns[3:])}")
        return frame.select("kind", "name", "time_s", column).filter(pl.col(column).is_not_null())

    def plot(self) -> matplotlib.figure.Figure:
        """Window, RTT, goodput and queue over time, of the recorded seed."""
        from cwndlab.figures.timeseries import draw_timeseries

        if self.recorded is None:
            raise ValueError("no finished run was recorded")
        seed, recording = self.recorded
        algorithms = {flow["name"]: flow["cc"] for flow in self.runs[0].outcome["flows"]}
        return draw_timeseries(recording, f"{self.name} (seed {seed})", algorithms)

    def to_json(self) -> dict[str, Any]:
        """The document that `cwndlab run --json` prints."""
        from cwndlab.manifest import manifest

        return {
            "schema": SCHEMA,
            "scenario": self.name,
            "seeds": self.seeds,
            "interrupted": self.interrupted,
            "manifest": manifest(self.scenario, self.seeds),
            "flows": [flow.to_json() for flow in self.summary.flows],
            "groups": [group.to_json() for group in self.summary.groups],
            "links": [link.to_json() for link in self.summary.links],
            "jain": self.summary.jain.to_json(),
        }

    def _rows(self, kind: str) -> pl.DataFrame:
        import polars as pl

        from cwndlab.tables import runs_frame

        rows = runs_frame(self.runs).filter(pl.col("kind") == kind).drop("kind")
        return rows.select(column for column in rows if column.null_count() < rows.height)
