"""What the tests share: a scenario of short runs, and the command as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cwndlab.linux import kernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cwndlab.linux.kernel import Kernel

# A process that a script starts in its background ignores Ctrl-C, and so do its children: tests of it would
# wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

SCENARIO = """\
name = "two flows"
duration = "2 s"

[[link]]
name = "bottleneck"
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", size = "1 bdp" }
loss = 1e-3

[[flow]]
name = "a"
cc = "cubic"
path = ["bottleneck"]

[[flow]]
name = "b"
cc = "reno"
path = ["bottleneck"]
"""


def paper_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str]
) -> Path:
    """A folder of papers with one paper in it, and a cache of its own. Returns the paper's folder."""
    folder = tmp_path / "papers" / name
    (folder / "experiments").mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text)
    monkeypatch.setenv("CWNDLAB_PAPERS", str(folder.parent))
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, so that each run is new."""
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def linux_kernel() -> Kernel:
    """The kernel of the Linux backend; where it is not built, the test is skipped."""
    found = kernel.current()
    if found is None:
        pytest.skip("the kernel of the Linux backend is not built; run: make linux")
    return found


@dataclass(frozen=True)
class Command:
    """`cwndlab` run in a folder of its own, with a cache of its own."""

    folder: Path

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run to the end; standard output and error are pipes."""
        return subprocess.run(
            self.line(*arguments),
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def line(self, *arguments: str) -> list[str]:
        """The words of the command."""
        return [sys.executable, "-m", "cwndlab", *arguments]

    def environment(self, **changes: str) -> dict[str, str]:
        """The environment, free of what the tester's terminal says."""
        inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
        return inherited | {"CWNDLAB_CACHE": str(self.folder / "cache")} | changes


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario of 2 s with two flows."""
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def cwndlab(tmp_path: Path) -> Command:
    """The command."""
    return Command(tmp_path)
