"""A Rust controller in a crate of its own: the template, built as a user builds it but unoptimised."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

import cwndlab as cl
from cwndlab import engine
from cwndlab.engine import selection
from cwndlab.linux import kernel
from cwndlab.linux.kernel import Kernel
from tests.conftest import Command
from tests.documents import ROOT

TEMPLATE = ROOT / "templates" / "rust-controller"
QUICK = ("--seeds", "2", "--no-figure")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package `gentle` is."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    # The profile of the tests: what `cargo test` has built is used again.
    build = ["cargo", "build", "--profile", "test", "--locked", "--features", "extension-module"]
    build += ["--package", "gentle", "--message-format", "json"]
    answer = subprocess.run(build, cwd=TEMPLATE, capture_output=True, text=True, timeout=900, check=False)
    assert answer.returncode == 0, answer.stderr
    built = [json.loads(line) for line in answer.stdout.splitlines()]
    [library] = [
        each["filenames"][0]
        for each in built
        if each["reason"] == "compiler-artifact" and each["manifest_path"] == str(TEMPLATE / "Cargo.toml")
    ]
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(TEMPLATE / "python" / "gentle", folder / "gentle")
    shutil.copy(library, folder / "gentle" / "_native.abi3.so")
    return folder


def test_it_is_used_like_any_algorithm(cwndlab: Command, scenario: Path, package: Path) -> None:
    path = {"PYTHONPATH": str(package)}
    listed = cwndlab("list", "algorithms", "--with", "gentle", **path)
    line = r"^ +gentle +Reno that keeps 0\.8 of its window on a loss$"
    assert re.search(line, listed.stdout, re.MULTILINE), listed.stderr
    compared = (
        "compare",
        scenario.name,
        "--cc",
        "reno,gentle,{ name = 'gentle', keep = 0.5 }",
        "--with",
        "gentle",
    )
    answer = cwndlab(*compared, *QUICK, "--json", "--out", "out", **path)
    assert "6 new runs, 0 reused" in answer.stderr
    reno, gentle, half = json.loads(answer.stdout)["variants"]
    # With half of the window it is Reno.
    assert half["total"] == reno["total"] != gentle["total"]
    assert "--with gentle" in (cwndlab.folder / "out" / "report.html").read_text()
    assert "0 new runs, 6 reused" in cwndlab(*compared, *QUICK, **path).stderr


def test_it_drives_linux(cwndlab: Command, scenario: Path, package: Path, linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    compared = ("compare", scenario.name, "--cc", "reno,gentle,{ name = 'gentle', keep = 0.5 }")
    path = {"PYTHONPATH": str(package), "CWNDLAB_LINUX": str(kernel.folder())}
    options = ("--with", "gentle", "--backend", "linux", *QUICK, "--json")
    answer = cwndlab(*compared, *options, **path)
    assert answer.returncode == 0, answer.stderr
    reno, gentle, half = json.loads(answer.stdout)["variants"]
    assert half["total"] == reno["total"] != gentle["total"]


def test_controllers_in_python_stand_beside_it(cwndlab: Command, scenario: Path, package: Path) -> None:
    template = str(ROOT / "templates" / "python_controller.py")
    both = ("--set", "flow.a.cc=gentle", "--set", "flow.b.cc=my-aimd")
    for order in (("--with", "gentle", "--with", template), ("--with", template, "--with", "gentle")):
        answer = cwndlab("run", scenario.name, *both, *order, *QUICK, PYTHONPATH=str(package))
        assert answer.returncode == 0, answer.stderr


def test_a_package_that_is_not_there_is_told(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("run", scenario.name, "--with", "gentel")
    assert (answer.returncode, "no such package is installed" in answer.stderr) == (2, True)


def test_a_module_of_another_version_is_refused() -> None:
    with pytest.raises(cl.InputError, match=r"gentle\._native: lacks .*run_seed.*; rebuild it"):
        engine.use(ModuleType("gentle._native"))


def test_one_module_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_in_use", engine.Engine(ModuleType("first._native")))
    with pytest.raises(cl.InputError, match=r"first\._native is already in use; put the algorithms"):
        engine.use(ModuleType("second._native"))
