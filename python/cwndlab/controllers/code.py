"""The code of a controller: where it stands, and its hash, without which no finished run is reused."""

from __future__ import annotations

import inspect
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.controllers import closure, sources
from cwndlab.controllers.places import UnknowableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec
    from types import FrameType

# The script that runs, in this process and in one that `multiprocessing` has begun.
_SCRIPTS = ("__main__", "__mp_main__")


@dataclass(frozen=True)
class Code:
    """The code of a class when it was registered.

    `file` is where it stands, as the user would write it; None for what was typed at a prompt. `roots` are
    the modules that define the class and its bases, and those whose code has registered it, as they were
    loaded; None if a part is no module. `registered_by` is the file or the module whose loading has
    registered the class; None if that is no module, or the script that runs.
    """

    file: str | None
    roots: dict[str, ModuleSpec | None] | None
    registered_by: str | None = None

    def sha256(self) -> str:
        """Hash it, with all that it imports as things stand now.

        Code that cannot be known to be the same again (of a prompt or a notebook, or changed since it was
        loaded) has a new hash each time.
        """
        try:
            if self.roots is None or any(_spec(name) is not spec for name, spec in self.roots.items()):
                raise UnknowableError
            return closure.digest(self.roots)
        except UnknowableError:
            return secrets.token_hex(32)


def of(cls: type) -> Code:
    """The code of a class that is being registered: its decorator has called what calls this."""
    try:
        file = Path(inspect.getfile(cls)).resolve()
    except (TypeError, OSError):
        return Code(None, None)
    try:
        frame = sys._getframe(2)
        names = {base.__module__ for base in cls.__mro__}.union(_registering(frame))
    except UnknowableError:
        return Code(shown(str(file)), None)
    return Code(shown(str(file)), {name: _spec(name) for name in names}, _registered_by(frame))


def shown(file: str) -> str:
    """A path from the current folder where that is above it."""
    path = Path(file)
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _registering(frame: FrameType | None) -> Iterator[str]:
    """The modules whose code is being executed: a function may make a class of what it is called with."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        module: Any = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is None or not _is_of(frame.f_code.co_filename, file):
            # A prompt, a cell of a notebook, or a text that something has executed.
            raise UnknowableError
        yield name
        if frame.f_code.co_name == "<module>":
            return
        frame = frame.f_back


def _registered_by(frame: FrameType | None) -> str | None:
    """The file or the name of the module that is being loaded."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is None:
        return None
    name = frame.f_globals["__name__"]
    if sources.is_file(name):
        return str(sys.modules[name].__file__)
    return None if name in _SCRIPTS else name


def _is_of(code: str, file: str) -> bool:
    # Python carries some of its own modules within itself.
    return code.startswith("<frozen ") or Path(code).resolve() == Path(file).resolve()


def _spec(name: str) -> ModuleSpec | None:
    spec: ModuleSpec | None = getattr(sys.modules.get(name), "__spec__", None)
    return spec
