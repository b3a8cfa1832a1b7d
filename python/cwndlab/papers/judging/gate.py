"""The gate: a reading that misses the numbers of the paper's own baselines says nothing about its claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwndlab.papers.contents.paper import Baseline
    from cwndlab.statistics.estimate import Estimate


@dataclass(frozen=True)
class Checked:
    """A baseline with our number, or the reason why there is none, or why it does not count."""

    baseline: Baseline
    ours: Estimate | None
    missing: str | None = None

    @property
    def passes(self) -> bool:
        """Whether our mean lies within the tolerance of the paper's number."""
        return self.ours is not None and self.missing is None and self.baseline.admits(self.ours.value)

    @property
    def is_clearly_missed(self) -> bool:
        """Whether even the nearest end of our 95 % interval lies outside the tolerance."""
        if self.ours is None or self.ours.low is None or self.ours.high is None:
            return False
        nearest = min(max(self.baseline.paper, self.ours.low), self.ours.high)
        return not self.baseline.admits(nearest)

    @property
    def is_clear(self) -> bool:
        """Whether our whole 95 % interval lies on one side of each limit of the tolerance."""
        if self.ours is None or self.ours.low is None or self.ours.high is None:
            return True
        return self.is_clearly_missed or all(map(self.baseline.admits, (self.ours.low, self.ours.high)))


@dataclass(frozen=True)
class Gate:
    """The baselines of a paper in one reading. A paper without numbers for its baselines has an open gate."""

    checked: list[Checked]
    missing: str | None = None

    def of(self, claim: str) -> Gate:
        """Return the gate of one claim."""
        shared = [each for each in self.checked if not each.baseline.claims or claim in each.baseline.claims]
        return Gate(shared, self.missing)

    @property
    def passes(self) -> bool:
        """Whether the reading gives the numbers of all baselines."""
        return self.missing is None and all(each.passes for each in self.checked)

    @property
    def is_clearly_missed(self) -> bool:
        """Whether more seeds would not let the reading pass."""
        return any(each.is_clearly_missed for each in self.checked)

    @property
    def unclear_cells(self) -> set[str]:
        """The cells of the baselines that more seeds may bring to the other side of a limit."""
        return {key for each in self.checked if not each.is_clear for key in each.baseline.effect.cells}

    @property
    def missed(self) -> list[Checked]:
        """The baselines whose numbers the reading misses."""
        return [each for each in self.checked if not each.passes]
