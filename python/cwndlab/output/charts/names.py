"""Names in a chart, and the reader's own labels in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Names:
    """Replaces names of algorithms, flows and settings by labels, and knows which names there were."""

    def __init__(self, labels: Mapping[str, str] | None = None) -> None:
        self._labels = dict(labels or {})
        self._met: dict[str, None] = {}

    def __call__(self, name: str) -> str:
        """Return the label of a name, or the name."""
        self._met[name] = None
        return self._labels.get(name, name)

    def joined(self, names: Iterable[str]) -> str:
        """Return several names in one line."""
        return ", ".join(map(self, names))

    def flow(self, name: str, algorithm: str | None) -> str:
        """Return a flow's name, with its algorithm if neither the name nor its label says it."""
        shown = self(name)
        if algorithm is None or algorithm == name:
            return shown
        other = self(algorithm)
        return shown if shown != name or algorithm in name else f"{shown} ({other})"

    def check(self) -> None:
        """Raise an error if a label is for a name that the chart does not have."""
        unknown = [name for name in self._labels if name not in self._met]
        if unknown:
            met = ", ".join(self._met) or "none: the chart has no names"
            raise InputError(f"--label {unknown[0]}: expected one of {met}")
