"""The source checkout that contains this package, if there is one. An installed wheel has none."""

from __future__ import annotations

from pathlib import Path

from cwndlab.errors import InputError


def root() -> Path:
    """Return the folder above `python/`."""
    return Path(__file__).resolve().parents[3]


def is_there() -> bool:
    """Whether this package is part of a checkout."""
    return (root() / "crates").is_dir()


def missing(what: str) -> str:
    """Return a sentence that says what is not to be had without the sources, and where they are."""
    return (
        f"{what} needs cwndlab's sources, which an installed wheel does not have; unpack the source archive "
        "cwndlab-VERSION.tar.gz and run make setup there"
    )


def require(what: str) -> None:
    """Raise `InputError` if this package is not part of a checkout."""
    if not is_there():
        raise InputError(missing(what))
