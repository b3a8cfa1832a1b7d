"""Writes to the terminal, with colours only on a terminal, and ends cleanly when the output is closed."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.errors import OutputError

if TYPE_CHECKING:
    from typing import Any, TextIO

    from rich.console import Console

_OUTPUT = "standard output"


class ReaderGoneError(Exception):
    """The reader of standard output closed it (`| head`). This is not a failure."""


def output() -> Console:
    """Return standard output. It is 80 columns wide if it is not a terminal and $COLUMNS is not set."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False, _environ=_environment())


def errors() -> Console:
    """Return standard error."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, _environ=_environment())


def _environment() -> dict[str, str]:
    """Return the environment, without a width of 0, which means an unknown one: rich would print nothing."""
    return {key: value for key, value in os.environ.items() if key != "COLUMNS" or value.strip("0")}


def guard_streams() -> None:
    """Make a failure of standard output end the command with a message of one line.

    Failures of standard error are ignored. Raises `OutputError` if standard output is closed.
    """
    # Python sets a stream to None if the caller has closed it.
    streams: Any = (sys.stdout, sys.stderr)
    out, err = streams
    sys.stderr = Path(os.devnull).open("w") if err is None else _Remarks(err)  # noqa: SIM115 (open to the end)
    if out is None:
        raise OutputError(f"{_OUTPUT}: is closed")
    sys.stdout = _Output(out)


class _Stream(io.TextIOWrapper):
    """A standard stream that does not fail again at the end of the process."""

    def __init__(self, stream: TextIO) -> None:
        inner: Any = stream
        super().__init__(
            inner.buffer,
            encoding=inner.encoding,
            # A terminal that cannot show ± gets a question mark, not a traceback.
            errors="replace",
            line_buffering=inner.line_buffering,
            write_through=inner.write_through,
        )

    def write(self, text: str) -> int:
        if text == "":
            # Typer probes the stream with an empty text and ignores failures.
            return 0
        try:
            return super().write(text)
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Discard further output, which would fail as well."""
        del error
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


class _Remarks(_Stream):
    """Standard error. If it fails, its messages are lost and the work continues."""


class _Output(_Stream):
    """Standard output."""

    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from None
        raise OutputError.of(_OUTPUT, error) from None
