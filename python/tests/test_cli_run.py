"""`cwndlab run`, as a process of its own with the real simulator."""

from __future__ import annotations

import json
import math
import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.conftest import Command

FILES = {
    "about.json",
    "result.json",
    "report.html",
    "runs.json",
    "runs.csv",
    *(f"{table}.parquet" for table in ("runs", "series", "events", "intervals", "distributions")),
    *(f"{figure}.png" for figure in ("series", "recorded", "box", "cdf", "fairness")),
}


def document(answer: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What was printed, as strict JSON."""
    assert answer.returncode == 0, answer.stderr

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    read: dict[str, Any] = json.loads(answer.stdout, parse_constant=refuse)
    # Someone may commit or edit while the tests run.
    assert "commit" in read["manifest"]
    read["manifest"]["commit"] = None
    return read


def assert_measure(value: Any, seeds: int) -> None:
    assert set(value) == {"mean", "ci95", "n"}
    assert 0 <= value["n"] <= seeds
    assert (value["mean"] is None) == (value["n"] == 0)
    if value["ci95"] is not None:
        low, high = value["ci95"]
        assert low < value["mean"] < high


def test_table_and_files(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("run", str(scenario), "--seeds", "3")
    assert answer.returncode == 0, answer.stderr
    assert "two flows: 3 seeds" in answer.stdout
    assert "results in out/two" in answer.stdout
    assert "3 new runs, 0 reused" in answer.stderr
    assert "\x1b" not in answer.stdout + answer.stderr
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert {path.name for path in (cwndlab.folder / "out" / "two").iterdir()} == FILES


def test_json(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("run", str(scenario), "--seeds", "4,7,9", "--json", "--no-figure")
    result = document(answer)
    assert result["schema"] == 1
    assert result["scenario"] == "two flows"
    assert result["seeds"] == [4, 7, 9]
    assert result["interrupted"] is False
    assert {"version", "extension_sha256", "seeds", "platform", "cpu"} <= set(result["manifest"])
    assert [(flow["name"], flow["cc"]) for flow in result["flows"]] == [("a", "cubic"), ("b", "reno")]
    for component in result["flows"] + result["links"]:
        for key, value in component.items():
            if key not in ("name", "cc", "degraded"):
                assert_measure(value, seeds=3)
    assert_measure(result["jain"], seeds=3)
    assert result["links"][0]["utilisation"]["mean"] > 0.3
    goodput = sum(flow["goodput_mbps"]["mean"] for flow in result["flows"])
    assert 3 < goodput < 10
    assert (cwndlab.folder / "out" / "two" / "result.json").read_text() == answer.stdout


def test_tables_hold_what_the_document_says(cwndlab: Command, scenario: Path) -> None:
    result = document(cwndlab("run", str(scenario), "--seeds", "3", "--json", "--no-figure", "--out", "here"))
    runs = pl.read_parquet(cwndlab.folder / "here" / "runs.parquet")
    assert runs.equals(pl.read_csv(cwndlab.folder / "here" / "runs.csv", schema=runs.schema))
    mean = runs.filter((pl.col("kind") == "flow") & (pl.col("name") == "a"))["goodput_mbps"].to_list()
    assert math.fsum(mean) / 3 == pytest.approx(result["flows"][0]["goodput_mbps"]["mean"])
    events = pl.read_parquet(cwndlab.folder / "here" / "events.parquet")
    assert events.columns == ["seed", "time_s", "flow", "kind"]
    series = pl.read_parquet(cwndlab.folder / "here" / "series.parquet")
    assert series.columns[:4] == ["seed", "kind", "name", "time_s"]
    assert set(series["kind"].unique()) == {"flow", "link"}
    assert series.filter(pl.col("name") == "a")["cwnd_segments"].max() is not None


def test_threads_change_nothing(cwndlab: Command, scenario: Path) -> None:
    one, two = (
        cwndlab(
            "run", str(scenario), "--seeds", "4", "--threads", threads, "--fresh", "--json", "--no-figure"
        )
        for threads in ("1", "2")
    )
    assert document(one) == document(two)


def test_finished_runs_are_reused(cwndlab: Command, scenario: Path) -> None:
    first = cwndlab("run", str(scenario), "--seeds", "2", "--json", "--no-figure")
    second = cwndlab("run", str(scenario), "--seeds", "3", "--no-figure")
    third = cwndlab("run", str(scenario), "--seeds", "2", "--json", "--no-figure")
    fresh = cwndlab("run", str(scenario), "--seeds", "2", "--json", "--no-figure", "--fresh")
    assert "1 new run, 2 reused" in second.stderr
    assert "0 new runs, 2 reused" in third.stderr
    assert "2 new runs, 0 reused" in fresh.stderr
    assert document(first) == document(third) == document(fresh)


def test_what_means_the_same_is_reused(cwndlab: Command, scenario: Path) -> None:
    cwndlab("run", str(scenario), "--seeds", "1", "--no-figure")
    scenario.write_text("# a remark\n" + scenario.read_text().replace("10 Mbit/s", "10000 kbit/s"))
    assert "1 reused" in cwndlab("run", str(scenario), "--seeds", "1", "--no-figure").stderr
    changed = cwndlab("run", str(scenario), "--seeds", "1", "--no-figure", "--set", "flow.0.cc=reno")
    assert "0 reused" in changed.stderr


def test_damaged_cache_is_mended(cwndlab: Command, scenario: Path) -> None:
    before = cwndlab("run", str(scenario), "--seeds", "2", "--json", "--no-figure")
    for entry in (cwndlab.folder / "cache").rglob("*.npz"):
        entry.write_bytes(b"damaged")
    after = cwndlab("run", str(scenario), "--seeds", "2", "--json", "--no-figure")
    assert "2 new runs, 0 reused" in after.stderr
    assert document(before) == document(after)
    assert "2 reused" in cwndlab("run", str(scenario), "--seeds", "2", "--no-figure").stderr


def test_override(cwndlab: Command, scenario: Path) -> None:
    answer = cwndlab("run", str(scenario), "--seeds", "1", "--json", "--no-figure", "--set", "flow.0.cc=reno")
    assert document(answer)["flows"][0]["cc"] == "reno"


def test_one_seed_has_no_interval(cwndlab: Command, scenario: Path) -> None:
    result = document(cwndlab("run", str(scenario), "--seeds", "1", "--json", "--no-figure"))
    assert result["flows"][0]["goodput_mbps"]["ci95"] is None
    assert result["flows"][0]["goodput_mbps"]["n"] == 1


def test_deterministic(cwndlab: Command, scenario: Path) -> None:
    text = (
        scenario.read_text()
        .replace("loss = 1e-3\n", "")
        .replace('name = "two', 'send_jitter = "0 s"\nname = "two')
    )
    scenario.write_text(text.replace("[[flow]]\n", '[[flow]]\njitter = "0 s"\n'))
    answer = cwndlab("run", str(scenario), "--seeds", "3", "--no-figure")
    assert "3 seeds; deterministic" in answer.stdout, answer.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("in_background", [False, True])
def test_interrupt_keeps_finished_seeds(
    cwndlab: Command, scenario: Path, number: signal.Signals, status: int, in_background: bool
) -> None:
    if in_background and number == signal.SIGINT:
        pytest.skip("a shell lets background commands ignore Ctrl-C")
    line = cwndlab.line("run", str(scenario), "--seeds", "5000", "--threads", "1", "--no-figure")
    process = subprocess.Popen(
        line,
        cwd=cwndlab.folder,
        env=cwndlab.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if in_background else None,
    )
    cache = cwndlab.folder / "cache"
    deadline = time.monotonic() + 60
    while len(list(cache.rglob("*.npz"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == status
    assert "Traceback" not in stderr
    assert "interrupted: " in stderr
    assert "of 5000 runs finished" in stderr
    assert "two flows:" in stdout
    assert (cwndlab.folder / "out" / "two" / "runs.csv").exists()
    again = cwndlab("run", str(scenario), "--seeds", "3", "--no-figure")
    assert "0 new runs, 3 reused" in again.stderr


def test_progress_only_where_someone_watches(cwndlab: Command, scenario: Path) -> None:
    inner, outer = pty.openpty()
    line = cwndlab.line("run", str(scenario), "--seeds", "2", "--json", "--no-figure")
    environment = cwndlab.environment(TERM="xterm-256color")
    process = subprocess.Popen(
        line, cwd=cwndlab.folder, env=environment, stdout=subprocess.PIPE, stderr=outer
    )
    os.close(outer)
    stdout, _ = process.communicate(timeout=60)
    shown = _drain(inner)
    assert "2 runs" in shown
    assert "%" in shown
    json.loads(stdout)
    assert "%" not in cwndlab("run", str(scenario), "--seeds", "2", "--fresh", "--json", "--no-figure").stderr


def _drain(terminal: int) -> str:
    chunks = []
    try:
        while chunk := os.read(terminal, 65536):
            chunks.append(chunk)
    except OSError:
        pass  # how Linux says that the other side has closed
    os.close(terminal)
    return b"".join(chunks).decode(errors="replace")


def test_letters_that_the_font_lacks_are_told_once(cwndlab: Command, scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace('name = "a"', 'name = "日本"'))
    made = cwndlab("run", str(scenario), "--seeds", "1", "--format", "png,pdf")
    assert made.returncode == 0
    assert made.stderr.count("warning: the font of the figures lacks letters") == 1
    assert "Glyph" not in made.stderr
