"""Reads what a sweep varies: values of a grid, or ranges to draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwndlab.errors import InputError
from cwndlab.scenarios.axis import Axis, axis, key_and_values, split
from cwndlab.scenarios.design import GRID, Design, Method, Plan, along, combined
from cwndlab.scenarios.point_files import MARK, named_file, points_of
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

    def written(self, between: str) -> str:
        """Return it as a text of `--over`, with this between the values of a list."""
        return f"{self.key}={self.values if isinstance(self.values, str) else between.join(self.values)}"

    def axis(self, folder: Path | None) -> Axis:
        """Return its values as an axis of a grid."""
        if isinstance(self.values, str) and is_range(self.values):
            raise InputError(f"{self.where}: expected --sample N with a range, or values to combine")
        values = split(self.values) if isinstance(self.values, str) else self.values
        return axis(self.key, values, self.where, folder)

    def plan(self, folder: Path | None) -> Plan:
        """Return its values as points."""
        return along(self.axis(folder))

    def source(self, folder: Path | None) -> Source:
        """Return what its values are drawn from."""
        if isinstance(self.values, str):
            return source(self.key, self.values, self.where, folder)
        return choices(self.key, self.values, self.where, folder)


@dataclass(frozen=True, slots=True)
class PointsFile:
    """A file of points."""

    path: Path

    def written(self, between: str = "") -> str:
        """Return it as a text of `--over`."""
        del between
        return str(self.path) if named_file(str(self.path)) else f"{MARK}{self.path}"

    def plan(self, folder: Path | None) -> Plan:
        """Return its points."""
        return points_of(self.path, folder)


def parsed(text: str) -> Over | PointsFile:
    """Read one `--over`: a key with values, or the name of a file."""
    file = named_file(text)
    return Over.parsed(text) if file is None else PointsFile(file)


def plan_of(
    over: Sequence[Over | PointsFile],
    scenario: Scenario,
    folder: Path | None = None,
    wanted: Sampling | None = None,
) -> Plan:
    """Return the points over these keys: a grid, or a sample if one is wanted.

    The points of a file meet all values of the other keys. Relative paths among the values are those of the
    current folder, or else of `folder`. Raises `InputError` if values do not fit.
    """
    if wanted is not None:
        return _sample(over, scenario, folder, wanted)
    has_file = any(isinstance(each, PointsFile) for each in over)
    design = Design(Method.FILE, tuple(each.written(",") for each in over)) if has_file else GRID
    return combined([each.plan(folder) for each in over], design)


def _sample(
    over: Sequence[Over | PointsFile], scenario: Scenario, folder: Path | None, wanted: Sampling
) -> Plan:
    if not over:
        raise InputError(f"--sample {wanted.size}: expected --over with it, found none")
    sources = []
    for each in over:
        if isinstance(each, PointsFile):
            raise InputError(f"--over {each.written()}: expected a key to draw with --sample, found a file")
        sources.append(each.source(folder))
    return drawn(scenario, sources, [each.written(OR) for each in over], wanted)
