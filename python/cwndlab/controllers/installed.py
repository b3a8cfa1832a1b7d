"""Finds the installed packages behind an import, with their versions."""

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
    """Return the versions of the packages that contain this module and of their requirements.

    The set is empty if no package contains it. Raises `UnknowableError` if packages were installed since this
    process started, because it may have loaded other versions.
    """
    return _unless_changed(*_behind(module))


def all_versions() -> frozenset[str]:
    """Return the versions of all installed packages. Raises `UnknowableError` as `versions` does."""
    return _unless_changed(*_everything())


def _unless_changed(found: frozenset[str], folders: frozenset[Path]) -> frozenset[str]:
    if any(changed_since_start(folder) for folder in folders):
        raise UnknowableError
    return found


@cache
def _behind(module: str) -> tuple[frozenset[str], frozenset[Path]]:
    """Return the versions, and the folders of the packages."""
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
    """Collect a package and its requirements, including those of extras, if they are installed."""
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
