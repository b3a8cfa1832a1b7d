"""Finds the imports of a Python source, as far as they can be read from its text."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_IMPORTERS = {"__import__", "import_module"}
# Words that give access to modules without naming them in the text.
_COMPUTED = {*_IMPORTERS, "__builtins__", "__loader__", "__spec__", "builtins", "imp", "pkgutil"}
# Words that run code which need not be a module.
_LOADERS = {
    "ExtensionFileLoader",
    "SourceFileLoader",
    "SourcelessFileLoader",
    "exec_module",
    "load_module",
    "module_from_spec",
    "runpy",
    "spec_from_file_location",
    "spec_from_loader",
    "zipimport",
}
_EXECUTED = {"compile", "eval", "exec"}


@dataclass
class Imports:
    """The imports of a source.

    `names` has modules, and also attributes of modules. Any submodule of those in `whole` can be reached.
    `computed` if the source may import other modules, by names that are not in the text. `hidden` if it may
    run code that is in no module.
    """

    names: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    computed: bool = False
    hidden: bool = False


@lru_cache(maxsize=1024)
def imports(source: bytes, package: str) -> Imports:
    """Return the imports of a module in this package, including those inside functions."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return Imports(computed=True, hidden=True)
    found = Imports()
    plain: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            _import(node, found)
        elif isinstance(node, ast.ImportFrom):
            _import_from(node, package, found)
        elif isinstance(node, ast.Call):
            plain |= _call(node, package, found)
        elif isinstance(node, ast.Attribute) and _is_named(node.value, "importlib"):
            plain.add(node.value)
    for node in nodes:
        if node not in plain:
            _note_words(node, found)
    return found


def _import(node: ast.Import, found: Imports) -> None:
    for alias in node.names:
        found.names.add(alias.name)
        # `import a.b` binds `a`, and so gives access to any loaded `a.c`.
        found.whole.add(alias.name if alias.asname else alias.name.partition(".")[0])
        found.computed |= alias.name == "importlib" and alias.asname is not None


def _import_from(node: ast.ImportFrom, package: str, found: Imports) -> None:
    base = _absolute("." * node.level + (node.module or ""), package)
    if base is None:
        return
    # `from package import name` may import a submodule, and `*` any submodule.
    held = {base if alias.name == "*" else f"{base}.{alias.name}" for alias in node.names}
    found.names |= {base, *held}
    found.whole |= held
    found.computed |= any(alias.name in _COMPUTED and alias.asname is not None for alias in node.names)
    found.computed |= base == "sys" and any(alias.name == "modules" for alias in node.names)


def _call(node: ast.Call, package: str, found: Imports) -> set[ast.AST]:
    """Treat `importlib.import_module("a.b")` as an import. Returns the nodes that need no further check."""
    first = node.args[0] if node.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return set()
    if not _IMPORTERS & set(_words(node.func)):
        return set()
    name = _absolute(first.value, package)
    if name is not None:
        found.names.add(name)
        found.whole |= {name, name.partition(".")[0]}
    return {node.func}


def _note_words(node: ast.AST, found: Imports) -> None:
    words = set(_words(node))
    is_modules = isinstance(node, ast.Attribute) and node.attr == "modules" and _is_named(node.value, "sys")
    found.computed |= is_modules or _is_named(node, "importlib") or bool(words & _COMPUTED)
    found.hidden |= bool(words & _LOADERS) or (isinstance(node, ast.Name) and node.id in _EXECUTED)


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Import):
        yield from (word for alias in node.names for word in alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        # Importing `import_module` is harmless as long as nothing calls it.
        names = {*(alias.name for alias in node.names), *(node.module or "").split(".")}
        yield from names - _IMPORTERS


def _absolute(name: str, package: str) -> str | None:
    try:
        return importlib.util.resolve_name(name, package)
    except (ImportError, ValueError):
        # Beyond the top of the package: it also fails when it runs.
        return None
