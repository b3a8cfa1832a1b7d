"""The example scenarios, which can be named without a folder and an ending: `two-flows`."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from cwndlab.system.shipped import Shipped, folder

if TYPE_CHECKING:
    from pathlib import Path


def names() -> list[str]:
    """Return the names of all examples."""
    return sorted(path.stem for path in folder(Shipped.SCENARIOS).glob("*.toml"))


def file_of(name: str) -> Path | None:
    """Return the file of the example with this name, if there is one."""
    return folder(Shipped.SCENARIOS) / f"{name}.toml" if name in names() else None


def summary(name: str) -> str:
    """Return what an example shows: the first paragraph of the comment at the top of its file."""
    lines = (folder(Shipped.SCENARIOS) / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    return " ".join(line.removeprefix("#").strip() for line in takewhile(_is_text, lines))


def _is_text(line: str) -> bool:
    return line.startswith("#") and line != "#"
