"""Loads the files and installed packages that `--with` names."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers import sources
from cwndlab.controllers.code import shown
from cwndlab.controllers.faults import loading_message
from cwndlab.engine import in_use
from cwndlab.errors import InputError
from cwndlab.system.reading import MIB, read

if TYPE_CHECKING:
    from collections.abc import Iterable

# Far above any code written by hand.
MAX_BYTES = 16 * MIB


def load(names: Iterable[str]) -> None:
    """Load files (`my_algorithm.py`) and packages (`gentle`), which register algorithms.

    Raises `InputError` if one cannot be loaded or registers no algorithm.
    """
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
        # Loading a package again registers nothing new; the origins show that it was loaded before.
        if in_use().registered == before and all(origin.loaded_by != loaded for origin in before.values()):
            hint = 'put @cwndlab.controller("NAME") over a class'
            raise InputError(f"--with {name}: it registers no algorithm; {hint}")


def load_from(folder: Path, name: str, others: Path) -> None:
    """Load a file or a module of this folder, and what it imports from there.

    Modules of other folders in `others` are forgotten, and their controllers may be replaced: they may have
    the same names. Raises `InputError` as `load` does.
    """

    def is_of_others(file: str | None) -> bool:
        path = Path(file or "").resolve()
        return path.is_relative_to(others.resolve()) and not path.is_relative_to(folder.resolve())

    files = {module: getattr(each, "__file__", None) for module, each in sys.modules.items()}
    for module in [module for module, file in files.items() if file and is_of_others(file)]:
        del sys.modules[module]
    engine = in_use()
    for registered, each in engine.in_python().items():
        if is_of_others(each.loaded_by):
            engine.registered[registered] = replace(each, replaceable=True)
    sys.path[:] = [str(folder), *(each for each in sys.path if not is_of_others(each))]
    importlib.invalidate_caches()
    file = folder / name
    load([str(file) if file.is_file() else name])


def _load_package(name: str) -> None:
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError(f"--with {name!r}: expected a Python file (.py) or the name of a package")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"--with {name}: {error}") from None
        raise InputError(
            f"--with {name}: no such package is installed; a Python file needs its ending .py"
        ) from None
    except (Exception, SystemExit) as error:
        raise InputError(f"--with {name}: {type(error).__name__}: {error}") from None


def _load_file(file: Path) -> None:
    try:
        # Check the file before Python reads it: a pipe would block, and a device would fill the memory.
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
        # As a script does, it finds the modules in its folder.
        sys.path.append(str(file.resolve().parent))
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        # Code that ends the process would end this command, as if it had succeeded.
        raise InputError(loading_message(error, path)) from None
