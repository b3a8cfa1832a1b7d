"""Sweeps over the points of a CSV file."""

from __future__ import annotations

from pathlib import Path

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.scenarios import point_files
from cwndlab.scenarios.design import MAX_POINTS
from cwndlab.scenarios.point_files import points_of
from tests.conftest import SCENARIO, Command


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def file(text: str | bytes, name: str = "points.csv") -> Path:
    path = Path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_keys_and_rows_are_points(scenario: Path, cwndlab: Command) -> None:
    del scenario
    text = "\ufefflink.0.rate, flow.a.cc\r\n\r\n5 Mbit/s,\"{name='cubic', C=1.2}\"\r\n9 Mbit/s, reno\r\n"
    file(text)
    answer = cwndlab("sweep", "two.toml", "--over", "points.csv", "--seeds", "2", "--out", "o")
    assert answer.returncode == 0, answer.stderr
    swept = cl.load("o")
    assert isinstance(swept, cl.Sweep)
    assert [dict(settings) for settings, _ in swept.points] == [
        {"link.0.rate": "5 Mbit/s", "flow.a.cc": "{name='cubic', C=1.2}"},
        {"link.0.rate": "9 Mbit/s", "flow.a.cc": "reno"},
    ]
    assert swept.at(**{"link.0.rate": "9 Mbit/s"}).scenario.resolved["flow"][0]["cc"]["name"] == "reno"
    assert "--over points.csv --seeds 1-2" in swept.command
    assert swept.to_json()["design"]["method"] == "file"
    assert Path("o/over-link.0.rate-goodput.png").exists()
    assert not Path("o/heatmap-goodput.png").exists()


def test_the_points_meet_all_values_of_other_keys(scenario: Path, cwndlab: Command) -> None:
    del scenario
    file("link.0.rate,link.0.delay\n5 Mbit/s,9 ms\n9 Mbit/s,5 ms\n", "points")
    arguments = ("--over", "@points", "--over", "flow.a.cc=cubic,reno", "--seeds", "1", "--no-figure")
    answer = cwndlab("sweep", "two.toml", *arguments, "--out", "o")
    assert answer.returncode == 0, answer.stderr
    swept = cl.load("o")
    assert [tuple(settings.values()) for settings, _ in swept.variants] == [
        ("5 Mbit/s", "9 ms", "cubic"),
        ("5 Mbit/s", "9 ms", "reno"),
        ("9 Mbit/s", "5 ms", "cubic"),
        ("9 Mbit/s", "5 ms", "reno"),
    ]
    assert "--over @points --over flow.a.cc=cubic,reno" in swept.command


def test_python_takes_a_path() -> None:
    path = file("link.0.rate\n5 Mbit/s\n9 Mbit/s\n")
    assert cl.sweep(SCENARIO, path, seeds=1).table.height == 2
    with pytest.raises(InputError, match=r"^over='points.csv': expected a key to draw with sample"):
        cl.sweep(SCENARIO, "points.csv", sample=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "points.csv: expected a line of keys and a line for each point, found no line"),
        ("a,b\n", "points.csv: expected a line of keys and a line for each point, found only the line"),
        ("a,b\n1,2\n3\n", "points.csv:3: expected 2 values, found 1"),
        ("a,b\n1,\n", "points.csv:2: expected a value of b, found none"),
        ("a,,b\n1,2,3\n", "points.csv:1: expected a key of the scenario in each column, found ''"),
        ("a+b\n1\n", "points.csv:1: expected a key of the scenario in each column, found 'a+b'"),
        ("a,b,a\n1,2,3\n", "points.csv:1: expected different keys, found a twice"),
        ("a\n1\n2\n\n1\n", "points.csv:5: expected a new point, found that of line 2"),
        ('a\n1\n"2\n', "points.csv:3: expected a line of CSV"),
        (b"a\n1\n\xff\n", "points.csv:3: expected UTF-8, found the byte 0xff"),
    ],
)
def test_mistakes(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        points_of(file(text))
    assert str(error.value).startswith(message)


def test_a_value_that_the_scenario_refuses_is_named_with_its_line() -> None:
    file("link.0.rate,link.0.colour\n5 Mbit/s,red\n")
    with pytest.raises(InputError, match=r"^points.csv:2: link.0.colour: error: unknown key `colour`"):
        cl.sweep(SCENARIO, "points.csv", seeds=1)
    with pytest.raises(InputError, match=r"none.csv: no such file; expected a CSV file of points"):
        cl.sweep(SCENARIO, "none.csv", seeds=1)


def test_too_many_rows_are_noticed_before_they_are_read_as_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_files, "_axis", None)
    rows = "\n".join(f"{number} Mbit/s" for number in range(MAX_POINTS + 1))
    with pytest.raises(InputError, match=r"--over points.csv: expected at most 100000 .* found 100001"):
        points_of(file(f"link.0.rate\n{rows}\n"))
