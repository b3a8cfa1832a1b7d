"""What can go wrong, and the exit status it has on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from typing import Self


class CwndlabError(Exception):
    """An error that is told in one line, without a traceback."""

    exit_status = 1


class InputError(CwndlabError):
    """The caller gave something that cannot be used."""

    exit_status = 2


class OutputError(CwndlabError):
    """Something could not be written: the disk is full, or standard output is closed."""

    @classmethod
    def of(cls, what: str | os.PathLike[str], error: OSError) -> Self:
        """What the system said when this was written."""
        return cls(f"{what}: cannot be written ({error.strerror or error})")


class CacheWarning(UserWarning):
    """Finished runs cannot be kept: nothing is lost but the time to make them again."""


class RunFailedError(CwndlabError):
    """A simulation broke off; `setting` tells it from other runs of the same file and seed."""

    def __init__(self, seed: int, reason: str, setting: str = "") -> None:
        super().__init__(f"seed {seed}{f' ({setting})' if setting else ''}: {reason}")
        self.seed = seed
