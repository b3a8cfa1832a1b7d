"""The code of a controller: where it stands, and its hash, without which no finished run is reused."""

from __future__ import annotations

import ast
import hashlib
import inspect
import secrets
from pathlib import Path


def of(cls: type) -> tuple[str | None, str]:
    """The file of a class, as the user would write it, and the hash of its code.

    Code without a file (a prompt, a notebook) cannot be known to be the same again: its hash is always new.
    """
    try:
        file = Path(inspect.getfile(cls)).resolve()
        text = file.read_bytes()
    except (TypeError, OSError):
        return None, secrets.token_hex(32)
    digest = hashlib.sha256(text)
    for helper in sorted(_helpers(file, set())):
        digest.update(f"\n{helper.relative_to(file.parent)}\n".encode() + helper.read_bytes())
    return shown(str(file)), digest.hexdigest()


def shown(file: str) -> str:
    """A path from the current folder where that is above it."""
    path = Path(file)
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file


def _helpers(file: Path, seen: set[Path]) -> set[Path]:
    """The modules beside a file that it imports, and those that they import."""
    found = set()
    for name in _imported(file):
        for helper in _files(file.parent, name):
            if helper != file and helper not in seen:
                seen.add(helper)
                found |= {helper} | _helpers(helper, seen)
    return found


def _imported(file: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            # `from package import module` may mean a module of it.
            names += [module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names)]
    return names


def _files(folder: Path, name: str) -> list[Path]:
    """What `import name` reads if it is found in this folder: the packages on the way, and the module."""
    parts = name.split(".")
    stems = [folder.joinpath(*parts[: n + 1]) for n in range(len(parts))] if name else []
    candidates = [path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py")]
    return [path for path in candidates if path.is_file()]
