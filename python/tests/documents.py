"""The documents of the project, and what in them can be run.

A fenced `sh` block is a script; a `text` block right after it is what the script prints. A `toml` block is a
scenario; if its first line is a comment with a file's name (`# office.toml`), later blocks find it under that
name. A remark on the line before a block says what is special about it:

    <!-- slow -->        too slow for the tests, which only read its commands
    <!-- linux -->       not run by the tests if the kernel of the Linux backend has not been built
    <!-- exits: 2 -->    the script is to fail so; its errors are shown
    <!-- part -->        a part of a scenario
    <!-- paper -->       a part of a paper
    <!-- wrong -->       a scenario with mistakes
    <!-- file: NAME -->  saved under this name

Scripts run in one folder for each document, with the scenarios, templates and examples of the project in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(
    r"^(?:<!-- (?P<remark>[^\n]*) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_FILE_NAME = re.compile(r"# ([\w.-]+\.toml)\n")

# The command, as the documents call it. Tests shorten what the documents run at length.
_COMMAND = """\
#!{python}
import sys
from cwndlab.cli import main
if {quick} and sys.argv[1] in ("run", "compare", "sweep"):
    if "--seeds" not in sys.argv:
        sys.argv += ["--seeds", "2"]
    at = sys.argv.index("--seeds") + 1
    sys.argv[at] = "2" if sys.argv[at].isdigit() else sys.argv[at]
    if "--sample" in sys.argv:
        sys.argv[sys.argv.index("--sample") + 1] = "16"
    sys.argv.append("--no-figure")
if {quick} and sys.argv[1] == "reproduce":
    sys.argv += ["--seeds", "2"]
main()
"""


# Writes down what it is called with, in place of running it.
_NOTE = """\
#!/bin/sh
printf '%s\\0' "$@" >> '{calls}'
echo >> '{calls}'
"""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    text: str
    remark: str
    line: int
    span: tuple[int, int]

    @property
    def is_slow(self) -> bool:
        """Whether the tests leave it out."""
        return self.remark == "slow" or "# slow" in self.text

    @property
    def needs_kernel(self) -> bool:
        """Whether it runs something on the Linux backend."""
        return self.remark == "linux"

    @property
    def is_runnable(self) -> bool:
        """Whether it calls us."""
        return self.language == "python" or (self.language == "sh" and "cwndlab " in self.text)

    @property
    def status(self) -> int:
        """The exit status that it is to have."""
        return int(self.remark.removeprefix("exits: ")) if self.remark.startswith("exits: ") else 0

    @property
    def file_name(self) -> str | None:
        """Where a reader is to save it."""
        if self.remark.startswith("file: "):
            return self.remark.removeprefix("file: ")
        match = _FILE_NAME.match(self.text)
        return match[1] if match else None


def documents() -> list[Path]:
    """Every page whose blocks are run."""
    guides = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "papers" / "README.md"]
    return [*guides, *sorted((ROOT / "docs").rglob("*.md"))]


def pages() -> list[Path]:
    """Every page for users and contributors."""
    others = [ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "papers").glob("*/README.md"))]
    return [*documents(), *others]


def blocks(content: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(
            match["language"],
            match["text"],
            match["remark"] or "",
            content.count("\n", 0, match.start("text")),
            match.span("text"),
        )
        for match in _FENCE.finditer(content)
    ]


def prepare(folder: Path, *, quick: bool) -> None:
    """Make a folder look like the project's to a reader who copies commands."""
    for shared in ("examples", "papers", "scenarios", "templates"):
        (folder / shared).symlink_to(ROOT / shared)
    command = folder / ".venv" / "bin" / "cwndlab"
    command.parent.mkdir(parents=True)
    command.write_text(_COMMAND.format(python=sys.executable, quick=quick))
    command.chmod(0o755)


def calls(block: Block, folder: Path) -> list[list[str]]:
    """Return the arguments of each call of our command in a script. The script does nothing else."""
    notes = folder / "calls"
    command = folder / ".venv" / "bin" / "cwndlab"
    command.write_text(_NOTE.format(calls=notes))
    notes.write_text("")
    subprocess.run(
        ["/bin/bash", "-c", block.text],
        cwd=folder,
        env={"PATH": str(command.parent)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return [line.split("\0")[:-1] for line in notes.read_text().splitlines()]


def execute(block: Block, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script or a program in a prepared folder; a script that is to fail shows its errors too."""
    ours = ("COLUMNS", "FORCE_COLOR", "CWNDLAB_CACHE")
    inherited = {key: value for key, value in os.environ.items() if key not in ours}
    path = os.pathsep.join(
        [str(folder / ".venv" / "bin"), str(Path(sys.executable).parent), inherited.get("PATH", "")]
    )
    line = (
        [sys.executable, "-c"] if block.language == "python" else ["bash", "-e", "-u", "-o", "pipefail", "-c"]
    )
    return subprocess.run(
        [*line, block.text],
        cwd=folder,
        env=inherited | {"PATH": path} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if block.status else subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )


def save(block: Block, folder: Path) -> None:
    """Save a block under the name that it has."""
    if block.file_name:
        (folder / block.file_name).write_text(block.text)
