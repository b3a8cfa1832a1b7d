"""The order of the rooms: every import goes to the same room or to one below, and none in a circle."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cwndlab as cl

if TYPE_CHECKING:
    from collections.abc import Iterator

# From the ground up. A room is a package with all in it, or one module; a room inside another is a room of
# its own. `cwndlab` is the package itself: the names that `import cwndlab` gives.
ROOMS = (
    "_native",
    "errors",
    "system",
    "statistics",
    "engine",
    "traces",
    "linux",
    "controllers",
    "scenarios",
    "results",
    "running",
    "beside",
    "output.charts",
    "output.drawing",
    "output.tables",
    "output.answers",
    "output.figures",
    "output.html",
    "output.report",
    "output.kinds",
    "output",
    "papers.language",
    "papers.contents",
    "papers.reading",
    "papers.judging",
    "papers.explaining",
    "papers.reproducing",
    "papers.figures",
    "papers.table",
    "papers.report",
    "papers",
    "learning",
    "gym",
    "api",
    "cwndlab",
    "benchmark",
    "commands",
    "cli",
    "__main__",
)

PACKAGE = Path(cl.__file__).parent
ARCHITECTURE = PACKAGE.parents[1] / "ARCHITECTURE.md"
TITLE = "## The rooms of python/cwndlab"


def name_of(path: Path) -> str:
    """The name of a module, without that of the package before it."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix("__init__").removesuffix(".") or PACKAGE.name


MODULES = {name_of(path): path for kind in ("py", "pyi") for path in sorted(PACKAGE.rglob(f"*.{kind}"))}


def room(module: str) -> str | None:
    """The innermost room that the module is in."""
    return max((each for each in ROOMS if f"{module}.".startswith(f"{each}.")), key=len, default=None)


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The modules of ours that a module imports anywhere, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield node.lineno, each.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield node.lineno, inner if _ours(inner) in MODULES else str(node.module)


def _ours(name: str) -> str | None:
    """The name without that of the package, if it is in the package."""
    first, _, inside = name.partition(".")
    return (inside or PACKAGE.name) if first == PACKAGE.name else None


IMPORTS = {
    name: [
        (line, found)
        for line, full in imported(ast.parse(path.read_text()))
        if (found := _ours(full)) is not None
    ]
    for name, path in MODULES.items()
}


def test_every_module_is_in_a_room() -> None:
    assert [name for name in MODULES if room(name) is None] == []
    assert [each for each in ROOMS if each not in MODULES] == []


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_to_the_same_room_or_below(module: str) -> None:
    own = str(room(module))
    upwards = [
        f"{MODULES[module].relative_to(PACKAGE)}:{line}: {own} is below {room(found)}, and imports {found}"
        for line, found in IMPORTS[module]
        if ROOMS.index(str(room(found))) > ROOMS.index(own)
    ]
    assert upwards == []


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: {found for _, found in imports} for name, imports in IMPORTS.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) not in ("_native", "engine")])
def test_only_the_engine_imports_the_extension_module(module: str) -> None:
    """Everyone else is given an engine, and may name the types of the extension module."""
    tree = ast.parse(MODULES[module].read_text())
    for node in ast.walk(tree):
        for name, inner in ast.iter_fields(node):
            if isinstance(inner, list):
                setattr(node, name, [each for each in inner if not is_for_types_only(each)])
    found = [f"{MODULES[module].name}:{line}" for line, full in imported(tree) if _ours(full) == "_native"]
    assert found == []


def test_the_architecture_lists_the_rooms_in_this_order() -> None:
    section = ARCHITECTURE.read_text().partition(f"{TITLE}\n")[2].partition("\n## ")[0]
    rows = (line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    listed = [name.rstrip("/").replace("/", ".") for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert listed == list(ROOMS)
