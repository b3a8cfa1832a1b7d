"""Reads what a sweep varies: values of a grid, or ranges to draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.axis import Axis, axis, key_and_values, split
from cwndlab.scenarios.design import Plan, gridded
from cwndlab.scenarios.ranges import OR, choices, is_range, source
from cwndlab.scenarios.sampling import drawn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cwndlab.scenarios.ranges import Source
    from cwndlab.scenarios.sampling import Sampling
    from cwndlab.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Over:
    """A key with its values: a text as in `--over`, or a list. `where` begins messages about it."""

    key: str
    values: str | Sequence[str]
    where: str

    @classmethod
    def parsed(cls, text: str) -> Over:
        """Read `key=value,value` or `key=range`. Raises `InputError` without a key."""
        return cls(*key_and_values(text, "--over"), f"--over {text}")

    @property
    def text(self) -> str:
        """It as a text of `--over`, for a sample."""
        return f"{self.key}={self.values if isinstance(self.values, str) else OR.join(self.values)}"

    def axis(self, folder: Path | None) -> Axis:
        """Return its values as an axis of a grid."""
        if isinstance(self.values, str) and is_range(self.values):
            raise InputError(f"{self.where}: expected --sample N with a range, or values to combine")
        values = split(self.values) if isinstance(self.values, str) else self.values
        return axis(self.key, values, self.where, folder)

    def source(self, folder: Path | None) -> Source:
        """Return what its values are drawn from."""
        if isinstance(self.values, str):
            return source(self.key, self.values, self.where, folder)
        return choices(self.key, self.values, self.where, folder)


def plan_of(
    over: Sequence[Over], scenario: Scenario, folder: Path | None = None, wanted: Sampling | None = None
) -> Plan:
    """Return the points over these keys: a grid, or a sample if one is wanted.

    Relative paths are those of the current folder, or else of `folder`. Raises `InputError` if values do not
    fit.
    """
    if wanted is None:
        return gridded([each.axis(folder) for each in over])
    if not over:
        raise InputError(f"--sample {wanted.size}: expected --over with it, found none")
    sources = [each.source(folder) for each in over]
    return drawn(scenario, sources, [each.text for each in over], wanted)
