"""No finished run is reused after the code of its controller has changed, however it is imported."""

from __future__ import annotations

import importlib
import itertools
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab as cl
from cwndlab.controllers import closure, installed, sources
from cwndlab.controllers.loading import load
from cwndlab.engine import in_use, selection
from cwndlab.running import execution
from cwndlab.system import process
from tests.conftest import SCENARIO, Command

_numbers = itertools.count()

CONTROLLER = """
import cwndlab as cl
{imports}

class Base:
    def __init__(self, setup):
        self.cwnd_bytes = 1448 * self.value()

    @staticmethod
    def value():
        {inside}
        return {value}

    def on_ack(self, ack): ...
    def on_event(self, event): ...

cl.controller("{name}")(Base)
"""
# What is changed: as long as before, and in the same second.
LEAF, CHANGED = "X = 2\n", "X = 8\n"


@pytest.fixture(autouse=True)
def _own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    with program_in(tmp_path):
        yield


@contextmanager
def program_in(folder: Path) -> Iterator[None]:
    """A program of the modules in this folder; the tests are no part of it."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(sources, "_loaded", set())
        patch.setattr(closure, "is_own", lambda file: Path(file).is_relative_to(folder))
        yield
    for name in set(sys.modules) - before:
        places = [getattr(sys.modules[name], "__file__", None), *getattr(sys.modules[name], "__path__", [])]
        if any(place and Path(place).is_relative_to(folder) for place in places):
            del sys.modules[name]


@pytest.fixture
def name() -> str:
    """A name for an algorithm, and part of the names of modules, that no other test has."""
    return f"code{next(_numbers)}"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def written(folder: Path, files: Mapping[str, str]) -> tuple[Path, Path]:
    """Write a controller and what it imports; gives its file and that of the leaf, whose text is left out."""
    write(folder, {file: text or LEAF for file, text in files.items()})
    return folder / "mine.py", folder / next(file for file, text in files.items() if not text)


def controller(name: str, imports: str = "", value: str = "1", inside: str = "pass") -> str:
    return CONTROLLER.format(name=name, imports=imports, value=value, inside=inside)


def loaded(file: Path, name: str) -> tuple[str, int]:
    """The hash of its code, and what it decides by."""
    load([str(file)])
    declared: Any = in_use().registered[name].declaration
    cls = declared.cls
    return code(name), cls.value()


def code(name: str) -> str:
    return in_use().origin(name).code_sha256


# Imports, expression, other files; X stands in the one that is empty.
WAYS: dict[str, tuple[str, str, dict[str, str]]] = {
    "beside it": ("from leaf import X", "X", {"leaf.py": ""}),
    "a package on its way": ("from pk import X", "X", {"pk/__init__.py": ""}),
    "the package of a module": (
        "import pk.mid",
        "pk.mid.X",
        {"pk/__init__.py": "", "pk/mid.py": "import pk\nX = pk.X"},
    ),
    "absolute within a package": (
        "from pk import deep",
        "deep.D",
        {
            "pk/__init__.py": "#",
            "pk/deep.py": "from pk import deeper\nD = deeper.X",
            "pk/deeper.py": "",
        },
    ),
    "beside it, from within a package": (
        "from pk import deep",
        "deep.D",
        {"pk/__init__.py": "#", "pk/deep.py": "import leaf\nD = leaf.X", "leaf.py": ""},
    ),
    "relative": (
        "from pk.sub import a",
        "a.D",
        {
            "pk/__init__.py": "#",
            "pk/sub/__init__.py": "#",
            "pk/sub/a.py": "from ..b import X as D",
            "pk/b.py": "",
        },
    ),
    "a package without a file": ("import pk.leaf as leaf", "leaf.X", {"pk/leaf.py": ""}),
    "all that a module has": ("from mid import *", "X", {"mid.py": "from leaf import *", "leaf.py": ""}),
    "all that a package says": (
        "from pk import *",
        "leaf.X",
        {"pk/__init__.py": "__all__ = ['leaf']", "pk/leaf.py": ""},
    ),
    "through a package, loaded by another": (
        "import pk\nimport other",
        "pk.leaf.X",
        {"pk/__init__.py": "#", "other.py": "__import__('pk.le' + 'af')", "pk/leaf.py": ""},
    ),
    "if it is there": (
        "try:\n    import leaf\nexcept ImportError:\n    leaf = None",
        "leaf.X",
        {"leaf.py": ""},
    ),
    "importlib": ("import importlib\nleaf = importlib.import_module('leaf')", "leaf.X", {"leaf.py": ""}),
    "importlib by a computed name": (
        "from importlib import import_module as get\nX = get('le' + 'af').X",
        "X",
        {"leaf.py": ""},
    ),
    "importlib in a package, relative": (
        "from pk import X",
        "X",
        {
            "pk/__init__.py": "import importlib\nX = importlib.import_module('.leaf', __name__).X",
            "pk/leaf.py": "",
        },
    ),
    "__import__": ("leaf = __import__('leaf')", "leaf.X", {"leaf.py": ""}),
    "what is loaded": (
        "import mid, sys\nX = sys.modules['le' + 'af'].X",
        "X",
        {"mid.py": "import leaf", "leaf.py": ""},
    ),
}


@pytest.mark.parametrize(("imports", "value", "files"), WAYS.values(), ids=WAYS)
def test_whatever_is_imported_counts(
    tmp_path: Path, name: str, imports: str, value: str, files: dict[str, str]
) -> None:
    mine, leaf = written(tmp_path, {"mine.py": controller(name, imports, value), **files})
    before = loaded(mine, name)
    assert before[1] == 2
    assert (code(name), loaded(mine, name)) == (before[0], before)
    leaf.write_text(CHANGED)
    after = loaded(mine, name)
    assert after[1] == 8
    assert after[0] != before[0]
    leaf.write_text(LEAF)
    assert loaded(mine, name) == before


def test_what_a_package_imports_on_demand_counts(tmp_path: Path, name: str) -> None:
    lazy = "def __getattr__(name):\n    import importlib\n    return importlib.import_module(f'pk.{name}')"
    files = {
        "mine.py": controller(name, "import pk\nX = pk.leaf.X", "X"),
        "pk/__init__.py": lazy,
        "pk/leaf.py": "",
    }
    mine, leaf = written(tmp_path, files)
    before = loaded(mine, name)
    assert (code(name), before[1]) == (before[0], 2)
    leaf.write_text(CHANGED)
    after = loaded(mine, name)
    assert after[1] == 8
    assert after[0] != before[0]


def test_what_is_not_imported_does_not_count(tmp_path: Path, name: str) -> None:
    files = {"mine.py": controller(name, "from pk import a"), "pk/__init__.py": "#", "pk/a.py": "#"}
    mine, leaf = written(tmp_path, {**files, "pk/leaf.py": "", "cwndlab_data.txt": "#"})
    before = loaded(mine, name)
    leaf.write_text(CHANGED)
    assert loaded(mine, name) == before


def test_a_folder_may_be_moved(tmp_path: Path, name: str) -> None:
    imports, value, files = WAYS["absolute within a package"]
    mine, _ = written(tmp_path / "one", {"mine.py": controller(name, imports, value), **files})
    before = loaded(mine, name)
    (tmp_path / "one").rename(tmp_path / "other")
    sys.path.remove(str(tmp_path / "one"))
    # As in another process.
    declared = replace(in_use().registered[name], loaded_by=str(tmp_path / "other" / "mine.py"))
    in_use().registered[name] = declared
    assert loaded(tmp_path / "other" / "mine.py", name) == before


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_tree_of_modules(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """What is reached counts, what is not does not."""
    folder, name = tmp_path_factory.mktemp("tree"), f"code{next(_numbers)}"
    places = ["a", "b", "pk", "pk.a", "pk.b", "pk.sub", "pk.sub.a"]
    edges = {
        each: data.draw(st.sets(st.sampled_from(places[:number]), max_size=2)) if number else set()
        for number, each in enumerate([*places, "mine"])
    }
    styles = {
        (each, other): data.draw(st.sampled_from(STYLES))
        for each, others in edges.items()
        for other in sorted(others)
    }
    lines = {
        each: "\n".join(_line(styles[each, other], each, other) for other in sorted(edges[each])) + "\n"
        for each in edges
    }
    packages = {"pk", "pk.sub"}
    files = {
        each: folder / (each.replace(".", "/") + ("/__init__.py" if each in packages else ".py"))
        for each in places
    }
    write(folder, {str(file.relative_to(folder)): lines[each] + "#1\n" for each, file in files.items()})
    write(folder, {"mine.py": controller(name, lines["mine"])})
    changed = data.draw(st.sampled_from(places))
    with program_in(folder):
        before = loaded(folder / "mine.py", name)[0]
        files[changed].write_text(lines[changed] + "#2\n")
        after = loaded(folder / "mine.py", name)[0]
    assert (after != before) == (changed in _reached(edges))


STYLES = ["import {0}", "import {0} as x", "from {1} import {2}", "def f():\n    import {0}", "relative"]


def _line(style: str, importer: str, imported: str) -> str:
    package, _, last = imported.rpartition(".")
    if style == "relative" and package and importer in ("pk", "pk.a", "pk.b") and package == "pk":
        return f"from . import {last}"
    if style == "relative" or (style.startswith("from") and not package):
        style = "import {0}"
    return style.format(imported, package, last)


def _reached(edges: Mapping[str, set[str]]) -> set[str]:
    """The modules that are imported, and the packages on the way to them."""
    found: set[str] = set()
    pending = ["mine"]
    while pending:
        for other in edges[pending.pop()]:
            parts = other.split(".")
            new = {".".join(parts[: n + 1]) for n in range(len(parts))} - found
            found |= new
            pending += new
    return found


@pytest.mark.parametrize(
    "imports",
    [
        "from pathlib import Path; exec(Path(__file__.replace('mine', 'leaf')).read_text())",
        "import runpy; X = runpy.run_path(__file__.replace('mine', 'leaf'))['X']",
        "from importlib.util import module_from_spec, spec_from_file_location as of\n"
        "spec = of('leaf', __file__.replace('mine', 'leaf'))\nleaf = module_from_spec(spec)\n"
        "spec.loader.exec_module(leaf)\nX = leaf.X",
        "import sys\nclass Made: X = 2\nsys.modules['made'] = Made\nfrom made import X",
    ],
)
def test_what_cannot_be_followed_is_never_the_same(tmp_path: Path, name: str, imports: str) -> None:
    mine, _ = written(tmp_path, {"mine.py": controller(name, imports, "X"), "leaf.py": ""})
    assert loaded(mine, name)[1] == 2
    assert code(name) != code(name)


def test_a_class_that_a_function_makes_counts_with_what_calls_it(tmp_path: Path, name: str) -> None:
    maker = "def made(value):\n" + textwrap.indent(controller(name, value="value"), "    ")
    files = {
        "maker.py": maker.replace("return value", "return value", 1),
        "leaf.py": "from maker import made\n",
    }
    write(tmp_path, files)
    mine = tmp_path / "leaf.py"
    hashes = []
    for value in (2, 8, 2):
        mine.write_text(f"from maker import made\nmade({value})\n")
        hashes.append(loaded(mine, name))
    assert hashes[0] == hashes[2]
    assert hashes[0][0] != hashes[1][0]
    assert [value for _, value in hashes] == [2, 8, 2]


def test_what_was_typed_is_never_the_same(name: str) -> None:
    exec(compile(controller(name), "<stdin>", "exec"), {"__name__": "__main__"})
    assert code(name) != code(name)


def run(name: str, seeds: int = 1) -> list[bool]:
    """Whether its runs were reused."""
    overrides = {"flow.a.cc": name, "duration": "0.2 s"}
    return [each.reused for each in cl.run(SCENARIO, seeds, overrides, record="none").runs]


@pytest.mark.parametrize("module", ["'le' + 'af'", "'leaf'"])
def test_a_module_that_a_callback_imports(tmp_path: Path, name: str, module: str) -> None:
    """By a computed name: nothing is kept, for the next process could not tell that it is needed."""
    inside = f"import importlib; X = importlib.import_module({module}).X"
    mine, leaf = written(tmp_path, {"mine.py": controller(name, "", "X", inside), "leaf.py": ""})
    reused = []
    for content in (LEAF, LEAF, CHANGED, CHANGED):
        leaf.write_text(content)
        load([str(mine)])
        reused += run(name)
    assert reused == [False, "+" not in module, False, False]


class Notebook:
    """Modules that are imported, changed and loaded anew in one process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        sys.path.append(str(folder))
        importlib.invalidate_caches()

    def module(self, file: str) -> ModuleType:
        return importlib.import_module(file)

    def change(self, file: str, text: str) -> None:
        (self._folder / f"{file}.py").write_text(text)


def test_a_notebook_that_loads_anew(tmp_path: Path, name: str) -> None:
    helper, mine = f"helper_{name}", f"mine_{name}"
    write(tmp_path, {f"{helper}.py": LEAF, f"{mine}.py": controller(name, f"from {helper} import X", "X")})
    notebook = Notebook(tmp_path)
    module = notebook.module(mine)
    first = code(name)
    notebook.change(helper, CHANGED)
    assert code(name) == first, "the old text runs"
    importlib.reload(module)
    assert (code(name), module.Base.value()) == (first, 2), "it still has the old helper"
    importlib.reload(sys.modules[helper])
    assert code(name) != code(name), "the helper is new, but what was taken from it is old"
    importlib.reload(module)
    assert module.Base.value() == 8
    assert code(name) == code(name) != first
    notebook.change(helper, "X = 1 / 0")
    with pytest.raises(ZeroDivisionError):
        importlib.reload(sys.modules[helper])
    assert code(name) != code(name), "it was loaded in part"
    notebook.change(helper, LEAF)
    for each in (sys.modules[helper], module):
        importlib.reload(each)
    assert code(name) == first


def test_a_module_that_cannot_be_imported_is_none(tmp_path: Path, name: str) -> None:
    imports = "try:\n    import leaf\nexcept ImportError:\n    leaf = None"
    mine, leaf = written(tmp_path, {"mine.py": controller(name, imports), "leaf.py": ""})
    leaf.write_text("import no_such_module")
    before = loaded(mine, name)
    assert code(name) == before[0]
    leaf.unlink()
    assert loaded(mine, name)[0] != before[0]


SCRIPT = """
import sys
import leaf
import cwndlab as cl
from cwndlab.engine import in_use
{body}
print(leaf.X, in_use().origin("{name}").code_sha256)
"""


def test_a_script_that_imports_before_cwndlab_does(tmp_path: Path, name: str, cwndlab: Command) -> None:
    """Python itself takes the old bytecode when the leaf is changed: what runs is not what is read."""
    body = controller(name, "", "leaf.X")
    write(tmp_path, {"script.py": SCRIPT.format(name=name, body=body), "leaf.py": LEAF})
    late = "open('leaf.py', 'w').write('X = 5')"
    write(tmp_path, {"late.py": SCRIPT.format(name=name, body=f"{body}\n{late}")})
    stamp = time.time() - 60

    def told(script: str) -> list[str]:
        os.utime(tmp_path / "leaf.py", (stamp, stamp))
        # A process begins at a tick of the clock.
        time.sleep(0.05)
        told = subprocess.check_output(
            [sys.executable, script],
            cwd=tmp_path,
            env=cwndlab.environment(PYTHONDONTWRITEBYTECODE=""),
            text=True,
            timeout=60,
        )
        return told.split()

    first = told("script.py")
    assert (first[0], told("script.py")) == ("2", first)
    (tmp_path / "leaf.py").write_text(CHANGED)
    old = told("script.py")
    assert old[0] == "2", "the bytecode of the old text"
    assert old[1] != first[1]
    assert told("script.py") != old
    shutil.rmtree(tmp_path / "__pycache__")
    new = told("script.py")
    assert new[0] == "8"
    assert new[1] not in (first[1], old[1])
    assert told("script.py") == new
    assert told("late.py")[1] != told("late.py")[1]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    sys.path.append(str(folder))
    monkeypatch.setattr(installed, "changed_since_start", lambda _: False)
    return folder


def install(site: Path, package: str, version: str, requires: str = "") -> None:
    """As pip does."""
    for old in site.glob(f"{package}-*.dist-info"):
        shutil.rmtree(old)
    about = f"{package}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    metadata += f"Requires-Dist: {requires}>=1; python_version > '3'\n" if requires else ""
    write(site, {f"{package}_x/__init__.py": f"V = {version[0]}"})
    write(site, {f"{about}/METADATA": metadata, f"{about}/top_level.txt": f"{package}_x"})
    installed._behind.cache_clear()
    installed._by_module.cache_clear()
    installed._everything.cache_clear()


def test_the_versions_of_installed_packages_count(tmp_path: Path, name: str, site: Path) -> None:
    mine, _ = written(tmp_path, {"mine.py": controller(name, "import direct_x"), "leaf.py": ""})
    hashes: list[str] = []
    for direct, behind in [("1", "1"), ("1", "1"), ("2", "1"), ("2", "2")]:
        install(site, "direct", direct, requires="behind")
        install(site, "behind", behind)
        install(site, "unrelated", str(len(hashes)))
        importlib.invalidate_caches()
        hashes.append(loaded(mine, name)[0])
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    mine.write_text(controller(name, "import importlib as i; i.import_module('unrelat' + 'ed_x')"))
    computed = loaded(mine, name)[0]
    assert code(name) == computed
    install(site, "unrelated", "9")
    assert code(name) != computed


def test_what_was_installed_meanwhile_cannot_be_known(
    tmp_path: Path, name: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, _ = written(tmp_path, {"mine.py": controller(name, "import direct_x"), "leaf.py": ""})
    install(site, "direct", "1")
    monkeypatch.setattr(installed, "changed_since_start", process.changed_since_start)
    load([str(mine)])
    assert code(name) != code(name)


def test_an_extension_module_counts_by_its_content(tmp_path: Path) -> None:
    module: Any = ModuleType("fast._native")
    module.__file__ = str(tmp_path / "fast.so")
    module.catalogue = lambda _: '{"algorithms": [{"name": "fast-reno"}]}'
    module.register = lambda _: None
    hashes = []
    for content in (b"1", b"2", b"1"):
        Path(module.__file__).write_bytes(content)
        engine = selection._extending(module, in_use())
        hashes.append(engine.origin("fast-reno").code_sha256)
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_simulator_that_was_rebuilt_meanwhile_is_not_reused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, _ = written(tmp_path, {"mine.py": controller(name), "leaf.py": ""})
    load([str(mine)])
    assert (run(name), run(name)) == ([False], [True])
    monkeypatch.setattr(execution, "changed_since_start", lambda _: True)
    assert run(name, 2) == [False, False]
    monkeypatch.undo()


def test_files_that_have_changed_since_the_start(tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.touch()
    os.utime(new, (0, 0))
    assert process.changed_since_start(new)
    assert process.changed_since_start(tmp_path / "missing")
    assert not process.changed_since_start(Path(process.__file__))


def test_bytecode_is_neither_read_nor_written(tmp_path: Path, name: str) -> None:
    mine, _ = written(tmp_path, {"mine.py": controller(name, "import leaf"), "leaf.py": ""})
    load([str(mine)])
    assert isinstance(sys.modules["leaf"].__loader__, sources.SourceLoader)
    assert not list(tmp_path.rglob("*.pyc"))


RELOADED = """
import sys
from pathlib import Path
from cwndlab.controllers.loading import load

file = Path(sys.argv[1])
code = '''
import cwndlab

@cwndlab.controller("loaded-twice")
class Mine:
    def __init__(self, setup):
        self.cwnd_bytes = {} * setup.mss_bytes
    def on_ack(self, ack): ...
    def on_event(self, event): ...
'''
for segments in (10, 11):
    file.write_text(code.format(segments))
    load([str(file)])
    first = first if segments == 11 else sys.modules["cwndlab.controllers.declaration"]
print(sys.modules["cwndlab.controllers.declaration"] is first)
"""


def test_a_changed_controller_does_not_reload_cwndlab(tmp_path: Path) -> None:
    """The first controller of a process imports parts of cwndlab, not installed in a clone."""
    command = [sys.executable, "-c", RELOADED, str(tmp_path / "mine.py")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.stdout == "True\n", answer.stderr
