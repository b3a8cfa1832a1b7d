"""Words the errors of a controller, with their place in the user's own code."""

from __future__ import annotations

import inspect
import linecache
import traceback
from pathlib import Path

from cwndlab.controllers.code import shown
from cwndlab.errors import CwndlabError

_OURS = Path(__file__).parent


def callback_message(error: BaseException, where: str, cls: type, method: str) -> str:
    """Return the message for an error in a method of a controller: file, line number and the line itself.

    If no line of the user's code raised the error, it is about a result of the method or about its signature.
    The message then names the line of its definition.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if not frames:
        at = getattr(getattr(cls, method, None), "__code__", None)
        place = _at(at.co_filename, at.co_firstlineno) if at else ""
        return f"{place}{where}: {_complaint(error)}"
    own = [frame for frame in frames if frame.filename == _file(cls)]
    # For an error deep in a library, the user can only change their own line.
    frame = (own or frames)[-1]
    return f"{_at(frame.filename, frame.lineno)}{where}: {_named(error)}{_line(frame.filename, frame.lineno)}"


def loading_message(error: BaseException, file: str) -> str:
    """Return the message for a module that could not be loaded."""
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
    """Return the line of code for the end of a message, or nothing if it cannot be read."""
    text = linecache.getline(file, line or 0).strip() if Path(file).is_file() or file.startswith("<") else ""
    return f"\n    {text}" if text else ""
