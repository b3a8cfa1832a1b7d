"""Files that come with the package and are no code: the example scenarios and the papers."""

from __future__ import annotations

import shutil
from enum import StrEnum
from importlib import resources
from pathlib import Path

from cwndlab.errors import InputError
from cwndlab.system import checkout, writing


class Shipped(StrEnum):
    """A folder that comes with the package."""

    SCENARIOS = "scenarios"
    PAPERS = "papers"


def folder(what: Shipped) -> Path:
    """Return the folder: that of the source checkout, or the copy in an installed package."""
    if checkout.is_there():
        return checkout.root() / what
    return Path(str(resources.files("cwndlab"))) / "shipped" / what


def copy(what: Shipped, to: Path) -> None:
    """Copy a folder. Raises `InputError` if the new one exists, `OutputError` if it cannot be written."""
    if to.exists():
        raise InputError(f"{to}: already exists; name another folder with --to")
    with writing.failures_of(to):
        shutil.copytree(folder(what), to, ignore=shutil.ignore_patterns("__pycache__"))
