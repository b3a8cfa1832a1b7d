"""The errors, and their exit status on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Self


# The exit status after Ctrl-C.
INTERRUPTED = 130


class CwndlabError(Exception):
    """An error that is reported in one line, without a traceback."""

    exit_status = 1

    def reword(self, worded: Callable[[str], str]) -> None:
        """Say the same in other words."""
        self.args = (worded(str(self)),)


class InputError(CwndlabError):
    """The input cannot be used."""

    exit_status = 2


class ArgumentError(InputError):
    """An argument of a function cannot be used. A command names its option in place of the argument."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(f"{argument}: {message}")
        # The name, without a value that the message begins with.
        self.argument = argument.partition("=")[0]
        self.message = message


class ReportedError(InputError):
    """The checker reports mistakes, one a line, each with its place and its severity."""


class OutputError(CwndlabError):
    """Something could not be written: the disk is full, or standard output is closed."""

    @classmethod
    def of(cls, what: str | os.PathLike[str], error: OSError) -> Self:
        """Return the error for a failed write to `what`."""
        return cls(f"{what}: cannot be written ({error.strerror or error})")


class CacheWarning(UserWarning):
    """Finished runs cannot be cached. Nothing is lost except the time to repeat them."""


class BackendWarning(UserWarning):
    """The Linux backend runs a scenario by a slower way. The results are the same."""


class ClusterWarning(UserWarning):
    """A cluster has no workers yet."""


class RunFailedError(CwndlabError):
    """A simulation failed. `setting` identifies it among the runs of the same file and seed."""

    def __init__(self, seed: int, reason: str, setting: str = "") -> None:
        super().__init__(f"seed {seed}{f' ({setting})' if setting else ''}: {reason}")
        self.seed = seed
