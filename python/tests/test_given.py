"""Names that somebody gave: an empty one is not the current folder, and all are UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import cwndlab as cl
from cwndlab.cli import app
from cwndlab.scenarios.axis import parse_axis
from tests.conftest import SCENARIO, Command

if TYPE_CHECKING:
    from collections.abc import Callable

NO_NAME = "expected a name, found an empty text"


@pytest.mark.parametrize(
    "words",
    [
        "run two.toml --out",
        "run two.toml --with",
        "run",
        "check",
        "plot result --out",
        "plot",
        "table",
        "convert two.toml --out",
        "copy scenarios --to",
        "score cwndlab/Window-v0 --scenario",
        "score cwndlab/Window-v0 --weights",
        "train cwndlab/Window-v0 --from",
        "train cwndlab/Window-v0 --resume",
        "bench --curve flows --figure",
        "reproduce",
        "reproduce --out",
        "show",
        "show cellular --plot",
        "diff one",
        "serve --write",
        "linux --with",
        "sweep two.toml --over @",
    ],
)
def test_an_empty_name_is_refused(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    *before, last = words.split()
    answer = CliRunner().invoke(app, [*before, last] if last == "@" else [*before, last, ""])
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert NO_NAME in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == [scenario.name]


@pytest.mark.parametrize(
    "call",
    [
        lambda: cl.run(""),
        lambda: cl.run(SCENARIO, seeds=1, qlog=""),
        lambda: cl.run(SCENARIO, seeds=1, pcap=""),
        lambda: cl.sweep(SCENARIO, ""),
        lambda: cl.load(""),
        lambda: cl.run(SCENARIO, seeds=1).save(""),
    ],
)
def test_an_empty_name_is_refused_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]
) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(cl.InputError, match=NO_NAME):
        call()
    assert not [*Path().iterdir()]


@pytest.mark.parametrize(
    "words",
    [
        ("check", "two.toml", "--set", "name=\udcff"),
        ("show", "\udcff"),
        ("compare", "two.toml", "--cc", "reno,\udcff", "--seeds", "1"),
        ("run", "\udcff.toml"),
    ],
)
def test_bytes_that_are_not_utf8(cwndlab: Command, scenario: Path, words: tuple[str, ...]) -> None:
    scenario.with_name("\udcff.toml").write_text(SCENARIO)
    answer = cwndlab(*words)
    assert (answer.returncode, answer.stdout) == (2, "")
    [line] = answer.stderr.splitlines()
    assert line.endswith(r"\xff: expected UTF-8, found other bytes") or r"\xff.toml: expected" in line


def test_a_pattern_that_matches_other_bytes(tmp_path: Path) -> None:
    (tmp_path / "\udcff.down").write_text("1\n")
    with pytest.raises(cl.InputError, match=r"--over link.0.trace=\*.down: .*ff.down: expected UTF-8"):
        parse_axis("link.0.trace=*.down", folder=tmp_path)
