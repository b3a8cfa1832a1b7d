"""The result of running a scenario."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.results.summary import Summary, summarise
from cwndlab.scenarios.scenario import with_options
from cwndlab.scenarios.seeds import shown_seeds
from cwndlab.statistics.measure import Measure, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    import polars as pl

    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.scenario import Scenario


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

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        parts = ["cwndlab", "run", self.scenario.file, *with_options([self.scenario])]
        parts += self.scenario.set_options
        return shlex.join([*parts, "--seeds", shown_seeds(self.seeds)])

    @cached_property
    def summary(self) -> Summary:
        """Means over the seeds with their intervals."""
        return summarise([run.outcome for run in self.runs])

    def each(self) -> Iterator[Self]:
        """Every seed as a result of its own."""
        return (replace(self, runs=[run]) for run in self.runs)

    def measure(self, metric: Callable[[Self], float | None]) -> Measure:
        """Summarise a metric of your own over the seeds.

        `metric` is given the result of one seed at a time and returns a number, or None where there is none;
        the mean has its 95 % interval. A metric that reads `series` needs `record="all"` in `cwndlab.run`.
        """
        return measure(metric(one) for one in self.each())

    @property
    def flows(self) -> pl.DataFrame:
        """One row per seed and flow; units are in the names of the columns."""
        return self._rows("flow")

    @property
    def subflows(self) -> pl.DataFrame:
        """One row per seed and subflow of a multipath connection."""
        return self._rows("subflow")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per seed and arrival process."""
        return self._rows("group")

    @property
    def links(self) -> pl.DataFrame:
        """One row per seed and link."""
        return self._rows("link")

    @property
    def changes(self) -> pl.DataFrame:
        """One row per seed and later step of a link: when, and how long until goodput was back."""
        return self._rows("change")

    @property
    def recorded(self) -> list[SeedRun]:
        """The runs whose series were recorded."""
        return [run for run in self.runs if run.recording is not None]

    @property
    def weights(self) -> dict[tuple[str, int], bytes]:
        """What learning flows had learned at the end, by flow or subflow, and seed: safetensors files."""
        return {(flow, run.seed): file for run in self.runs for flow, file in run.detail.weights.items()}

    def series(self, column: str) -> pl.DataFrame:
        """One recorded column over time: seed, kind, name, time_s and the column.

        The unit at the end of a column's name may be left out: `cwnd` is `cwnd_segments`. Raises `InputError`
        if nothing was recorded or no column is called so.
        """
        import polars as pl

        from cwndlab.results.frames import series_frame

        frame = series_frame(self._must_be_recorded())
        found = _column(column, frame.columns[4:])
        return frame.select("seed", "kind", "name", "time_s", found).filter(pl.col(found).is_not_null())

    @property
    def events(self) -> pl.DataFrame:
        """What happened to flows in the recorded seeds: seed, time_s, flow, kind."""
        from cwndlab.results.frames import events_frame

        return events_frame(self.runs)

    @property
    def intervals(self) -> pl.DataFrame:
        """Means over consecutive intervals, of every seed, recorded or not.

        Columns: seed, kind, name, end_s, goodput_mbps, cwnd_segments, loss_events; rows of kind `run` have
        Jain's index of the flows' goodputs in the window of 1 s that ends at `end_s`, as `jain`.
        """
        from cwndlab.results.frames import intervals_frame

        return intervals_frame(self.runs)

    @property
    def distributions(self) -> pl.DataFrame:
        """How often which value was measured: seed, kind, name, measure, middle, count.

        `measure` is `rtt_ms` of flows, `queue_delay_ms` of links, `completion_ms` of arrival processes,
        `rtt_peak_ratio` of flows and arrival processes.
        """
        from cwndlab.results.frames import distributions_frame

        return distributions_frame(self.runs)

    @property
    def flows_left_out(self) -> int:
        """How many flows the document leaves out by default."""
        from cwndlab.results.document import is_listed

        return 0 if is_listed(self.summary, every_flow=False) else self.summary.flow_count

    def to_json(self, *, every_flow: bool = False) -> dict[str, Any]:
        """The document that `cwndlab run --json` prints; it leaves out more than 10 000 flows by default."""
        from cwndlab.results.document import measured
        from cwndlab.results.manifest import document_head

        return {
            **document_head(self.name, self.scenario, self.seeds, interrupted=self.interrupted),
            **measured(self.summary, every_flow=every_flow),
        }

    def _must_be_recorded(self) -> list[SeedRun]:
        if not self.recorded:
            raise InputError('no finished run was recorded; run with record="first" or "all"')
        return self.recorded

    def _rows(self, kind: str) -> pl.DataFrame:
        import polars as pl

        from cwndlab.results.frames import runs_frame

        rows = runs_frame(self.runs).filter(pl.col("kind") == kind).drop("kind")
        told = [column.name for column in rows if column.null_count() < rows.height]
        return rows.select(list(dict.fromkeys(["seed", "name", *told])))


def _column(name: str, columns: list[str]) -> str:
    """The column of this name, with or without its unit."""
    if name in columns:
        return name
    found = [column for column in columns if column.rpartition("_")[0] == name]
    if len(found) != 1:
        raise InputError(f"no column {name!r}; there are: {', '.join(columns)}")
    return found[0]
