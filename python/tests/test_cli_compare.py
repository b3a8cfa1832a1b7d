"""`cwndlab compare` and `cwndlab sweep`, as processes of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Command

CC = ("--cc", "cubic,reno")
OVER = ("--over", "flow.*.cc=cubic,reno", "--over", "link.0.queue=0.5 bdp,2 bdp")


def test_compare(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("compare", str(scenario), *CC, "--flow", "b", "--seeds", "3")
    assert answer.returncode == 0, answer.stderr
    assert "two flows: cubic, reno over 3 seeds" in answer.stdout
    assert "reno − cubic" in answer.stdout
    assert "harm to a" in answer.stdout
    assert "9 new runs, 0 reused" in answer.stderr
    assert max(map(len, answer.stdout.splitlines())) <= 80
    folder = cwndlab.folder / "out" / "two-compare"
    # Who names flows asks what they cost the others.
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert report.index("Harm to the other flows") < report.index("Goodput against delay")
    names = {path.name for path in folder.iterdir()}
    assert {"report.html", "result.json", "runs.parquet", "pareto.png", "fairness.png", "box.png"} <= names


def test_compare_json(cwndlab: Command, scenario: Path) -> None:
    words = ("compare", str(scenario), "--seeds", "2", "--json", "--no-figure")
    answer = cwndlab(*words, *CC)
    assert cwndlab(*words, "--cc", "cubic", "--cc", "reno").stdout == answer.stdout
    assert answer.returncode == 0, answer.stderr
    document = json.loads(answer.stdout)
    assert document["schema"] == 1
    assert [variant["cc"] for variant in document["variants"]] == ["cubic", "reno"]
    assert [variant["flows"][0]["cc"] for variant in document["variants"]] == ["cubic", "reno"]
    [difference] = document["differences"]
    assert difference["cc"] == "reno"
    assert {(each["kind"], each["name"]) for each in difference["subjects"]} == {
        ("total", "all"),
        ("flow", "a"),
        ("flow", "b"),
        ("link", "bottleneck"),
    }
    goodput = difference["subjects"][1]["goodput_mbps"]
    means = [variant["flows"][0]["goodput_mbps"]["mean"] for variant in document["variants"]]
    assert goodput["mean"] == pytest.approx(means[1] - means[0])
    assert document["harm"] == []


def test_sweep(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("sweep", str(scenario), *OVER, "--seeds", "2")
    assert answer.returncode == 0, answer.stderr
    assert "two flows: 4 points, 2 seeds" in answer.stdout
    assert "8 new runs, 0 reused" in answer.stderr
    assert max(map(len, answer.stdout.splitlines())) <= 80
    names = {path.name for path in (cwndlab.folder / "out" / "two-sweep").iterdir()}
    assert {"report.html", "pareto.png", "heatmap-goodput.png", "runs.csv"} <= names
    again = cwndlab("sweep", str(scenario), *OVER, "--over", "link.0.loss=0.001", "--seeds", "3")
    assert "4 new runs, 8 reused" in again.stderr


def test_sweep_json(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("sweep", str(scenario), *OVER, "--seeds", "2", "--json", "--no-figure")
    document = json.loads(answer.stdout)
    assert [axis["key"] for axis in document["axes"]] == ["flow.*.cc", "link.0.queue"]
    assert len(document["points"]) == 4
    last = document["points"][-1]
    assert last["settings"] == {"flow.*.cc": "reno", "link.0.queue": "2 bdp"}
    assert {flow["cc"] for flow in last["flows"]} == {"reno"}
    assert last["total"]["goodput_mbps"]["n"] == 2
    assert last["efficient"] in (True, False)


def test_an_interrupted_sweep_goes_on(cwndlab: Command, scenario: Path) -> None:
    long = ("--set", "duration=400 s", "--set", "link.0.rate=1 Gbit/s", "--seeds", "2", "--threads", "1")
    quick = ("--over", "link.0.delay=200 ms,1 ms")
    process = subprocess.Popen(
        cwndlab.line("sweep", str(scenario), *quick, *long, "--no-figure"),
        cwd=cwndlab.folder,
        env=cwndlab.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    cache = cwndlab.folder / "cache"
    deadline = time.monotonic() + 60
    while not list(cache.glob("??/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted: " in errors
    assert "two flows: 1 point" in output
    finished = len(list(cache.glob("??/*.npz")))
    assert 1 <= finished < 4
    # The first line of the answer and of the report, and no order of a single point.
    told = f"Interrupted: {finished} of 4 runs {'is' if finished == 1 else 'are'} done; 1 of 2 points has"
    report = (cwndlab.folder / "out" / "two-sweep" / "report.html").read_text(encoding="utf-8")
    for text in (output, report):
        assert told in " ".join(text.split())
        assert "most goodput" not in text
    assert output.startswith("Interrupted: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", "two.toml", "--cc", "cubic"), "two or more"),
        (("compare", "two.toml", "--cc", "cubic,cubik"), "did you mean `cubic`?"),
        (("compare", "two.toml", "--cc", "cubic,reno", "--flow", "x"), "no such flow; expected one of: a, b"),
        (
            ("compare", "two.toml", "--cc", "cubic,reno", "--link", "x"),
            "no such link; expected one of: bottleneck",
        ),
        (("sweep", "two.toml", "--over", "flow.0.cc"), "expected key=value"),
        (("sweep", "two.toml", "--over", "flow.0.xx=1,2"), "xx"),
        (("sweep", "two.toml"), "--over"),
    ],
)
def test_mistakes(cwndlab: Command, scenario: Path, words: tuple[str, ...], message: str) -> None:
    assert scenario.name == "two.toml"
    answer = cwndlab(*words)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (cwndlab.folder / "out").exists()
