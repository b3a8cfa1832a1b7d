"""Controllers of one's own on the command line: `--with FILE.py`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.documents import ROOT

MINE = """\
import cwndlab as cl
from helper import KEPT

@cl.controller("mine")
class Mine:
    "Half of the window."
    gain = cl.parameter(1.0, low=0, high=10)

    def __init__(self, setup):
        self.cwnd_bytes = setup.initial_window_bytes

    def on_ack(self, ack):
        self.cwnd_bytes += self.gain * ack.mss_bytes * ack.acked_bytes / self.cwnd_bytes

    def on_event(self, event):
        self.cwnd_bytes = max(KEPT * self.cwnd_bytes, 2 * event.mss_bytes)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A controller that needs a module beside it, and that modules of a package."""
    (tmp_path / "helper.py").write_text("from pk import deep\nKEPT = deep.KEPT\n")
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "deep.py").write_text("from pk import deeper\nKEPT = deeper.KEPT\n")
    (tmp_path / "pk" / "deeper.py").write_text("KEPT = 0.5\n")
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def made(answer: subprocess.CompletedProcess[str]) -> str:
    """What it says of new runs and reused."""
    assert answer.returncode == 0, answer.stderr
    return answer.stderr.split(", in ")[0].splitlines()[-1]


WITH = ("--with", "mine.py")
QUICK = ("--seeds", "2", "--no-figure")


@pytest.mark.usefixtures("mine")
def test_it_is_listed_shown_and_checked(cwndlab: Command, scenario: Path) -> None:
    assert re.search(
        r"^ +mine +Half of the window", cwndlab("list", "algorithms", *WITH).stdout, re.MULTILINE
    )
    assert "a number from 0 to 10" in cwndlab("show", "mine", *WITH).stdout
    setting = ("--set", "flow.a.cc={ name = 'mine', gain = 11 }")
    wrong = cwndlab("check", scenario.name, *WITH, *setting)
    assert (wrong.returncode, "expected a number from 0 to 10" in wrong.stderr) == (2, True)
    unknown = cwndlab("check", scenario.name, "--set", "flow.a.cc=mine")
    assert (unknown.returncode, "unknown algorithm `mine`" in unknown.stderr) == (2, True)


@pytest.mark.usefixtures("mine")
def test_a_report_tells_the_command_that_makes_it_again(cwndlab: Command, scenario: Path) -> None:
    compared = ("compare", scenario.name, "--cc", "reno,mine", *WITH, *QUICK)
    assert made(cwndlab(*compared, "--out", "out")) == "4 new runs, 0 reused"
    assert (
        "cwndlab compare two.toml --cc reno,mine --with mine.py"
        in (cwndlab.folder / "out/report.html").read_text()
    )
    swept = cwndlab("sweep", scenario.name, "--over", "flow.*.cc=reno,mine", *WITH, *QUICK, "--json")
    assert made(swept) == "0 new runs, 4 reused"
    document = json.loads(
        cwndlab("run", scenario.name, *WITH, "--set", "flow.a.cc=mine", *QUICK, "--json").stdout
    )
    assert set(document["manifest"]["controllers_sha256"]) == {"mine"}


def test_changed_code_is_run_anew(cwndlab: Command, scenario: Path, mine: Path) -> None:
    run = ("run", scenario.name, *WITH, "--set", "flow.a.cc=mine", *QUICK)
    assert made(cwndlab(*run)) == "2 new runs, 0 reused"
    assert made(cwndlab(*run)) == "0 new runs, 2 reused"
    mine.write_text(MINE.replace("2 * event", "4 * event"))
    assert made(cwndlab(*run)) == "2 new runs, 0 reused"
    # As long as before, and maybe in the same second: Python would take the old bytecode.
    (mine.parent / "pk" / "deeper.py").write_text("KEPT = 0.6\n")
    assert made(cwndlab(*run, PYTHONDONTWRITEBYTECODE="")) == "2 new runs, 0 reused"
    (mine.parent / "unrelated.py").write_text("")
    assert made(cwndlab(*run)) == "0 new runs, 2 reused"


def test_an_exception_is_told_with_its_line_and_no_traceback(
    cwndlab: Command, scenario: Path, mine: Path
) -> None:
    mine.write_text(MINE.replace("KEPT * self", "KEEP * self"))
    answer = cwndlab(
        "run", scenario.name, *WITH, "--set", "flow.a.cc=mine", "--set", "link.0.loss=0.1", *QUICK
    )
    assert answer.returncode == 1
    [told] = [line for line in answer.stderr.splitlines() if "error:" in line]
    assert "mine.py:16: mine.on_event: NameError: name 'KEEP' is not defined" in told
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "mine.py: no such file"),
        ("x = 1\n", "registers no algorithm"),
        ("class X:\n    def f(:\n", "mine.py:2: SyntaxError"),
        ("import cwndlab\n\n1 / 0\n", "mine.py:3: ZeroDivisionError"),
        # It must not end the command, with the status of a success.
        ("import sys\nsys.exit(0)\n", "mine.py:2: SystemExit: 0"),
        ("from cwndlab import controller\ncontroller('reno')(int)\n", "mine.py:2: controller 'reno': "),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    cwndlab: Command, scenario: Path, content: str | None, complaint: str
) -> None:
    if content is not None:
        (cwndlab.folder / "mine.py").write_text(content)
    answer = cwndlab("run", scenario.name, *WITH)
    assert (answer.returncode, complaint in answer.stderr) == (2, True), answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("name", [".", "two.toml", "..", "a b", "missing", "missing.deep"])
def test_a_name_that_is_no_file_and_no_package_is_refused(
    cwndlab: Command, scenario: Path, name: str
) -> None:
    answer = cwndlab("run", scenario.name, "--with", name)
    assert answer.returncode == 2
    assert re.match(
        r"error: --with .*(expected a Python file \(.py\)|no such package is installed)", answer.stderr
    )


def test_two_classes_of_a_file_with_one_name_are_refused(
    cwndlab: Command, scenario: Path, mine: Path
) -> None:
    mine.write_text(MINE + MINE.replace("class Mine", "class Other"))
    answer = cwndlab("run", scenario.name, *WITH)
    assert answer.returncode == 2
    message = "error: mine.py:20: controller 'mine': class Mine of this file has already registered this name"
    assert answer.stderr.startswith(message)
    # The same file may be loaded again.
    mine.write_text(MINE)
    assert cwndlab("check", scenario.name, *WITH, *WITH).returncode == 0


@pytest.mark.usefixtures("mine")
def test_a_package_that_ends_the_process_is_refused(cwndlab: Command) -> None:
    (cwndlab.folder / "pk" / "__init__.py").write_text("import sys\nsys.exit('done')\n")
    answer = cwndlab("list", "--with", "pk", PYTHONPATH=".")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "error: --with pk: SystemExit: done\n"


@pytest.mark.parametrize("backend", ["sim", "linux"])
def test_what_a_controller_prints_is_no_part_of_the_document(
    cwndlab: Command, scenario: Path, mine: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    if backend == "linux":
        request.getfixturevalue("linux_kernel")
    mine.write_text(
        MINE.replace("    def on_event", "        print('seen')\n\n    def on_event") + "print('read')\n"
    )
    line = ("run", scenario.name, *WITH, "--set", "flow.a.cc=mine", *QUICK, "--backend", backend)
    answer = cwndlab(*line, "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["seeds"] == [1, 2]
    assert {"read", "seen"} <= set(answer.stderr.splitlines())
    listed = cwndlab("list", "algorithms", *WITH, "--json")
    assert "mine" in {each["name"] for each in json.loads(listed.stdout)["algorithms"]}
    assert listed.stderr == "read\n"


def test_ctrl_c_ends_an_endless_loop(cwndlab: Command, scenario: Path, mine: Path) -> None:
    loop = "        while ack.now_s > 1:\n            open('looping', 'w').close()\n"
    mine.write_text(MINE.replace("\n    def on_event", f"{loop}\n    def on_event"))
    line = cwndlab.line("run", scenario.name, *WITH, "--set", "flow.a.cc=mine", *QUICK)
    running = subprocess.Popen(
        line, cwd=cwndlab.folder, env=cwndlab.environment(), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (cwndlab.folder / "looping").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted: 0 of 2 runs finished" in errors


def test_the_template_works(cwndlab: Command) -> None:
    """As the page on the first algorithm says."""
    (cwndlab.folder / "my_algorithm.py").write_text((ROOT / "templates/python_controller.py").read_text())
    compared = ("--cc", "reno,my-aimd,{ name = 'my-aimd', gain = 2 }", "--with", "my_algorithm.py")
    answer = cwndlab("compare", str(ROOT / "scenarios/two-flows.toml"), *compared, *QUICK, "--json")
    assert answer.returncode == 0, answer.stderr
    variants = json.loads(answer.stdout)["variants"]
    assert all(variant["total"]["goodput_mbps"]["mean"] > 80 for variant in variants)
