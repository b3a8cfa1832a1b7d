"""What a user reads when a controller fails: where in the user's own code, and what."""

from __future__ import annotations

import inspect
import linecache
import traceback
from pathlib import Path

from cwndlab.controllers.code import shown
from cwndlab.errors import CwndlabError

_OURS = Path(__file__).parent


def told(error: BaseException, where: str, cls: type, method: str) -> str:
    """Tell an error in a method of a controller: file, line and the line itself.

    An error that no line of the user's has raised is a complaint of what the method has done, or of how it is
    defined: it is told at its definition.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if not frames:
        at = getattr(getattr(cls, method, None), "__code__", None)
        place = _at(at.co_filename, at.co_firstlineno) if at else ""
        return f"{place}{where}: {_complaint(error)}"
    own = [frame for frame in frames if frame.filename == _file(cls)]
    # Deep in a library the user's own line is what they can mend.
    frame = (own or frames)[-1]
    return f"{_at(frame.filename, frame.lineno)}{where}: {_named(error)}{_line(frame.filename, frame.lineno)}"


def told_of_module(error: BaseException, file: str) -> str:
    """Tell why a module could not be loaded."""
    if isinstance(error, SyntaxError) and error.lineno:
        line = _line(error.filename or file, error.lineno)
        return f"{_at(error.filename or file, error.lineno)}{type(error).__name__}: {error.msg}{line}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    if not frames:
        return f"{shown(file)}: {_named(error)}"
    return f"{_at(file, frames[-1].lineno)}{_named(error)}{_line(file, frames[-1].lineno)}"


def _file(cls: type) -> str | None:
    try:
        return inspect.getfile(cls)
    except (TypeError, OSError):
        return None


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_OURS)


def _named(error: BaseException) -> str:
    if isinstance(error, CwndlabError):
        return str(error)
    return "".join(traceback.format_exception_only(error)).strip()


def _complaint(error: BaseException) -> str:
    if isinstance(error, AttributeError):
        return f"self.{error.name} was not set"
    return str(error)


def _at(file: str, line: int | None) -> str:
    return f"{shown(file)}:{line}: "


def _line(file: str, line: int | None) -> str:
    """The line of the code, below what is said of it; nothing if it cannot be read."""
    text = linecache.getline(file, line or 0).strip() if Path(file).is_file() or file.startswith("<") else ""
    return f"\n    {text}" if text else ""
