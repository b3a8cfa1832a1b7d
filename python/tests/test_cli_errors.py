"""Wrong input: one clear message, exit status 2, nothing on standard output, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cwndlab import _native
from cwndlab.cli import app
from cwndlab.system import shipped
from tests.conftest import Command


def assert_refused(answer: subprocess.CompletedProcess[str], message: str) -> None:
    assert answer.returncode == 2, answer
    assert answer.stdout == ""
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["run", "check"])
def test_unusable_files(cwndlab: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    assert_refused(cwndlab(command, "missing.toml"), "missing.toml: no such file")
    assert_refused(cwndlab(command, "."), "found a directory")
    assert_refused(cwndlab(command, "empty.toml"), "found an empty file")
    assert_refused(cwndlab(command, "binary.toml"), "found a binary file")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "nonsense"], "expected key=value"),
        (["--seeds", "many"], "expected a number"),
        (["--seeds", "0"], "expected 1 to"),
        (["--threads", "0"], "--threads"),
        (["--threads", "x"], "--threads"),
        (["--threads", "99999999999999999999"], "--threads"),
        (["--nonsense"], "--nonsense"),
        (["--out", "two.toml"], "cannot be written"),
    ],
)
def test_bad_options(cwndlab: Command, scenario: Path, arguments: list[str], message: str) -> None:
    assert_refused(cwndlab("run", scenario.name, *arguments), message)


@pytest.mark.parametrize("command", ["run", "check"])
def test_every_mistake_is_told_with_its_line(cwndlab: Command, scenario: Path, command: str) -> None:
    text = scenario.read_text().replace('cc = "cubic"', 'cc = "cubik"').replace("10 ms", "10 parsecs")
    scenario.write_text(text)
    answer = cwndlab(command, scenario.name)
    algorithm, delay = (text[: text.index(word)].count("\n") + 1 for word in ("cubik", "parsecs"))
    assert_refused(answer, f"two.toml:{algorithm}:")
    assert f"two.toml:{delay}:" in answer.stderr
    assert "error:" in answer.stderr
    assert "cubic" in answer.stderr
    assert "^" in answer.stderr


def test_a_mistake_in_an_override(cwndlab: Command, scenario: Path) -> None:
    assert_refused(cwndlab("check", scenario.name, "--set", "flow.0.cc=cubik"), "--set flow.0.cc: error:")
    assert_refused(cwndlab("run", scenario.name, "--json", "--set", "flow.9.cc=cubic"), "flow.9")


def test_a_failed_run_names_its_seed(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_seed(*_: object) -> None:
        raise RuntimeError("no packet arrived")

    monkeypatch.setattr(_native, "run_seed", run_seed)
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, ["run", str(scenario), "--seeds", "8-8"])
    assert answer.exit_code == 1
    assert answer.stderr == "error: seed 8: no packet arrived\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["sweep", "two.toml", "--over", "cc=cubic,reno"],
            "--over cc: error: unknown key `cc`; did you mean `flow.*.cc`? Allowed: ",
        ),
        (
            ["sweep", "two.toml", "--over", "flow.*.cc=cubic,renno"],
            "--over flow.*.cc: error: unknown algorithm `renno`; did you mean `reno`?",
        ),
        (
            ["check", "two.toml", "--set", "link.bottleneck.buffer=1 bdp"],
            "--set link.bottleneck.buffer: error: unknown key `buffer`; did you mean `queue`? Allowed: ",
        ),
        (
            ["check", "two.toml", "--set", "link.bottleneck.rtt=20 ms"],
            "unknown key `rtt`; did you mean `delay` (one way: half of the round trip)? Allowed: ",
        ),
        (
            ["check", "example.toml"],
            "error: example.toml: no such file; did you mean scenarios/example.toml?",
        ),
        (["check", "example"], "error: example: no such file; did you mean scenarios/example.toml?"),
        (["check", "two"], "error: two: no such file; did you mean two.toml?"),
        (["run", "two-flow"], "error: two-flow: no such file; did you mean the example two-flows?"),
        (["check", "some/tow-flows.toml"], "no such file; did you mean the example two-flows?"),
        (["show", "two-flow"], "nothing is called 'two-flow'; did you mean two-flows?"),
        (
            ["check", "traces/my.trace"],
            "my.trace: error: this is a trace, not a scenario; a scenario names a trace in a [[link]], by "
            'its path from the scenario\'s folder: trace = "traces/my.trace"',
        ),
        (
            ["check", "scenarios/example.toml", "--set", "link.0.trace=none"],
            "there is no file `none`, neither in the current folder nor in `scenarios`",
        ),
        (
            ["show", "cubic", "--delays"],
            "cubic: expected a trace with --delays, --window or --plot, found the algorithm of this name",
        ),
        (["show", "tcp", "--window", "1 s"], "or --plot, found the options of this name"),
        (["show", "bbr"], "nothing is called 'bbr'; did you mean bbr1, bbr2 or bbr3?"),
        (
            ["check", "two.toml", "--set", "flow.0.cc=bbr"],
            "unknown algorithm `bbr`; did you mean `bbr1`, `bbr2` or `bbr3`? Allowed: ",
        ),
        (
            ["compare", "two.toml", "--cc", "bbr,cubic"],
            "--cc bbr: error: unknown algorithm `bbr`; did you mean `bbr1`, `bbr2` or `bbr3`? Allowed: ",
        ),
        (
            ["compare", "two.toml", "--cc", "cubic,reno", "--flow", ""],
            "--flow : no such flow; expected one of: a, b",
        ),
        (["compare", "two.toml", "--cc", "reno,{C=1}"], "--cc {C=1}: error: name: this key is missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_one_mistake_is_told_once_with_what_was_meant(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "example.toml").write_bytes(scenario.read_bytes())
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "my.trace").write_text("".join(f"{ms}\n" for ms in range(3000)))
    answer = CliRunner().invoke(app, arguments)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_paper_has_its_own_backends(cwndlab: Command) -> None:
    paper = str(shipped.folder(shipped.Shipped.PAPERS) / "lim2004")
    for option in (("--backend", "linux"), ("--set", "duration=1 s")):
        message = "--set, --with and --backend work with scenarios only, not with a paper"
        assert_refused(cwndlab("check", paper, *option), message)


def test_many_mistakes_are_counted(cwndlab: Command) -> None:
    (cwndlab.folder / "many.toml").write_text("".join(f"k{n} = 1\n" for n in range(3000)))
    answer = cwndlab("check", "many.toml")
    assert_refused(answer, "many.toml: error: and 2983 more errors")
    # A message, its line and a mark below it.
    assert len(answer.stderr.splitlines()) == 3 * 20 + 1


def test_no_command_shows_help(cwndlab: Command) -> None:
    answer = cwndlab()
    assert answer.returncode == 2
    assert "Usage" in answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "two.toml", "--record", "some"], "--record: expected one of first, all, none, found some"),
        (
            ["run", "two.toml", "--threads", "0"],
            "--threads: expected a whole number from 1 to 10000, found 0",
        ),
        (
            ["run", "two.toml", "--threads", "x"],
            "--threads: expected a whole number from 1 to 10000, found x",
        ),
        (["sweep", "two.toml", "--sample", "x"], "--sample: expected a whole number, found x"),
        (["bench", "--repeats", "0"], "--repeats: expected a whole number from 1 on, found 0"),
        (["serve", "--port", "99999"], "--port: expected a whole number from 0 to 65535, found 99999"),
        (["table", "x", "--format", "html"], "--format: expected one of latex, markdown, found html"),
        (
            ["run", "two.toml", "--backend", ""],
            "--backend: expected one of sim, linux, both, found an empty text",
        ),
        (["run", "two.toml", "--out", ""], "--out: expected a name, found an empty text"),
        (["plot", "nope"], "nope: no such folder; expected the folder of a result"),
        (["plot", "."], "runs.json: cannot be read (No such file or directory); expected the folder of a"),
    ],
)
def test_a_value_that_an_option_does_not_take(
    cwndlab: Command, scenario: Path, arguments: list[str], message: str
) -> None:
    assert scenario.name == "two.toml"
    answer = cwndlab(*arguments)
    assert_refused(answer, f"error: {message}")
    assert "Usage" not in answer.stderr


def test_unknown_command(cwndlab: Command) -> None:
    assert_refused(cwndlab("rum"), "rum")


def test_unknown_names(cwndlab: Command) -> None:
    assert_refused(cwndlab("show", "cubik"), "did you mean cubic?")
    assert_refused(cwndlab("list", "nothings"), "nothings")
    assert_refused(cwndlab("bench", "--case", "one-flow-100mbits"), "did you mean one-flow-100mbit?")


@pytest.mark.parametrize("arguments", [["train", "cwndlab/Window-v0"], ["score", "cwndlab/Window-v0"]])
def test_episodes_play_on_one_backend(cwndlab: Command, arguments: list[str]) -> None:
    assert_refused(
        cwndlab(*arguments, "--backend", "both"), "--backend: expected one of sim, linux, found both"
    )
    assert_refused(cwndlab(*arguments, "--backend", "lnux"), "found lnux; did you mean linux?")


def test_ctrl_c_while_the_program_is_loaded() -> None:
    program = """\
import runpy, signal, sys
class Pressed:
    def find_spec(self, name, *_):
        if name == "cwndlab.commands.run":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Pressed())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["cwndlab", "list"]
runpy.run_module("cwndlab", run_name="__main__", alter_sys=True)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("place", ["scenarios.scenario.load", "cli._Commands.parse_args"])
def test_ctrl_c_before_the_runs(scenario: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"cwndlab.{place}", pressed)
    answer = CliRunner().invoke(app, ["run", str(scenario)])
    assert (answer.exit_code, answer.stdout, answer.stderr) == (130, "", "interrupted\n")


TOO_LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", TOO_LONG),
        ("run", TOO_LONG),
        ("run", "two.toml", "--out", TOO_LONG),
        ("table", TOO_LONG),
        ("serve", TOO_LONG),
        ("show", TOO_LONG),
    ],
)
@pytest.mark.usefixtures("scenario")
def test_a_name_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, arguments)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"error: {TOO_LONG}")
    assert "File name too long" in answer.stderr


STEERED = "flow.0.cc={name='dqn-cubic',policy='outside'}"


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (["run", "two.toml", "--set", "flow.0.cc=steered"], "--set flow.0.cc: error: "),
        (["run", "two.toml", "--set", STEERED], "--set flow.0.cc: error: "),
        (["check", "steered.toml"], "steered.toml:13:1: error: flow.0.cc: "),
        (["run", "steered.toml"], "steered.toml:13:1: error: flow.0.cc: "),
        (["compare", "two.toml", "--cc", "reno,steered"], "--cc steered: error: "),
        (["sweep", "two.toml", "--over", "flow.1.cc=reno,steered"], "--over flow.1.cc: error: "),
    ],
)
def test_a_run_has_no_agent_outside(
    cwndlab: Command, scenario: Path, tmp_path: Path, command: list[str], place: str
) -> None:
    (tmp_path / "steered.toml").write_text(scenario.read_text().replace('"cubic"', '"steered"'))
    why = 'expected policy = "play" or "learn", found "outside": an agent outside decides only in an env'
    answer = cwndlab(*command, "--seeds", "1") if command[0] != "check" else cwndlab(*command)
    assert_refused(answer, f"{place}{why}")
    assert not (tmp_path / "out").exists()


def test_the_base_of_a_comparison_may_wait_for_an_agent(
    cwndlab: Command, scenario: Path, tmp_path: Path
) -> None:
    (tmp_path / "steered.toml").write_text(scenario.read_text().replace('"cubic"', '"steered"'))
    answer = cwndlab("compare", "steered.toml", "--cc", "reno,cubic", "--seeds", "1", "--no-figure")
    assert answer.returncode == 0, answer.stderr


def test_text_of_a_file_does_not_act_on_the_terminal(cwndlab: Command, tmp_path: Path) -> None:
    """A line of the scenario is shown, with symbols for what would move the cursor or hide text."""
    scenario = tmp_path / "x.toml"
    scenario.write_bytes('name\t= "\x1b[2J\u202eK\xe4fer" \x07\n'.encode())
    answer = cwndlab("check", scenario.name)
    assert answer.returncode == 2
    assert '    name = "\u241b[2J\ufffdK\xe4fer" \u2407' in answer.stderr.splitlines()
    assert not {"\x1b", "\x07", "\u202e"} & set(answer.stderr)
