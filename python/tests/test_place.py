"""Results do not vanish: each request has a folder of its own."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import cwndlab as cl
from cwndlab.cli import app
from cwndlab.commands.deliver import Delivery, Looks, deliver
from cwndlab.output import about, files, place
from cwndlab.results.recording import Record
from cwndlab.results.request import Request, planned, request_of
from tests.conftest import SCENARIO, Command
from tests.samples import flow, outcome, result
from tests.test_papers_figures import FIGURES
from tests.test_papers_reproduction import PAPER, papers

__all__ = ["papers"]

USES_SCENARIO = pytest.mark.usefixtures("scenario")
RUN = ("run", "two.toml", "--no-figure")


def held(folder: Path) -> str:
    """The command that made what a folder holds."""
    found = about.read(folder)
    assert found is not None
    return found.command


@pytest.mark.parametrize(
    ("other", "command"),
    [
        (("--seeds", "2"), "--seeds 1-2"),
        (("--set", "flow.a.cc=reno"), "--set flow.a.cc=reno"),
        (("--record", "all"), "--seeds 1-3"),
    ],
)
@USES_SCENARIO
def test_another_request_goes_to_the_next_folder(
    cwndlab: Command, other: tuple[str, ...], command: str
) -> None:
    assert cwndlab(*RUN, "--seeds", "3").returncode == 0
    first = (cwndlab.folder / "out" / "two" / "result.json").read_bytes()
    for _ in range(2):
        told = cwndlab(*RUN, "--seeds", "3", *other)
        assert "results in out/two-2, report in out/two-2/report.html" in told.stdout
        assert "out/two holds the result of `cwndlab run two.toml --seeds 1-3`" in told.stderr
    assert (cwndlab.folder / "out" / "two" / "result.json").read_bytes() == first
    assert command in held(cwndlab.folder / "out" / "two-2")
    assert "results in out/two, " in cwndlab(*RUN, "--seeds", "3").stdout
    replaced = cwndlab(*RUN, "--seeds", "3", *other, "--replace")
    assert "results in out/two, " in replaced.stdout
    assert command in held(cwndlab.folder / "out" / "two")


@USES_SCENARIO
def test_how_it_is_shown_is_no_other_request(cwndlab: Command) -> None:
    compare = ("compare", "two.toml", "--cc", "cubic,reno", "--seeds", "2", "--no-figure")
    assert cwndlab(*compare).returncode == 0
    again = cwndlab(*compare, "--best", "queue delay", "--link", "bottleneck", "--no-style")
    assert "results in out/two-compare, " in again.stdout


def test_a_changed_scenario_is_another_request(cwndlab: Command, scenario: Path) -> None:
    cwndlab(*RUN, "--seeds", "1")
    scenario.write_text("# a remark\n" + scenario.read_text())
    assert "results in out/two, " in cwndlab(*RUN, "--seeds", "1").stdout
    scenario.write_text(scenario.read_text().replace("10 Mbit/s", "11 Mbit/s"))
    assert "results in out/two-2, " in cwndlab(*RUN, "--seeds", "1").stdout


@USES_SCENARIO
def test_a_key_that_becomes_a_condition_is_another_request(cwndlab: Command) -> None:
    """The runs are the same, but one result names the best of four points, the other the best choice."""
    delays, algorithms = "link.bottleneck.delay=1 ms,2 ms", ("--over", "flow.b.cc=cubic,reno")
    shared = ("sweep", "two.toml", "--seeds", "1", "--no-figure", "--out", "mine")
    across = (*shared, "--across", delays, *algorithms)
    assert cwndlab(*across).returncode == 0
    refused = cwndlab(*shared, "--over", delays, *algorithms)
    assert refused.returncode == 2
    assert "mine: expected no result or one of the same request" in refused.stderr
    assert "--across" in held(cwndlab.folder / "mine")
    cl.load(cwndlab.folder / "mine").save(cwndlab.folder / "mine", figures=False)
    assert cwndlab(*across).returncode == 0


@USES_SCENARIO
def test_a_chosen_folder_with_another_result_is_refused(cwndlab: Command) -> None:
    assert cwndlab(*RUN, "--seeds", "1", "--out", "mine").returncode == 0
    refused = cwndlab(*RUN, "--seeds", "2", "--out", "mine")
    assert refused.returncode == 2
    assert "mine: expected no result or one of the same request, found the result of `" in refused.stderr
    assert "--replace" in refused.stderr
    assert "run" not in refused.stderr.partition("error:")[0]
    assert held(cwndlab.folder / "mine").endswith("--seeds 1-1")
    assert cwndlab(*RUN, "--seeds", "1", "--out", "mine").returncode == 0
    assert cwndlab(*RUN, "--seeds", "2", "--out", "mine", "--replace").returncode == 0
    assert held(cwndlab.folder / "mine").endswith("--seeds 1-2")


@pytest.mark.parametrize("mark", ["runs.json", "reproduction.json"])
def test_a_result_of_an_earlier_version_is_kept(tmp_path: Path, mark: str) -> None:
    request = Request("run", "1")
    assert place.free(tmp_path / "old", request) == tmp_path / "old"
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "my notes.txt").touch()
    assert place.free(tmp_path / "old", request) == tmp_path / "old"
    (tmp_path / "old" / mark).touch()
    assert place.free(tmp_path / "old", request) == tmp_path / "old-2"
    with pytest.raises(cl.InputError, match="found another result; a hint"):
        place.require_free(tmp_path / "old", request, "a hint")


def test_python_refuses_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "kept"
    cl.run(SCENARIO, seeds=2).save(folder, figures=False)
    cl.run(SCENARIO, seeds=2).save(folder, figures=False)
    back = cl.load(folder)
    back.save(folder, figures=False)
    other = cl.run(SCENARIO, seeds=1)
    with pytest.raises(cl.InputError, match="pass replace=True"):
        other.save(folder, figures=False)
    assert cl.load(folder).seeds == [1, 2]
    other.save(folder, figures=False, replace=True)
    assert cl.load(folder).seeds == [1]


def test_a_comparison_and_a_sweep_come_back_as_the_same_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    made = (
        cl.compare(SCENARIO, ["cubic", "reno"], ["b"], seeds=2),
        cl.sweep(SCENARIO, {"flow.a.cc": ["cubic", "reno"]}, seeds=2),
    )
    for study in made:
        study.save(tmp_path / study.kind, figures=False)
        cl.load(tmp_path / study.kind).save(tmp_path / study.kind, figures=False)


@USES_SCENARIO
def test_the_command_and_python_ask_for_the_same(cwndlab: Command) -> None:
    """What Python saved, the command of the same request replaces."""
    command = ("compare", "two.toml", "--cc", "cubic,reno", "--flow", "b", "--seeds", "2", "--no-figure")
    assert cwndlab(*command, "--out", "here").returncode == 0
    cl.load(cwndlab.folder / "here").save(cwndlab.folder / "here", figures=False)
    assert cwndlab(*command, "--out", "here").returncode == 0


@USES_SCENARIO
def test_the_report_is_named_before_the_figures_are_drawn(cwndlab: Command) -> None:
    """In a pipe too, where standard output waits for a full buffer."""
    answer = subprocess.run(
        cwndlab.line("run", "two.toml", "--seeds", "2"),
        cwd=cwndlab.folder,
        env=cwndlab.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert answer.stdout.index("report in out/two/report.html") < answer.stdout.index("5 figures in ")
    written = {path.name: path.stat().st_mtime_ns for path in (cwndlab.folder / "out" / "two").iterdir()}
    assert written["report.html"] < min(written[f"{name}.png"] for name in ("series", "box", "cdf"))


@USES_SCENARIO
def test_formats(cwndlab: Command) -> None:
    made = cwndlab("run", "two.toml", "--seeds", "1", "--format", "svg,pdf")
    assert made.returncode == 0, made.stderr
    figures = {path.suffix for path in (cwndlab.folder / "out" / "two").glob("cdf.*")}
    assert figures == {".svg", ".pdf"}
    assert "4 figures in " in made.stderr
    again = cwndlab("run", "two.toml", "--seeds", "1")
    assert again.returncode == 0
    assert {path.suffix for path in (cwndlab.folder / "out" / "two").glob("cdf.*")} == {".png"}
    refused = cwndlab("run", "two.toml", "--format", "png,eps")
    assert refused.returncode == 2
    assert "--format: expected png, svg, pdf; found eps" in refused.stderr


@pytest.mark.parametrize("wrong", ["", "eps", ["gif"], []])
def test_formats_in_python(tmp_path: Path, wrong: str | list[str]) -> None:
    with pytest.raises(cl.InputError, match="formats: expected png, svg, pdf; found"):
        result([outcome([flow("a", 1)])]).save(tmp_path, formats=wrong)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": 2}', '{"schema": 1, "seeds": 3}'])
def test_a_damaged_description_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "about.json").write_text(content)
    assert about.read(tmp_path) is None
    with pytest.raises(cl.InputError, match=r"found about\.json, which is of no result; a hint"):
        place.require_free(tmp_path, Request("run", "1"), "a hint")
    (tmp_path / "runs.json").touch()
    with pytest.raises(cl.InputError, match="found another result; a hint"):
        place.require_free(tmp_path, Request("run", "1"), "a hint")


@pytest.mark.parametrize(
    "name", ["report.html", "runs.csv", "series.png", "over-rate.pdf", "weights/a.safetensors"]
)
@USES_SCENARIO
def test_files_of_others_with_our_names_are_kept(cwndlab: Command, name: str) -> None:
    theirs = cwndlab.folder / "own" / name
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    refused = cwndlab(*RUN, "--seeds", "1", "--out", "own")
    assert refused.returncode == 2
    assert f"own: expected no result or one of the same request, found {name}, which is of" in refused.stderr
    assert theirs.read_text() == "mine"
    assert cwndlab(*RUN, "--seeds", "1", "--out", "own", "--replace").returncode == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [("y" * 300, r"^y{300}: cannot be read \(File name too long\)"), ("a\0", "not a valid file name")],
)
def test_a_folder_that_cannot_be(name: str, message: str) -> None:
    made = result([outcome([flow("a", 1)])])
    with pytest.raises(cl.InputError, match=message):
        made.save(name, figures=False)
    with pytest.raises(cl.InputError, match=r"^folder="):
        made.save(name, figures=False, replace=True)


def test_a_reproduction_of_other_papers_seeds_or_options_has_its_own_folder(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (papers / "paper.toml").write_text(PAPER + FIGURES)
    monkeypatch.chdir(tmp_path)

    def reproduced(*words: str) -> str:
        answer = CliRunner().invoke(app, ["reproduce", "tiny2026", *words])
        assert answer.exit_code == 0, answer.stderr
        return answer.stdout.splitlines()[-1]

    assert reproduced("--seeds", "2", "--defaults") == "report in out/reproduce/report.html"
    assert (
        reproduced("--seeds", "2", "--defaults", "--format", "svg") == "report in out/reproduce/report.html"
    )
    assert {path.suffix for path in (tmp_path / "out" / "reproduce" / "figures").iterdir()} == {".svg"}
    assert reproduced("--seeds", "3", "--defaults") == "report in out/reproduce-2/report.html"
    assert reproduced("--seeds", "2", "--quick") == "report in out/reproduce-3/report.html"
    held_there = about.read(tmp_path / "out" / "reproduce")
    assert held_there is not None
    assert (held_there.kind, held_there.scenario, held_there.seeds) == ("reproduce", "tiny2026", (1, 2))
    assert held_there.answer[0].startswith("tiny2026: ")


def test_what_ctrl_c_left_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder keeps what was asked for, not what was finished."""
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    whole = cl.run(SCENARIO, seeds=3)
    partial = dataclasses.replace(whole, runs=whole.runs[:1], interrupted=True)
    asked = planned("run", [({}, whole.scenario)], [1, 2, 3], Record.FIRST)
    folder = tmp_path / "out"
    folder.mkdir()
    files.write_tables(partial, folder, asked)
    assert place.is_free(folder, asked)
    assert place.is_free(folder, request_of(whole))
    assert not place.is_free(folder, request_of(partial))


def test_ctrl_c_does_not_replace_a_whole_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    whole = cl.run(SCENARIO, seeds=3)
    folder = tmp_path / "out"
    whole.save(folder, figures=False)
    partial = dataclasses.replace(whole, runs=whole.runs[:1], interrupted=True)
    with pytest.raises(typer.Exit) as ended:
        deliver(partial, Delivery(folder, request_of(whole), Looks(as_json=False, formats=())))
    assert ended.value.exit_code == 130
    assert "keeps its whole result" in capsys.readouterr().err
    assert cl.load(folder).seeds == [1, 2, 3]


def test_ctrl_c_waits_until_the_result_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    study = cl.run(SCENARIO, seeds=1)
    _press_ctrl_c_while_writing(monkeypatch)
    with pytest.raises(typer.Exit) as ended:
        deliver(study, Delivery(tmp_path / "one", request_of(study), Looks(as_json=False, formats=("png",))))
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == f"interrupted: the result in {tmp_path / 'one'} is complete\n"
    with pytest.raises(KeyboardInterrupt):
        study.save(tmp_path / "two")
    for name in ("one", "two"):
        assert cl.load(tmp_path / name).seeds == [1]
        assert (tmp_path / name / "report.html").exists()
        assert not list((tmp_path / name).glob("*.png"))


def test_a_second_ctrl_c_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    study = cl.run(SCENARIO, seeds=2)
    delivery = Delivery(tmp_path / "one", request_of(study), Looks(as_json=False, formats=()))
    _press_ctrl_c_while_writing(monkeypatch, times=2)
    with pytest.raises(typer.Exit):
        deliver(study, delivery)
    assert "was not written to the end; repeat the command\n" in capsys.readouterr().err
    monkeypatch.undo()
    # What is there is no whole result, so a partial one replaces it.
    partial = dataclasses.replace(study, runs=study.runs[:1], interrupted=True)
    with pytest.raises(typer.Exit):
        deliver(partial, delivery)
    assert cl.load(tmp_path / "one").seeds == [1]


def _press_ctrl_c_while_writing(monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    """Press it after the first file."""
    write = about.write

    def pressed(described: about.About, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        write(described, folder)
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(about, "write", pressed)
