"""The details of every run, recorded or not: intervals, fairness over time, distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwndlab.results.by_value import ByValue
from cwndlab.results.recording import SeriesTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.results.recording import Column


@dataclass(frozen=True, eq=False)
class Distribution(ByValue):
    """A histogram: the middles of its buckets, and their counts.

    Buckets are 1.6 % wide for times in ms, 0.1 for ratios.
    `kind` is `flow`, `subflow`, `group` or `link`, `measure` is `rtt_ms`, `completion_ms`, `queue_delay_ms`
    or `rtt_peak_ratio`.
    """

    kind: str
    name: str
    measure: str
    middle: Column
    count: Column


@dataclass(frozen=True, eq=False)
class Detail(ByValue):
    """Means over consecutive intervals, Jain's index over windows, and distributions.

    `end_s` holds the ends of the intervals in seconds. Flows and subflows have tables of `goodput_mbps`,
    `cwnd_segments`, `loss_events`, and the probes of the algorithm at the end of the interval; groups have
    `goodput_mbps`. A value is NaN where the component did not run.
    `jain_end_s` holds the ends of the windows of `jain`. `weights` holds a safetensors file for each flow or
    subflow that learns, with its weights at the end.
    """

    end_s: Column
    tables: list[SeriesTable]
    jain_end_s: Column
    jain: Column
    distributions: list[Distribution]
    weights: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def from_native(cls, detail: Mapping[str, Any]) -> Detail:
        """Return the details from the result of `_native.run_seed`."""
        tables = [
            SeriesTable(kind, name, dict(columns))
            for kind in ("flow", "subflow", "group")
            for name, columns in detail[f"{kind}s"]
        ]
        jain_end_s, jain = detail["jain"]
        distributions = [
            Distribution(kind, name, measure, middle, counts.astype("float64"))
            for kind, name, measure, middle, counts in detail["distributions"]
        ]
        return cls(detail["end_s"], tables, jain_end_s, jain, distributions, dict(detail["weights"]))

    @classmethod
    def forgotten(cls) -> Detail:
        """Return empty details, for a run of which only the measures are kept."""
        import numpy as np

        none = np.zeros(0)
        return cls(none, [], none, none, [])

    @property
    def has_fairness(self) -> bool:
        """Whether two flows ran during one whole window."""
        # NaN is not equal to itself.
        return bool((self.jain == self.jain).any())

    def of(self, kind: str) -> list[SeriesTable]:
        """Return the tables of one kind."""
        return [table for table in self.tables if table.kind == kind]
