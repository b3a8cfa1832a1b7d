"""Loading the files that `--with` names."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers.declaration import registered
from cwndlab.controllers.faults import told_of_module
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def load(files: Iterable[Path]) -> None:
    """Run each file as a module, for the controllers that it registers."""
    for file in files:
        _load(file)


def _load(file: Path) -> None:
    if not file.is_file():
        raise InputError(f"--with {file}: no such file; expected a Python file (.py)")
    path = str(file.resolve())
    # A file may have the name of a module of Python's own (`random.py`): ours must not stand in its place.
    name = f"cwndlab_with_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"--with {file}: not a Python file; its name ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.resolve().parent) not in sys.path:
        # As for a script: it finds the modules beside it.
        sys.path.append(str(file.resolve().parent))
    before = dict(registered())
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(told_of_module(error, path)) from None
    if dict(registered()) == before:
        raise InputError(
            f'--with {file}: registers no controller; put @cwndlab.controller("NAME") over its class'
        )
