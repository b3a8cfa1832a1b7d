"""A user's own crate that is linked into a kernel: `cwndlab linux --with CRATE`."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.errors import InputError
from cwndlab.linux import kernel
from cwndlab.system import checkout, writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The crate of the generated project; Cargo names files after it.
PROJECT = "cwndlab_linux_with"
# What Rust code can depend on.
LINKABLE = {"lib", "rlib"}
CODE = """\
//! The Rust part of a kernel, with what a user's crate adds.

extern crate cwndlab_linux;

#[unsafe(no_mangle)]
fn cwndlab_extension() -> cwndlab_lab::Extension {
    extension::extension()
}
"""


@dataclass(frozen=True)
class Crate:
    """A crate with algorithms or queues, in this folder."""

    folder: Path

    @classmethod
    def at(cls, given: str) -> Crate:
        """Return the crate in a folder. Raises `InputError` if it cannot be linked into a kernel."""
        folder = Path(given).resolve()
        if not (folder / "Cargo.toml").is_file():
            raise InputError(
                f"--with {given}: expected the folder of a crate (with Cargo.toml), found none there"
            )
        crate = cls(folder)
        crate._check()
        return crate

    @cached_property
    def _package(self) -> dict[str, Any]:
        command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"]
        answer = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise InputError(f"{self._manifest}: {answer.stderr.strip()}")
        manifest = str(self._manifest)
        for package in json.loads(answer.stdout)["packages"]:
            if package["manifest_path"] == manifest:
                found: dict[str, Any] = package
                return found
        raise InputError(f"{manifest}: expected a package, found a workspace without one")

    @property
    def _manifest(self) -> Path:
        return self.folder / "Cargo.toml"

    def _check(self) -> None:
        kinds = {kind for target in self._package["targets"] for kind in target["crate_types"]}
        if not kinds & LINKABLE:
            found = ", ".join(sorted(kinds)) or "no library"
            raise InputError(
                f'{self._manifest}: lib.crate-type: expected "rlib" besides "cdylib", found {found}'
            )
        crates = checkout.root() / "crates"
        for dependency in self._package["dependencies"]:
            name, path = dependency["name"], dependency.get("path")
            if name.startswith("cwndlab-") and (path is None or Path(path).resolve().parent != crates):
                place = path or "a registry"
                raise InputError(f"{self._manifest}: {name}: expected one of {crates}, found {place}")

    @cached_property
    def module(self) -> str:
        """The name of its extension module for Python, as maturin knows it."""
        project = self.folder / "pyproject.toml"
        settings: dict[str, Any] = {}
        if project.is_file():
            settings = tomllib.loads(project.read_text(encoding="utf-8")).get("tool", {}).get("maturin", {})
        library = next(t["name"] for t in self._package["targets"] if LINKABLE & set(t["crate_types"]))
        return str(settings.get("module-name", library))

    @property
    def project(self) -> Path:
        """The folder of the project that links it with our crates."""
        return kernel.folder() / "with" / hashlib.sha256(str(self.folder).encode()).hexdigest()[:16]

    def project_files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files of that project by their names."""
        yield from ((name, self.project / name) for name in ("Cargo.toml", "Cargo.lock", "lib.rs"))

    def write_project(self) -> None:
        """Write the project, or write it again."""
        self.project.mkdir(parents=True, exist_ok=True)
        crates = checkout.root() / "crates"
        dependencies: dict[str, dict[str, Any]] = {
            "cwndlab-lab": {"path": str(crates / "lab")},
            "cwndlab-linux": {"path": str(crates / "linux"), "features": ["extended"]},
            "extension": {"package": self._package["name"], "path": str(self.folder)},
        }
        lines = ["[workspace]", "", "[package]", f'name = "{PROJECT}"', 'edition = "2024"', ""]
        lines += ["[lib]", 'path = "lib.rs"', 'crate-type = ["staticlib"]', "", "[dependencies]"]
        lines += [f"{name} = {{ {_inline(each)} }}" for name, each in dependencies.items()]
        ours = tomllib.loads((checkout.root() / "Cargo.toml").read_text(encoding="utf-8"))
        for name in ("release", "linux"):
            lines += ["", f"[profile.{name}]"]
            # Settings for single packages concern what only the extension module links.
            settings = {k: v for k, v in ours["profile"][name].items() if k != "package"}
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        _write_if_new(self.project / "Cargo.toml", "\n".join([*lines, ""]))
        _write_if_new(self.project / "lib.rs", CODE)
        self._lock()

    def _lock(self) -> None:
        """Begin with the versions of dependencies that the crate was tried with, or else with ours."""
        workspaces = (self.folder, *self.folder.parents, checkout.root())
        lock = next(each / "Cargo.lock" for each in workspaces if (each / "Cargo.lock").is_file())
        shutil.copy(lock, self.project / "Cargo.lock")

    def files(self, target: Path) -> list[Path]:
        """Return the files of the user that were compiled, as Cargo has noted them, and the manifests."""
        noted = (target / f"lib{PROJECT}.d").read_text(encoding="utf-8").partition(": ")[2]
        compiled = [Path(each.replace("\\ ", " ")) for each in re.split(r"(?<!\\)\s+", noted.strip())]
        ours = (checkout.root() / "crates", self.project)
        users = [each for each in compiled if not any(each.is_relative_to(room) for room in ours)]
        return sorted({*users, self._manifest})

    def about(self, files: Sequence[Path]) -> dict[str, Any]:
        """Return what a kernel notes about it."""
        return {
            "module": self.module,
            "folder": str(self.folder),
            "files": [str(each) for each in files],
            "sources": kernel.digest((str(each), each) for each in files),
        }


def _write_if_new(path: Path, text: str) -> None:
    """Write a file unless it is as it should be: Cargo compiles again what is younger than its last build."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        writing.write_text(path, text)


def _inline(table: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())


def plain(output: str) -> str:
    """Return what a compiler says from its first error on."""
    lines = output.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith("error")), 0)
    return "\n".join(lines[first:])
