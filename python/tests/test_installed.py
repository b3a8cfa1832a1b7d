"""An installed package works without the sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import ROOT

SCENARIO = """\
duration = "2 s"
[[link]]
name = "a"
rate = "10 Mbit/s"
delay = "10 ms"
[[flow]]
cc = "cubic"
path = ["a"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in a folder that looks like one of an environment."""
    place = tmp_path_factory.mktemp("installed")
    package = place / "lib" / "python3" / "site-packages" / "cwndlab"
    shutil.copytree(
        ROOT / "python" / "cwndlab", package, ignore=shutil.ignore_patterns("__pycache__", "_native*.so")
    )
    for module in (ROOT / "python" / "cwndlab").glob("_native*.so"):
        (package / module.name).symlink_to(module)
    (place / "one.toml").write_text(SCENARIO)
    return place


def cwndlab(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(folder / "lib" / "python3" / "site-packages"), *filter(None, sys.path)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path != str(ROOT / "python")),
        "CWNDLAB_LINUX": str(folder / "kernels"),
    }
    return subprocess.run(
        [sys.executable, "-m", "cwndlab", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_a_scenario(folder: Path) -> None:
    answer = cwndlab(folder, "run", "one.toml", "--seeds", "1", "--no-figure")
    assert answer.returncode == 0, answer.stderr
    assert (folder / "out" / "one" / "report.html").exists()


def test_it_has_the_papers(folder: Path) -> None:
    """`make try-wheel` runs one, which takes longer."""
    listed = json.loads(cwndlab(folder, "list", "papers", "--json").stdout)
    names = [entry["name"] for entry in listed["papers"]]
    assert "lim2004" in names
    answer = cwndlab(folder, "check", "lib/python3/site-packages/cwndlab/shipped/papers/lim2004")
    assert answer.returncode == 0, answer.stderr
    answer = cwndlab(folder, "reproduce", "nobody1999")
    assert answer.stderr.startswith(f"error: nobody1999: no such paper; expected one of {', '.join(names)}")


def test_it_has_the_example_scenarios_by_name(folder: Path) -> None:
    listed = cwndlab(folder, "list", "scenarios")
    assert "one-flow" in listed.stdout, listed.stderr
    answer = cwndlab(folder, "run", "one-flow", "--seeds", "1", "--set", "duration=2 s", "--no-figure")
    assert answer.returncode == 0, answer.stderr
    assert (folder / "out" / "one-flow" / "report.html").exists()
    shown = cwndlab(folder, "show", "one-flow").stdout
    assert shown == (ROOT / "scenarios" / "one-flow.toml").read_text()


def test_it_copies_the_examples_into_a_new_folder(folder: Path) -> None:
    path = "scenarios/one-flow.toml"
    answer = cwndlab(folder, "check", path)
    assert answer.returncode == 2
    assert "did you mean the example one-flow, without folder and ending?" in answer.stderr
    assert cwndlab(folder, "copy", "scenarios").returncode == 0
    assert cwndlab(folder, "check", path).returncode == 0
    answer = cwndlab(folder, "copy", "scenarios")
    assert answer.returncode == 2
    assert "scenarios: already exists; name another folder with --to" in answer.stderr


def test_it_says_what_of_linux_it_has(folder: Path) -> None:
    answer = cwndlab(folder, "linux")
    assert answer.returncode == 0
    assert answer.stdout.startswith(
        "a kernel for the Linux backend needs cwndlab's sources, which an installed"
    )
    for arguments in (("linux", "--with", "."), ("run", "one.toml", "--backend", "linux")):
        answer = cwndlab(folder, *arguments)
        assert answer.returncode == 2
        assert "needs cwndlab's sources, which an installed wheel does not have" in answer.stderr
