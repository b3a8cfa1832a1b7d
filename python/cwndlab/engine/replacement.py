"""An extension module of the user's in the place of ours: all of cwndlab, and algorithms in Rust."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab import _native
from cwndlab.engine import catalogue, extension, origins
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

_OURS = _native.__name__
_in_use = _OURS


def use(module: ModuleType) -> None:
    """Let a module that `cwndlab_py::fill` has filled do what ours did, from now on and in the whole process.

    Its package calls this when it is imported; `--with PACKAGE` imports it. Controllers in Python that were
    registered before are there as well.
    """
    global _in_use
    name = module.__name__
    if name == _in_use:
        return
    if _in_use != _OURS:
        raise InputError(f"{name}: {_in_use} is in use already; put the algorithms of both into one crate")
    offered = [each for each in vars(_native) if not each.startswith("_")]
    missing = [each for each in offered if not hasattr(module, each)]
    if missing:
        raise InputError(f"{name}: lacks {', '.join(missing)}; build it anew with this version of cwndlab")
    shipped = {entry["name"] for entry in catalogue.read()["algorithms"]}
    for controller in origins.in_python().values():
        module.register(controller.declaration)
    for each in offered:
        setattr(_native, each, getattr(module, each))
    _native.__file__ = str(module.__file__)
    extension.extension_hash.cache_clear()
    _note_origins(module, shipped)
    _in_use = name


def _note_origins(module: ModuleType, shipped: set[str]) -> None:
    code = hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()
    package = module.__name__.partition(".")[0]
    for entry in json.loads(module.catalogue())["algorithms"]:
        if entry["name"] not in shipped:
            origins.note(entry["name"], package, lambda: code)
