"""Sorts modules by the place of their file: Python's own, installed, cwndlab's, or the user's."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

_INSTALLED = {"site-packages", "dist-packages"}
# In a clone cwndlab is not installed in a folder of packages.
_OURS = Path(__file__).parents[1]


class UnknowableError(Exception):
    """The code that runs cannot be known."""


@cache
def is_own(file: str) -> bool:
    """Return whether a file is the user's: neither Python's own, nor installed, nor cwndlab's."""
    path = Path(file)
    return not is_installed(file) and not any(path.is_relative_to(each) for each in [*_standard(), _OURS])


def is_installed(file: str) -> bool:
    """Return whether a file is in a folder of installed packages."""
    return bool(_INSTALLED & set(Path(file).parts))


@cache
def _standard() -> list[Path]:
    folders = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    folders.append(Path(sysconfig.__file__).parent)
    return [*folders, *(folder.resolve() for folder in folders)]
