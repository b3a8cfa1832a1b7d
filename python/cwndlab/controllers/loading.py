"""Loading what `--with` names: a file, or a package that is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers import sources
from cwndlab.controllers.code import shown
from cwndlab.controllers.faults import told_of_module
from cwndlab.engine import in_use
from cwndlab.errors import InputError
from cwndlab.system.reading import MIB, read

if TYPE_CHECKING:
    from collections.abc import Iterable

# Far above any code written by hand.
MAX_BYTES = 16 * MIB


def load(names: Iterable[str]) -> None:
    """Load files (`my_algorithm.py`) and packages (`gentle`) for the algorithms that they register."""
    sources.install()
    sources.forget_changed()
    for name in names:
        before = dict(in_use().registered)
        if name.endswith(".py") or os.sep in name:
            _load_file(Path(name))
            loaded = shown(name)
        else:
            _load_package(name)
            loaded = name
        # What was loaded before is told by its origin: it changes nothing to load it again.
        if in_use().registered == before and all(origin.loaded_by != loaded for origin in before.values()):
            hint = 'put @cwndlab.controller("NAME") over a class'
            raise InputError(f"--with {name}: registers no algorithm; {hint}")


def _load_package(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise InputError(f"--with {name}: {error}") from None
        raise InputError(
            f"--with {name}: no such package is installed; a file of Python is named with its ending .py"
        ) from None
    except Exception as error:
        raise InputError(f"--with {name}: {type(error).__name__}: {error}") from None


def _load_file(file: Path) -> None:
    try:
        # Before Python reads it: a pipe would have it wait, a device would fill the memory.
        read(file, MAX_BYTES, "a Python file (.py)")
    except InputError as error:
        raise InputError(f"--with {error}") from None
    path = str(file.resolve())
    loader = sources.of_file(path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(file.resolve().parent) not in sys.path:
        # As for a script: it finds the modules beside it.
        sys.path.append(str(file.resolve().parent))
    try:
        loader.exec_module(module)
    except Exception as error:
        raise InputError(told_of_module(error, path)) from None
