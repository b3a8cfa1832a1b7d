"""The engine of new scenarios: the one that ships, or a user's after `use`."""

from __future__ import annotations

import copyreg
import importlib
from typing import TYPE_CHECKING

from cwndlab import _native
from cwndlab.engine.extension import Engine
from cwndlab.engine.origins import Registration
from cwndlab.errors import InputError

if TYPE_CHECKING:
    from types import ModuleType

SHIPPED = Engine(_native)

_in_use = SHIPPED


def in_use() -> Engine:
    """Return the engine of new scenarios and environments."""
    return _in_use


def use(module: ModuleType) -> None:
    """Make new scenarios and environments run in this module, which `cwndlab_py::fill` has filled.

    A package calls this when it is imported, as `--with PACKAGE` does. Controllers in Python that are
    already registered are registered in the module too. Raises `InputError` if another module is in use
    already, or if this one was built with another version of cwndlab.
    """
    global _in_use
    name = module.__name__
    if name == _in_use.name:
        return
    if _in_use is not SHIPPED:
        hint = "put the algorithms of both into one crate"
        raise InputError(f"{name}: {_in_use.name} is already in use; {hint}")
    missing = [each for each in vars(_native) if not each.startswith("_") and not hasattr(module, each)]
    if missing:
        raise InputError(f"{name}: lacks {', '.join(missing)}; rebuild it with this version of cwndlab")
    _in_use = _extending(module, _in_use)


def named(name: str) -> Engine:
    """Return the engine whose module has this name, and import its package if necessary.

    Raises `InputError` if the package cannot be imported, or does not put that engine into use.
    """
    for engine in (SHIPPED, _in_use):
        if engine.name == name:
            return engine
    package = name.partition(".")[0]
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise InputError(f"{package}: cannot be imported here ({error})") from None
    if _in_use.name != name:
        raise InputError(f"{package}: does not put {name} into use (cwndlab.engine.use)")
    return _in_use


def _extending(module: ModuleType, other: Engine) -> Engine:
    """Return an engine with the Python controllers of another. It registers the algorithms it adds."""
    engine = Engine(module)
    shipped = {entry["name"] for entry in other.read_catalogue()["algorithms"]}
    for name, registration in other.in_python().items():
        engine.register(name, registration)
    for entry in engine.read_catalogue()["algorithms"]:
        if entry["name"] not in shipped:
            engine.registered[entry["name"]] = Registration(engine.package, lambda: engine.sha256)
    return engine


# A copy is the engine of the same name. Another process imports its package to find it.
copyreg.pickle(Engine, lambda engine: (named, (engine.name,)))
