"""All the code that a module runs with: its own text, and what it imports, and what that imports."""

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
_OURS = _HERE.parent


def digest(roots: Iterable[str]) -> str:
    """Hash the code of these modules, by their names in `sys.modules`, and of all that they import.

    Modules of Python itself count by its version, installed ones by those of their packages, all others by
    their text. Raises `UnknowableError` if it cannot be known which text runs.
    """
    walk = _Walk()
    walk.follow((root, root) for root in roots)
    head = [platform.python_version(), _ours(), *sorted(walk.versions)]
    found = hashlib.sha256("\n".join(head).encode())
    for name, text in sorted((sources.label(name, spec), text) for name, (spec, text) in walk.found.items()):
        found.update(f"\n{name} {len(text)}\n".encode() + text)
    return found.hexdigest()


class _Walk:
    """Goes from module to module, and looks at each once."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[ModuleSpec, bytes]] = {}
        self.versions: set[str] = set()
        self._computed: set[str] = set()
        self._done: set[tuple[str, str]] = set()

    def follow(self, imported: Iterable[tuple[str, str]]) -> None:
        """Follow modules, each named with the one that imports it, and all that they lead to."""
        pending = set(imported)
        while pending:
            self._done |= pending
            more = {each for name, by in pending for each in self._reach(name, by)} | set(self._widened())
            pending = more - self._done

    def _reach(self, name: str, by: str) -> Iterator[tuple[str, str]]:
        """The packages on the way to a module, and itself; gives what these import."""
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
        """Whether it is to be looked into; the versions of what is installed are noted."""
        if spec.origin is None or not spec.has_location:
            # Built in, or a package that is folders without a file.
            return spec.submodule_search_locations is not None
        if is_installed(spec.origin):
            versions = installed.versions(name.partition(".")[0])
            self.versions.update(versions)
            return not versions
        return is_own(spec.origin) and not _is_ours(spec.origin)

    def _take(self, name: str, spec: ModuleSpec) -> Iterator[tuple[str, str]]:
        text = _text(name, spec)
        self.found[name] = spec, text
        told = _imports(spec, text)
        if told.hidden:
            raise UnknowableError
        if told.computed:
            self._computed.add(name)
            self.versions.update(installed.all_versions())
        yield from ((each, name) for each in told.names)
        # What a package holds can be reached through it, whoever has imported it.
        for package in told.whole:
            held = find(package)
            if (
                held is not None
                and held.submodule_search_locations is not None
                and self._is_followed(package, held)
            ):
                yield from ((each, name) for each in list(sys.modules) if each.startswith(f"{package}."))

    def _widened(self) -> Iterator[tuple[str, str]]:
        """What imports by names that cannot be read off may have imported whatever is loaded."""
        if self._computed:
            files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
            own = [
                name
                for name, file in files.items()
                if file and is_own(file) and not _is_ours(file) and not sources.is_file(name)
            ]
            yield from ((name, by) for name in own for by in self._computed)

    def _check_order(self, by: str, name: str) -> None:
        """What was loaded anew after its importer is not, or not all, what the importer uses."""
        loader = self.found[name][0].loader
        if by == name or by not in self.found or not isinstance(loader, SourceLoader) or not loader.again:
            return
        importer = self.found[by][0].loader
        is_older = not isinstance(importer, SourceLoader) or 0 < importer.ended < loader.began
        if loader.began and is_older:
            raise UnknowableError


def find(name: str) -> ModuleSpec | None:
    """Where a module is loaded from, or would be; nothing is loaded by looking."""
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
        # Made by code, or the prompt.
        raise UnknowableError
    return spec_from_file_location(name, file, loader=SourceFileLoader(name, file))


def _text(name: str, spec: ModuleSpec) -> bytes:
    """The text that runs, or will."""
    loader, path = spec.loader, Path(str(spec.origin))
    if isinstance(loader, SourceLoader) and loader.source is not None and not loader.failed:
        return loader.source
    is_loaded = name in sys.modules
    if sources.was_loaded(name):
        # Loading it anew has failed halfway; or it was taken away, and someone may still hold it.
        raise UnknowableError
    try:
        text = path.read_bytes()
    except OSError:
        raise UnknowableError from None
    if is_loaded and (changed_since_start(path) or _has_other_bytecode(spec, text)):
        raise UnknowableError
    return text


def _has_other_bytecode(spec: ModuleSpec, text: bytes) -> bool:
    """Whether Python has loaded bytecode of another text: it looks at its size and second only."""
    loader = spec.loader
    if type(loader) is not SourceFileLoader or not spec.cached or not Path(spec.cached).exists():
        return False
    return bool(loader.get_code(loader.name) != loader.source_to_code(text, loader.path))


def _imports(spec: ModuleSpec, text: bytes) -> Imports:
    if not isinstance(spec.loader, SourceFileLoader) and Path(str(spec.origin)).suffix != ".py":
        # Compiled: what it imports cannot be read off.
        return Imports(computed=True)
    return imports(text, spec.parent or "")


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_OURS)


@cache
def _ours() -> str:
    """What stands between a controller and the simulator, which has a hash of its own."""
    return hashlib.sha256(b"\n".join(file.read_bytes() for file in sorted(_HERE.glob("*.py")))).hexdigest()
