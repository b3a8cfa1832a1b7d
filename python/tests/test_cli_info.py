"""The commands that tell: check, list, show, bench, --help, --version."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cwndlab import _native
from cwndlab.engine import SHIPPED, catalogue
from tests.conftest import Command


def test_check(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("check", scenario.name)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [
        "two.toml: ok: 2 s, 2 flows, 1 link; cubic, reno; profile linux",
        "  link bottleneck: 10 Mbit/s, delay 10 ms, queue droptail 17 packets, loss 0.001",
    ]


def test_list(cwndlab: Command) -> None:
    answer = cwndlab("list")
    assert answer.returncode == 0
    for word in (
        "algorithms:",
        "cubic",
        "uncoupled:NAME runs the algorithm NAME on each subflow",
        "droptail",
        "linux",
        "papers:\n  seo2024",
        "environments:\n  cwndlab/DqnNewReno-v0",
    ):
        assert word in answer.stdout
    assert "droptail" not in cwndlab("list", "algorithms").stdout
    listed = json.loads(cwndlab("list", "--json").stdout)
    assert listed["schema"] == 1
    assert "reno" in [entry["name"] for entry in listed["algorithms"]]
    assert "cho2024" in [entry["name"] for entry in listed["papers"]]
    assert max(map(len, answer.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", ["cubic", "droptail", "fq-codel", "linux", "ns3", "linux-2.2", "tcp"])
def test_show(cwndlab: Command, name: str) -> None:
    answer = cwndlab("show", name)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(name)
    assert "default" in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
    shown = json.loads(cwndlab("show", name, "--json").stdout)
    assert shown["schema"] == 1
    assert shown["name"] == name


def test_show_prints_a_trace_as_the_file_it_stands_for(cwndlab: Command, scenario: Path) -> None:
    assert "synthetic:lte-down" in cwndlab("list", "traces").stdout
    shown = cwndlab("show", "synthetic:lte-down").stdout
    link = "[{ name = 'bottleneck', delay = '1 ms', trace = 'synthetic:lte-down' }]"
    resolved = json.loads(_native.resolve(scenario.read_bytes(), scenario.name, [("link", link)]))
    assert resolved["link"][0]["trace"] == {
        "file": "synthetic:lte-down",
        "sha256": hashlib.sha256(shown.encode()).hexdigest(),
    }
    described = json.loads(cwndlab("show", "synthetic:lte-down", "--json").stdout)
    assert (described["kind"], described["name"]) == ("trace", "synthetic:lte-down")


def test_show_tells_what_is_in_force_under_each_profile(cwndlab: Command) -> None:
    told = " ".join(cwndlab("show", "cubic").stdout.split())
    assert "in force: linux in profile linux, ns3 in profile ns3" in told
    form, *_ = json.loads(cwndlab("show", "cubic", "--json").stdout)["params"]
    assert form["in_force"] == {"linux": "linux", "ns3": "ns3", "linux-2.2": "rfc9438"}
    assert "in profile ns3" in " ".join(cwndlab("show", "tcp").stdout.split())


@pytest.mark.parametrize("name", ["droptail", "codel", "fq-codel", "ns3-default", "linux", "ns3", "vegas"])
def test_show_tells_source_and_departures(cwndlab: Command, name: str) -> None:
    printed = " ".join(cwndlab("show", name).stdout.split())
    told = json.loads(cwndlab("show", name, "--json").stdout)
    assert told["departures"]
    for text in (told["source"], *told["departures"]):
        assert " ".join(text.split()) in printed


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("cubic", ["recorded values: ssthresh_bytes, w_max_segments, k_s"]),
        ("dqn-newreno", ["chooses among 7 actions; an agent observes 3 numbers"]),
        ("constant", ["its parameters limit its window on any path"]),
        ("lia", ["coupled: its window depends on its sibling subflows"]),
        ("bbr3", ["keeps its own window in recovery, without PRR"]),
    ],
)
def test_show_tells_what_an_algorithm_declares(cwndlab: Command, name: str, lines: list[str]) -> None:
    printed = " ".join(cwndlab("show", name).stdout.split())
    for line in lines:
        assert line in printed


def test_show_profile_has_its_own_values(cwndlab: Command) -> None:
    assert "cubic.form = ns3" in cwndlab("show", "ns3").stdout


def test_every_algorithm_can_be_shown() -> None:
    for entry in SHIPPED.read_catalogue()["algorithms"]:
        assert catalogue.find(SHIPPED, entry["name"])[0] == "algorithm"


def test_bench(cwndlab: Command) -> None:
    arguments = ("bench", "--case", "one-flow-100mbit", "--case", "flows-10", "--repeats", "1")
    cases = json.loads(cwndlab(*arguments, "--json").stdout)["cases"]
    assert [case["name"] for case in cases] == ["one-flow-100mbit", "flows-10"]
    assert all(case["packets"] > 0 for case in cases)
    assert "one-flow-100mbit" in cwndlab(*arguments).stdout


def test_version(cwndlab: Command) -> None:
    answer = cwndlab("--version")
    assert (answer.returncode, answer.stdout.split()[0]) == (0, "cwndlab")


def test_help_names_every_command(cwndlab: Command) -> None:
    answer = cwndlab("--help")
    assert answer.returncode == 0
    for command in ("run", "check", "list", "show", "bench"):
        assert command in answer.stdout
        assert cwndlab(command, "--help").returncode == 0


def test_light_commands_import_nothing_heavy() -> None:
    heavy = {"rich", "numpy", "scipy", "polars", "matplotlib"}
    program = "import sys, cwndlab.cli; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert not heavy & set(modules.split())


def test_a_reader_that_goes_away_is_no_error(cwndlab: Command, scenario: Path) -> None:
    for arguments in (
        ("list",),
        ("show", "tcp"),
        ("run", scenario.name, "--seeds", "1", "--json", "--no-figure"),
    ):
        process = subprocess.Popen(
            cwndlab.line(*arguments),
            cwd=cwndlab.folder,
            env=cwndlab.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        stderr = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(timeout=60) == 0
        assert "rror" not in stderr, arguments
