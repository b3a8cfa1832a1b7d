"""Finds and hashes the code of a controller. Finished runs are reused only if the hash is the same."""

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

# The name of the running script, in this process and in one that `multiprocessing` started.
_SCRIPTS = ("__main__", "__mp_main__")


@dataclass(frozen=True)
class Code:
    """The code of a class when it was registered.

    `file` is its path as the user would write it, or None at a prompt. `roots` are the modules that define
    the class and its bases, and those whose code registered it, as they were loaded; None if some of this
    code is in no module. `registered_by` is the file or module whose loading registered the class, or None if
    that is the running script or no module.
    """

    file: str | None
    roots: dict[str, ModuleSpec | None] | None
    registered_by: str | None = None
    # The module that was being loaded, of which each loading has its own.
    loading: ModuleSpec | None = None

    def sha256(self) -> str:
        """Return a SHA-256 of the code and of everything that it imports now, in hexadecimal.

        Code from a prompt or a notebook, or changed since it was loaded, cannot be recognised and gets a new
        hash each time.
        """
        try:
            return closure.digest(self._known_roots())
        except UnknowableError:
            return secrets.token_hex(32)

    def is_of_same_loading(self, other: Code) -> bool:
        """Return whether both were registered while a file or a module was loaded once."""
        return self.loading is not None and self.loading is other.loading

    def texts(self) -> dict[str, bytes]:
        """Return the user's modules among this code, by their paths below a common folder.

        Raises `UnknowableError` if the code cannot be known.
        """
        return closure.texts(self._known_roots())

    def _known_roots(self) -> dict[str, ModuleSpec | None]:
        if self.roots is None or any(_spec(name) is not spec for name, spec in self.roots.items()):
            raise UnknowableError
        return self.roots


def of(cls: type) -> Code:
    """Return the code of a class that is being registered. The caller is called by the decorator."""
    try:
        file = Path(inspect.getfile(cls)).resolve()
    except (TypeError, OSError):
        return Code(None, None)
    try:
        frame = sys._getframe(2)
        names = {base.__module__ for base in cls.__mro__}.union(_registering(frame))
    except UnknowableError:
        return Code(shown(str(file)), None)
    loaded = _loaded(frame)
    loading = None if loaded is None else _spec(loaded)
    return Code(shown(str(file)), {name: _spec(name) for name in names}, _registered_by(loaded), loading)


def shown(file: str) -> str:
    """Return a path relative to the current folder if it is inside, else unchanged."""
    path = Path(file)
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _registering(frame: FrameType | None) -> Iterator[str]:
    """Yield the modules whose code is running: a function may build a class from its arguments."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        module: Any = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is None or not _is_of(frame.f_code.co_filename, file):
            # A prompt, a cell of a notebook, or a text run by `exec`.
            raise UnknowableError
        yield name
        if frame.f_code.co_name == "<module>":
            return
        frame = frame.f_back


def _loaded(frame: FrameType | None) -> str | None:
    """Return the name of the module that is being loaded, or None if that is the running script or none."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    name: str | None = None if frame is None else frame.f_globals["__name__"]
    return None if name in _SCRIPTS else name


def _registered_by(name: str | None) -> str | None:
    """Return the file of the module that is being loaded, or its name if it was not loaded by its file."""
    if name is not None and sources.is_file(name):
        return str(sys.modules[name].__file__)
    return name


def _is_of(code: str, file: str) -> bool:
    # Some of Python's own modules are part of the interpreter.
    return code.startswith("<frozen ") or Path(code).resolve() == Path(file).resolve()


def _spec(name: str) -> ModuleSpec | None:
    spec: ModuleSpec | None = getattr(sys.modules.get(name), "__spec__", None)
    return spec
