"""Hashes all the code that a module depends on: its own text, its imports, and their imports."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers import installed, sources
from cwndlab.controllers.imports import Imports, imports
from cwndlab.controllers.places import UnknowableError, is_installed, is_own
from cwndlab.controllers.sources import SourceLoader
from cwndlab.system.process import changed_since_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HERE = Path(__file__).parent


def digest(roots: Iterable[str]) -> str:
    """Return a SHA-256 of the code of these modules and of all their imports, in hexadecimal.

    `roots` are names in `sys.modules`. Python's own modules count by its version, installed ones by the
    versions of their packages, all others by their text. Raises `UnknowableError` if the text that runs
    cannot be known.
    """
    walk = _Walk()
    walk.follow((root, root) for root in roots)
    head = [platform.python_version(), _ours(), *sorted(walk.versions)]
    found = hashlib.sha256("\n".join(head).encode())
    for name, text in sorted((sources.label(name, spec), text) for name, (spec, text) in walk.found.items()):
        found.update(f"\n{name} {len(text)}\n".encode() + text)
    return found.hexdigest()


def texts(roots: Iterable[str]) -> dict[str, bytes]:
    """Return the text of the user's modules among these and their imports, by their paths in one folder.

    A file that was loaded by its path is at the top; a module is where its name says. Raises
    `UnknowableError` if the text that runs cannot be known, or two of them have the same path.
    """
    walk = _Walk()
    walk.follow((root, root) for root in roots)
    found = {_path(name, spec): text for name, (spec, text) in walk.found.items()}
    if len(found) < len(walk.found):
        raise UnknowableError
    return found


def _path(name: str, spec: ModuleSpec) -> str:
    origin = Path(str(spec.origin))
    if sources.is_file(name):
        return origin.name
    folder = name.replace(".", "/")
    is_package = spec.submodule_search_locations is not None
    return f"{folder}/{origin.name}" if is_package else f"{folder}{''.join(origin.suffixes)}"


class _Walk:
    """Follows imports from module to module, and visits each module once."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[ModuleSpec, bytes]] = {}
        self.versions: set[str] = set()
        self._computed: set[str] = set()
        self._done: set[tuple[str, str]] = set()

    def follow(self, imported: Iterable[tuple[str, str]]) -> None:
        """Follow these modules, each given with its importer, and everything that they import."""
        pending = set(imported)
        while pending:
            self._done |= pending
            more = {each for name, by in pending for each in self._reach(name, by)} | set(self._widened())
            pending = more - self._done

    def _reach(self, name: str, by: str) -> Iterator[tuple[str, str]]:
        """Visit the parent packages of a module and itself. Yields their imports."""
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            place = ".".join(parts[:count])
            spec = find(place)
            if spec is None or not self._is_followed(place, spec):
                return
            if spec.origin is not None and spec.has_location:
                if place not in self.found:
                    yield from self._take(place, spec)
                self._check_order(by, place)

    def _is_followed(self, name: str, spec: ModuleSpec) -> bool:
        """Return whether to read the module. Records the versions of an installed one."""
        if spec.origin is None or not spec.has_location:
            # Built in, or a namespace package, which has folders but no file.
            return spec.submodule_search_locations is not None
        if is_installed(spec.origin):
            versions = installed.versions(name.partition(".")[0])
            self.versions.update(versions)
            return not versions
        return is_own(spec.origin)

    def _take(self, name: str, spec: ModuleSpec) -> Iterator[tuple[str, str]]:
        text = _text(name, spec)
        self.found[name] = spec, text
        imported = _imports(spec, text)
        if imported.hidden:
            raise UnknowableError
        if imported.computed:
            self._computed.add(name)
            self.versions.update(installed.all_versions())
        yield from ((each, name) for each in imported.names)
        # A package gives access to its modules, no matter which code imported them.
        for package in imported.whole:
            held = find(package)
            if (
                held is not None
                and held.submodule_search_locations is not None
                and self._is_followed(package, held)
            ):
                yield from ((each, name) for each in list(sys.modules) if each.startswith(f"{package}."))

    def _widened(self) -> Iterator[tuple[str, str]]:
        """Yield every loaded module of the user for each module that imports by computed names."""
        if self._computed:
            files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
            own = [
                name for name, file in files.items() if file and is_own(file) and not sources.is_file(name)
            ]
            yield from ((name, by) for name in own for by in self._computed)

    def _check_order(self, by: str, name: str) -> None:
        """Raise `UnknowableError` if a module was loaded again after its importer: it may use the old one."""
        loader = self.found[name][0].loader
        if by == name or by not in self.found or not isinstance(loader, SourceLoader) or not loader.again:
            return
        importer = self.found[by][0].loader
        is_older = not isinstance(importer, SourceLoader) or 0 < importer.ended < loader.began
        if loader.began and is_older:
            raise UnknowableError


def find(name: str) -> ModuleSpec | None:
    """Return the spec of a module, or None if it cannot be found. Loads nothing."""
    if name in sys.modules:
        return _spec_of_loaded(name)
    parent = name.rpartition(".")[0]
    package = find(parent) if parent else None
    path = None if package is None else package.submodule_search_locations
    if parent and path is None:
        return None
    for finder in sys.meta_path:
        found = finder.find_spec(name, path)
        if found is not None:
            return found
    return None


def _spec_of_loaded(name: str) -> ModuleSpec | None:
    module = sys.modules[name]
    spec: ModuleSpec | None = getattr(module, "__spec__", None)
    file = getattr(module, "__file__", None)
    if spec is not None or module is None:
        return spec
    if file is None:
        # Created by code, or the prompt.
        raise UnknowableError
    return spec_from_file_location(name, file, loader=SourceFileLoader(name, file))


def _text(name: str, spec: ModuleSpec) -> bytes:
    """Return the text that runs, or will run."""
    loader, path = spec.loader, Path(str(spec.origin))
    if isinstance(loader, SourceLoader) and loader.source is not None and not loader.failed:
        return loader.source
    is_loaded = name in sys.modules
    if sources.was_loaded(name):
        # Loading it again failed halfway; or it was removed, and other code may still refer to it.
        raise UnknowableError
    try:
        text = path.read_bytes()
    except OSError:
        raise UnknowableError from None
    if is_loaded and (changed_since_start(path) or _has_other_bytecode(spec, text)):
        raise UnknowableError
    return text


def _has_other_bytecode(spec: ModuleSpec, text: bytes) -> bool:
    """Return whether Python loaded bytecode of another text: it compares only size and time in seconds."""
    loader = spec.loader
    if type(loader) is not SourceFileLoader or not spec.cached or not Path(spec.cached).exists():
        return False
    return bool(loader.get_code(loader.name) != loader.source_to_code(text, loader.path))


def _imports(spec: ModuleSpec, text: bytes) -> Imports:
    if not isinstance(spec.loader, SourceFileLoader) and Path(str(spec.origin)).suffix != ".py":
        # A compiled module: its imports cannot be read.
        return Imports(computed=True)
    return imports(text, spec.parent or "")


@cache
def _ours() -> str:
    """Return the hash of the code between a controller and the simulator, which has its own hash."""
    return hashlib.sha256(b"\n".join(file.read_bytes() for file in sorted(_HERE.glob("*.py")))).hexdigest()
