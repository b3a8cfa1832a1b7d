"""What an installed package says, which has no sources, papers or scenarios beside it."""

from __future__ import annotations

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


@pytest.mark.parametrize("arguments", [("list", "papers"), ("reproduce",)], ids=" ".join)
def test_without_papers_it_says_where_they_are(folder: Path, arguments: tuple[str, ...]) -> None:
    answer = cwndlab(folder, *arguments)
    assert answer.returncode == 2
    expected = "no papers in papers; the folder papers of the source archive has them"
    assert answer.stderr.startswith(f"error: {expected}")


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
