"""The series and events that one run recorded."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cwndlab.results.by_value import ByValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy import float64
    from numpy.typing import NDArray

    Column = NDArray[float64]


class Record(StrEnum):
    """The seeds whose series are recorded."""

    FIRST = "first"
    ALL = "all"
    NONE = "none"

    def holds(self, index: int) -> bool:
        """Whether the seed at this index is recorded."""
        return self is Record.ALL or (self is Record.FIRST and index == 0)


@dataclass(frozen=True, eq=False)
class SeriesTable(ByValue):
    """The columns of one component, each as long as the grid, with NaN for missing values.

    `kind` is `flow`, `subflow` or `link`. The names of the columns end with their units.
    """

    kind: str
    name: str
    columns: dict[str, Column]


@dataclass(frozen=True)
class FlowEvent:
    """An event of a flow, with its exact time in seconds.

    `kind` is `fast_recovery`, `timeout`, `undo`, `ecn_reduction` or `tail_loss_probe`.
    """

    time_s: float
    flow: str
    kind: str


@dataclass(frozen=True, eq=False)
class Recording(ByValue):
    """Series on a common grid of times in seconds, and events.

    `events_missed` counts the events that were not kept.
    """

    time_s: Column
    tables: list[SeriesTable]
    events: list[FlowEvent] = field(default_factory=list)
    events_missed: int = 0

    @classmethod
    def from_native(cls, recorded: Mapping[str, Any]) -> Recording:
        """Return the recording from the result of `_native.run_seed`."""
        tables = [SeriesTable(kind, name, dict(columns)) for kind, name, columns in recorded["tables"]]
        events = [FlowEvent(*event) for event in recorded.get("events", [])]
        return cls(recorded["time_s"], tables, events, recorded.get("events_missed", 0))

    def of(self, kind: str) -> list[SeriesTable]:
        """Return the tables of one kind. Subflows count as flows and follow their connection."""
        kinds = ("flow", "subflow") if kind == "flow" else (kind,)
        return [table for table in self.tables if table.kind in kinds]

    def having(self, kind: str, column: str) -> list[SeriesTable]:
        """Return the tables of one kind that have this column."""
        return [table for table in self.of(kind) if column in table.columns]


class DistantRecording(Recording):
    """A recording that stays where it was made until one of its fields is read. A copy is a plain one."""

    def __init__(self, fetch: Callable[[], Recording]) -> None:
        object.__setattr__(self, "_fetch", fetch)

    def fetched(self) -> Recording:
        """Return the recording, and ask for it at the first time only."""
        held: dict[str, Any] = object.__getattribute__(self, "__dict__")
        if "_fetched" not in held:
            held["_fetched"] = held["_fetch"]()
        found: Recording = held["_fetched"]
        return found

    def __getattribute__(self, name: str) -> Any:
        if name in _FIELDS:
            return getattr(self.fetched(), name)
        return super().__getattribute__(name)

    def __eq__(self, other: object) -> bool:
        return self.fetched() == (other.fetched() if isinstance(other, DistantRecording) else other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Recording, tuple(getattr(self, name) for name in _FIELDS)


_FIELDS = tuple(each.name for each in fields(Recording))
