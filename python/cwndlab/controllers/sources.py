"""Loads a user's modules so that the text that runs is known.

Python uses old bytecode for a source of the same size that was changed in the same second, and a loaded
module stays when its file changes. From the first controller on, modules that are neither Python's own nor
installed are loaded from their source, which is kept with them.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers.places import is_own

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

_clock = count(1)
_loaded: set[str] = set()
_WITH = "cwndlab_with_"


class SourceLoader(SourceFileLoader):
    """Loads one module from its source and remembers it.

    `began` and `ended` are positions in the order of all loading, or 0 before it. `again` is true if a module
    of this name was loaded before.
    """

    source: bytes | None = None
    again = failed = False
    began = ended = 0

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 (as Python calls it)
        """Compile the source. Reads and writes no bytecode."""
        self.source = self.get_data(self.path)
        return self.source_to_code(self.source, self.path)

    def is_changed(self) -> bool:
        """Return whether the file differs from the text that was loaded, or cannot be read."""
        try:
            return self.get_data(self.path) != self.source
        except OSError:
            return True

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, and note when."""
        self.began = next(_clock)
        self.again |= self.name in _loaded
        try:
            super().exec_module(module)
        except BaseException:
            self.failed = True
            raise
        self.ended = next(_clock)
        _loaded.add(self.name)


class _Finder(MetaPathFinder):
    """Finds modules as Python does, and lets `SourceLoader` load the user's."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        # Replace only Python's own loader: a tool that installed another has a reason.
        if spec is None or type(spec.loader) is not SourceFileLoader or not is_own(spec.loader.path):
            return spec
        loader = SourceLoader(fullname, spec.loader.path)
        # For `importlib.reload`.
        loader.again = fullname in sys.modules
        spec.loader = loader
        return spec


def install() -> None:
    """Load the user's modules with `SourceLoader` from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        place = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(place, _Finder())


def of_file(path: str) -> SourceLoader:
    """Return a loader for a file, which may share its name with another or with `random.py` of Python."""
    return SourceLoader(f"{_WITH}{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}", path)


def forget_changed() -> None:
    """Drop modules whose text has changed, and all that use them, so that the next import reloads them."""
    importlib.invalidate_caches()
    loaders = {name: getattr(module, "__loader__", None) for name, module in list(sys.modules.items())}
    known = {name: loader for name, loader in loaders.items() if isinstance(loader, SourceLoader)}
    changed = [name for name, loader in known.items() if loader.is_changed()]
    # A package holds its modules as attributes.
    tops = {name.partition(".")[0] for name in changed}
    first = min((known[name].began for name in [*changed, *tops] if name in known), default=None)
    for name, loader in known.items():
        # Every user of a module finished loading after the module began.
        if first is not None and loader.ended > first:
            sys.modules.pop(name)
            tops.add(name.partition(".")[0])
    for name in list(sys.modules):
        if name.partition(".")[0] in tops:
            del sys.modules[name]


def was_loaded(name: str) -> bool:
    """Return whether a module of this name was loaded in this process."""
    return name in _loaded


def is_file(name: str) -> bool:
    """Return whether a module is a file loaded by its path, which nothing imports."""
    return name.startswith(_WITH)


def label(name: str, spec: ModuleSpec) -> str:
    """Return a name of a module that does not depend on its folder."""
    return Path(str(spec.origin)).name if is_file(name) else name
