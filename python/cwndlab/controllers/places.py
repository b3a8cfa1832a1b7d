"""Whose a module is, by the place of its file: Python's own, installed, or the user's."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

_INSTALLED = {"site-packages", "dist-packages"}


class UnknowableError(Exception):
    """It cannot be known which code runs."""


@cache
def is_own(file: str) -> bool:
    """Whether a file is the user's: neither Python's own nor installed."""
    path = Path(file)
    return not is_installed(file) and not any(path.is_relative_to(each) for each in _standard())


def is_installed(file: str) -> bool:
    """Whether a file lies where packages are installed."""
    return bool(_INSTALLED & set(Path(file).parts))


@cache
def _standard() -> list[Path]:
    folders = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    folders.append(Path(sysconfig.__file__).parent)
    return [*folders, *(folder.resolve() for folder in folders)]
