"""How precise a total is to become, and the fixed looks at which seeds stop being added.

An interval that is narrow enough by chance ends the runs too early, and is too narrow. Therefore runs are
looked at only after fixed numbers of seeds, and each look gets an equal part of the error of 5 %
(Bonferroni): with K looks, every interval has the level 1 - 0.05/K. All of them together then contain the
true value with at least 95 %, whichever look ends the runs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cwndlab.statistics.measure import level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.statistics.measure import Measure

# The first look. Each later one has twice the seeds.
FIRST = 5
# The seeds that are used at most, unless the user says how many.
DEFAULT_SEEDS = 80


@dataclass(frozen=True)
class Until:
    """The half-width that a total is to have at each point, and the seeds that may be used for it.

    `half_width` is in the unit of the total, or a share of its mean. `text` is how it is written.
    """

    text: str
    key: str
    half_width: float
    is_share: bool
    seeds: tuple[int, ...]

    @property
    def looks(self) -> list[int]:
        """The numbers of seeds after which the intervals are looked at."""
        found = []
        count = FIRST
        while count < len(self.seeds):
            found.append(count)
            count *= 2
        return [*found, len(self.seeds)]

    @property
    def level(self) -> float:
        """The level of each interval, which makes all of them hold together at 95 %."""
        return level(len(self.looks))

    def is_reached(self, total: Measure) -> bool:
        """Whether a total with such an interval is precise enough. One that does not vary is."""
        if total.mean is None or total.n < 2:
            return False
        bound = self.half_width * abs(total.mean) if self.is_share else self.half_width
        return total.half_width is None or total.half_width <= bound

    @property
    def words(self) -> list[str]:
        """The words of a command line that ask for it, without the seeds."""
        return ["--until", self.text]

    def stored(self) -> dict[str, Any]:
        """Return it as `runs.json` stores it."""
        return asdict(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as a part of a document."""
        return {
            "text": self.text,
            "total": self.key,
            "half_width": self.half_width,
            "is_share": self.is_share,
            "looks": self.looks,
            "level": self.level,
        }


def until(stored: Mapping[str, Any] | None) -> Until | None:
    """Return what `runs.json` stores."""
    return None if stored is None else Until(**{**stored, "seeds": tuple(stored["seeds"])})
