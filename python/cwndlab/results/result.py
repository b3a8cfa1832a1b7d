"""The result of running a scenario, and the base class of all collections of results."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from cwndlab.errors import InputError
from cwndlab.results.document import is_listed, measured
from cwndlab.results.manifest import document_head
from cwndlab.results.progress import progress
from cwndlab.results.recording import DistantRecording
from cwndlab.results.summary import Summary, summarise
from cwndlab.scenarios.scenario import with_options
from cwndlab.scenarios.seeds import shown_seeds
from cwndlab.statistics.measure import Measure, measure
from cwndlab.system.arguments import FUNCTION, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    import polars as pl
    import xarray

    from cwndlab.results.progress import Progress
    from cwndlab.results.seed_run import SeedRun
    from cwndlab.scenarios.scenario import Scenario

    Settings = Mapping[str, str]


@dataclass(frozen=True)
class Study(ABC):
    """Results of variants of a scenario, each identified by its settings.

    The base class of a run (a `Result`: one variant without settings), a comparison and a sweep.
    """

    # The name of the command that makes it.
    kind: ClassVar[str]

    # The scenario without the settings of the variants.
    scenario: Scenario

    @property
    @abstractmethod
    def variants(self) -> Sequence[tuple[Settings, Result]]:
        """The settings of each variant, and its result."""

    @property
    def all_variants(self) -> Sequence[tuple[Settings, Result]]:
        """The variants, and the results of other runs that they are judged by."""
        return self.variants

    @property
    def labelled(self) -> list[tuple[str, Result]]:
        """The variants with their settings in one line."""
        return [(", ".join(settings.values()), result) for settings, result in self.variants]

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.variants[0][1].name if self.variants else self.scenario.stem

    @property
    def title(self) -> str:
        """The title of figures: the name; nothing if neither the scenario nor a file has one."""
        named = any(result.given_name for _, result in self.variants)
        return self.name if named or self.scenario.is_file else ""

    @property
    @abstractmethod
    def seeds(self) -> list[int]:
        """The seeds that finished."""

    @property
    def seeds_asked(self) -> list[int]:
        """The seeds that its command names."""
        return self.seeds

    @property
    def until_text(self) -> str | None:
        """How precise a total was to become, if seeds were added until then."""
        return None

    @property
    def condition_keys(self) -> list[str] | None:
        """The keys of a sweep that nobody chooses; None if it is no sweep."""
        return None

    @property
    def interrupted(self) -> bool:
        """Whether runs are missing because of Ctrl-C."""
        return any(result.interrupted for _, result in self.variants)

    @property
    def progress(self) -> Progress | None:
        """How much was done of what was asked for; None if that is not known."""
        return progress([(len(result.runs), result.asked) for _, result in self.all_variants])

    @property
    def command(self) -> str:
        """The command line that repeats it."""
        words = self._variant_words(with_options(result.scenario for _, result in self.variants))
        parts = ["cwndlab", self.kind, self.scenario.file, *words, *self.scenario.set_options]
        if self.scenario.engine.backend != "sim":
            parts += ["--backend", self.scenario.engine.backend]
        return shlex.join([*parts, "--seeds", shown_seeds(self.seeds_asked)])

    @abstractmethod
    def _variant_words(self, loading: Sequence[str]) -> list[str]:
        """Return the words of the command line for the variants. `loading` loads their controllers."""

    @property
    def flows(self) -> pl.DataFrame:
        """One row per variant, seed and flow. The names of the columns end with their units."""
        return self._rows("flow")

    @property
    def subflows(self) -> pl.DataFrame:
        """One row per variant, seed and subflow of a multipath connection."""
        return self._rows("subflow")

    @property
    def groups(self) -> pl.DataFrame:
        """One row per variant, seed and arrival process."""
        return self._rows("group")

    @property
    def links(self) -> pl.DataFrame:
        """One row per variant, seed and link."""
        return self._rows("link")

    @property
    def changes(self) -> pl.DataFrame:
        """One row per variant, seed and later step of a link, with the time until goodput recovered."""
        return self._rows("change")

    def _rows(self, kind: str) -> pl.DataFrame:
        from cwndlab.results.frames import component_frame, joined

        return joined((settings, component_frame(result.runs, kind)) for settings, result in self.variants)

    def long(self) -> pl.DataFrame:
        """Return every measured value in a row of its own.

        Columns: scenario, variant, one for each setting of a sweep, seed, kind, name, measure, unit, value.
        """
        from cwndlab.results.frames import long_frame

        return long_frame(self.name, ((settings, result.runs) for settings, result in self.variants))

    def to_xarray(self, kind: str = "flow") -> xarray.Dataset:
        """Return the measures of every `flow` (or `subflow`, `group`, `link`, `change`) as labelled arrays.

        The dimensions are the settings of the variants, `seed` and `name`; each array has its `units`. Raises
        `InputError` if xarray is not installed, and says which command installs it.
        """
        from cwndlab.results.labelled_arrays import dataset

        variants = [(settings, result.runs) for settings, result in self.variants]
        return dataset(variants, kind, {"scenario": self.name, "command": self.command})

    @property
    def flows_left_out(self) -> int:
        """The largest number of flows of a variant that the document leaves out by default."""
        return max((result.flows_left_out for _, result in self.variants), default=0)

    def to_json(self, *, every_flow: bool = False) -> dict[str, Any]:
        """Return the document of `--json`. It lists more than 10 000 flows only with `every_flow`."""
        head = document_head(self.name, self.scenario, self.seeds, interrupted=self.interrupted)
        return {**head, **self._measured(every_flow=every_flow)}

    @abstractmethod
    def _measured(self, *, every_flow: bool) -> dict[str, Any]:
        """Return the rest of the document, after its head."""


@dataclass(frozen=True, repr=False)
class Result(Study):
    """The finished runs of a scenario. If `interrupted`, some of the requested runs are missing."""

    kind = "run"

    runs: list[SeedRun]
    interrupted: bool = False
    # The number of seeds that were to run, where it is known.
    asked: int | None = None

    @property
    def variants(self) -> Sequence[tuple[Settings, Result]]:
        """The result itself, without settings."""
        return [({}, self)]

    @cached_property
    def name(self) -> str:
        """The scenario's name."""
        return self.given_name or self.scenario.stem

    @property
    def given_name(self) -> str | None:
        """The name in the scenario. Without one, the name in force is that of the file, or `<dict>`."""
        name = self.scenario.resolved["name"]
        return str(name) if name and name != self.scenario.file else None

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished."""
        return [run.seed for run in self.runs]

    def _variant_words(self, loading: Sequence[str]) -> list[str]:
        return list(loading)

    @cached_property
    def summary(self) -> Summary:
        """Means over the seeds with their intervals."""
        return summarise([run.outcome for run in self.runs])

    def each(self) -> Iterator[Self]:
        """Return each seed as a result of its own."""
        return (replace(self, runs=[run]) for run in self.runs)

    @checked(metric=FUNCTION)
    def measure(self, metric: Callable[[Self], float | None]) -> Measure:
        """Summarise a metric of your own over the seeds.

        `metric` takes the result of one seed and returns a number, or None for no value. The mean comes with
        its 95 % interval. A metric that reads `series` needs `record="all"` in `cwndlab.run`.
        """
        return measure(metric(one) for one in self.each())

    @property
    def recorded(self) -> list[SeedRun]:
        """The runs whose series were recorded."""
        return [run for run in self.runs if run.recording is not None]

    def fetch_series(self) -> None:
        """Fetch the series that are still with the workers of a cluster, so that it may end."""
        for run in self.recorded:
            if isinstance(run.recording, DistantRecording):
                run.recording.fetched()

    @property
    def weights(self) -> dict[tuple[str, int], bytes]:
        """The final weights of learning flows as safetensors files, by flow or subflow, and seed."""
        return {(flow, run.seed): file for run in self.runs for flow, file in run.detail.weights.items()}

    def series(self, column: str) -> pl.DataFrame:
        """Return one recorded column over time: seed, kind, name, time_s and the column.

        The unit at the end of a column's name may be left out: `cwnd` means `cwnd_segments`. Raises
        `InputError` if nothing was recorded or there is no such column.
        """
        import polars as pl

        from cwndlab.results.frames import series_frame

        frame = series_frame(self._must_be_recorded())
        found = _column(column, frame.columns[4:])
        return frame.select("seed", "kind", "name", "time_s", found).filter(pl.col(found).is_not_null())

    @property
    def events(self) -> pl.DataFrame:
        """The events of flows in the recorded seeds: seed, time_s, flow, kind."""
        from cwndlab.results.frames import events_frame

        return events_frame(self.runs)

    @property
    def intervals(self) -> pl.DataFrame:
        """Means over consecutive intervals for every seed, recorded or not.

        Columns: seed, kind, name, time_s, goodput_mbps, cwnd_segments, loss_events. Rows of kind `run` hold
        Jain's index of the flows' goodputs in the window of 1 s that ends at `time_s`, as `jain`.
        """
        from cwndlab.results.frames import intervals_frame

        return intervals_frame(self.runs)

    @property
    def distributions(self) -> pl.DataFrame:
        """Histograms: seed, kind, name, measure, middle, count.

        `measure` is `rtt_ms` of flows, `queue_delay_ms` of links, `completion_ms` of arrival processes,
        `rtt_peak_ratio` of flows and arrival processes.
        """
        from cwndlab.results.frames import distributions_frame

        return distributions_frame(self.runs)

    @property
    def flows_left_out(self) -> int:
        """The number of flows that the document leaves out by default."""
        return 0 if is_listed(self.summary, every_flow=False) else self.summary.flow_count

    def _measured(self, *, every_flow: bool) -> dict[str, Any]:
        return measured(self.summary, every_flow=every_flow)

    def _must_be_recorded(self) -> list[SeedRun]:
        if not self.recorded:
            raise InputError('no finished run was recorded; run with record="first" or "all"')
        return self.recorded


def _column(name: str, columns: list[str]) -> str:
    """Return the column with this name, with or without its unit."""
    if name in columns:
        return name
    found = [column for column in columns if column.rpartition("_")[0] == name]
    if len(found) != 1:
        raise InputError(f"expected a column ({', '.join(columns)}), found {name!r}")
    return found[0]
