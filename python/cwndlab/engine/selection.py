"""The engine that new scenarios get: the one that ships, or a user's after `use`."""

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
    """The engine that new scenarios and environments get."""
    return _in_use


def use(module: ModuleType) -> None:
    """Let scenarios and environments that are made from now on run in a module of `cwndlab_py::fill`.

    Its package calls this when it is imported; `--with PACKAGE` imports it. Controllers in Python that were
    registered before are registered in it as well.
    """
    global _in_use
    name = module.__name__
    if name == _in_use.name:
        return
    if _in_use is not SHIPPED:
        told = f"{_in_use.name} is in use already; put the algorithms of both into one crate"
        raise InputError(f"{name}: {told}")
    missing = [each for each in vars(_native) if not each.startswith("_") and not hasattr(module, each)]
    if missing:
        raise InputError(f"{name}: lacks {', '.join(missing)}; build it anew with this version of cwndlab")
    _in_use = _extending(module, _in_use)


def named(name: str) -> Engine:
    """The engine whose module has this name; its package is imported if need be."""
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
    """An engine with the controllers in Python of another; algorithms that only it has are noted."""
    engine = Engine(module)
    shipped = {entry["name"] for entry in other.read_catalogue()["algorithms"]}
    for name, registration in other.in_python().items():
        engine.register(name, registration)
    for entry in engine.read_catalogue()["algorithms"]:
        if entry["name"] not in shipped:
            engine.registered[entry["name"]] = Registration(engine.package, lambda: engine.sha256)
    return engine


# A copy is the engine of the same name: in another process, after importing its package.
copyreg.pickle(Engine, lambda engine: (named, (engine.name,)))
