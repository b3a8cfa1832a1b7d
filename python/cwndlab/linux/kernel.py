"""The kernels that `make linux` and `cwndlab linux --with CRATE` have built, in the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.system import checkout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The crates that are linked into the kernel, and what decides their build.
CRATES = ("learn", "cc", "sim", "lab", "linux")
PARTS = (
    *(f"crates/{crate}/{part}" for crate in CRATES for part in ("src", "Cargo.toml")),
    "crates/linux/kernel",
    "Cargo.toml",
    "Cargo.lock",
)
IMAGE = "linux"
ABOUT = "about.json"


@dataclass(frozen=True)
class Kernel:
    """A built kernel, with what `make linux` noted about it."""

    folder: Path
    about: dict[str, Any]

    @property
    def image(self) -> Path:
        """The program that is the kernel."""
        return self.folder / IMAGE

    @property
    def version(self) -> str:
        """The version of Linux."""
        return str(self.about["version"])

    @property
    def sha256(self) -> str:
        """SHA-256 of the program, in hexadecimal."""
        return str(self.about["sha256"])

    @property
    def crate(self) -> dict[str, Any] | None:
        """The note about the user's crate that is linked into it, if there is one."""
        return self.about.get("crate")


def folder() -> Path:
    """Return $CWNDLAB_LINUX, or `cwndlab/linux` in the user's cache if it is not set."""
    given = os.environ.get("CWNDLAB_LINUX")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cwndlab" / "linux"


@cache
def sources() -> str:
    """Return a hash of our part of a kernel: the crates that are linked into it, its C code and its patch."""
    root = checkout.root()
    return digest((str(path.relative_to(root)), path) for path in sorted(_files(root)))


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """Return a hash of these files and their names. One that is not there counts as empty."""
    all_of_them = hashlib.sha256()
    for name, path in files:
        all_of_them.update(f"{name}\n".encode())
        all_of_them.update(hashlib.sha256(path.read_bytes() if path.is_file() else b"").digest())
    return all_of_them.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    for part in PARTS:
        path = root / part
        yield from [path] if path.is_file() else (each for each in path.rglob("*") if each.is_file())


def built() -> list[Kernel]:
    """Return all kernels in the cache, the newest first."""
    found = [Kernel(path.parent, _about(path)) for path in (folder() / "kernels").glob(f"*/{ABOUT}")]
    return sorted(found, key=lambda kernel: str(kernel.about["built"]), reverse=True)


def _about(path: Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return about


def current() -> Kernel | None:
    """Return the newest kernel that was built from these sources alone, or None."""
    return next((each for each in of_these_sources() if each.crate is None), None)


def of_these_sources() -> list[Kernel]:
    """Return the kernels that were built from these sources, the newest first."""
    return [each for each in built() if each.about["sources"] == sources()]


def required() -> Kernel:
    """Return the newest kernel that was built from these sources. Raises `InputError` if there is none."""
    kernel = current()
    if kernel is None:
        checkout.require("--backend linux")
        reason = "is older than these sources" if built() else "has not been built"
        raise InputError(f"--backend linux: the kernel {reason}; run: make linux")
    return kernel
