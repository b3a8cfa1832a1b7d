"""Writing to the terminal: colours only where a person reads, and one clear end where nobody can read."""

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
    """Whoever read standard output has seen enough (`| head`): nothing went wrong."""


def output() -> Console:
    """Standard output; 80 columns wide when it is not a terminal and $COLUMNS does not say otherwise."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def errors() -> Console:
    """Standard error."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


def guard_streams() -> None:
    """Let a failure of standard output end the command with one line; one of standard error ends nothing.

    Raises `OutputError` if standard output is closed.
    """
    # Python has no such stream where the caller has closed it.
    given: Any = (sys.stdout, sys.stderr)
    out, err = given
    sys.stderr = Path(os.devnull).open("w") if err is None else _Remarks(err)  # noqa: SIM115 (open to the end)
    if out is None:
        raise OutputError(f"{_OUTPUT}: is closed")
    sys.stdout = _Output(out)


class _Stream(io.TextIOWrapper):
    """A standard stream that does not fail again at the end of the process."""

    def __init__(self, stream: TextIO) -> None:
        given: Any = stream
        super().__init__(
            given.buffer,
            encoding=given.encoding,
            # A terminal that cannot show ± gets a question mark, not a traceback.
            errors="replace",
            line_buffering=given.line_buffering,
            write_through=given.write_through,
        )

    def write(self, text: str) -> int:
        if text == "":
            # Typer asks so what kind of stream this is, and heeds no failure.
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
        """What is still to be written would fail as well: it goes nowhere."""
        del error
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


class _Remarks(_Stream):
    """Standard error: what cannot be told there is lost, and the work goes on."""


class _Output(_Stream):
    """Standard output."""

    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        if isinstance(error, BrokenPipeError):
            raise ReaderGoneError from None
        raise OutputError.of(_OUTPUT, error) from None
