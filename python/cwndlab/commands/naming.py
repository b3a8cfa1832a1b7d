"""Names options in the errors of functions, which name their arguments."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def named(**options: object) -> Iterator[None]:
    """Name these options, as `weights="--weights file"`, in place of arguments that cannot be used."""
    from cwndlab.errors import ArgumentError, InputError

    try:
        yield
    except ArgumentError as error:
        if error.argument not in options:
            raise
        raise InputError(f"{options[error.argument]}: {error.message}") from None
