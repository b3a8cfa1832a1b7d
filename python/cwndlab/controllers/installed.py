"""Which installed packages, in which versions, stand behind an import."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from cwndlab.controllers.places import UnknowableError
from cwndlab.system.process import changed_since_start

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def versions(module: str) -> frozenset[str]:
    """Of the packages that install this module, and of all that these require; none if it is of no package.

    Raises `UnknowableError` if packages were installed while this process ran: it may have loaded others.
    """
    return _unless_changed(*_behind(module))


def all_versions() -> frozenset[str]:
    """Of all packages that are installed; raises `UnknowableError` as `versions` does."""
    return _unless_changed(*_everything())


def _unless_changed(found: frozenset[str], folders: frozenset[Path]) -> frozenset[str]:
    if any(changed_since_start(folder) for folder in folders):
        raise UnknowableError
    return found


@cache
def _behind(module: str) -> tuple[frozenset[str], frozenset[Path]]:
    """The versions, and the folders that they are installed in."""
    found: dict[str, metadata.Distribution] = {}
    for package in _by_module().get(module, []):
        _collect(package, found)
    return _described(found)


@cache
def _everything() -> tuple[frozenset[str], frozenset[Path]]:
    return _described({package.name: package for package in metadata.distributions()})


def _described(found: Mapping[str, metadata.Distribution]) -> tuple[frozenset[str], frozenset[Path]]:
    folders = frozenset(Path(str(package.locate_file(""))) for package in found.values())
    return frozenset(f"{name} {package.version}" for name, package in found.items()), folders


@cache
def _by_module() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _collect(spelt: str, found: dict[str, metadata.Distribution]) -> None:
    """A package and all that it requires; an extra that is there may be used as well."""
    name = re.sub(r"[-_.]+", "-", spelt).lower()
    if name in found:
        return
    try:
        package = found[name] = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    for requirement in package.requires or []:
        required = _NAME.match(requirement)
        if required:
            _collect(required.group(), found)
