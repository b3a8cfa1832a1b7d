"""`cwndlab show FILE`: what a trace or a file of delays is like; and links that replay one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab as cl
from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.output.replay import describe
from cwndlab.running.named_files import named_files

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command

# 2 s at 12.032 Mbit/s with half a second of nothing.
TRACE = "".join(f"{ms}\n" for ms in range(1, 2001) if not 500 < ms <= 1000)


def test_a_trace_is_described(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "my.down").write_text(TRACE)
    answer = cwndlab("show", str(tmp_path / "my.down"), "--plot", str(tmp_path / "my.png"))
    assert answer.returncode == 0, answer.stderr
    for words in (
        "(trace): mahimahi's format, 1,500 opportunities of 1504 bytes",
        "length      2 s; a run that is longer begins it again",
        "mean        9.024 Mbit/s",
        "Mbit/s in windows of 100 ms (20):",
        "min 0  p5 0  p25 9.024  p50 12.03",
        "outages of at least 100 ms: 1, 25.1 % of the time; the longest 501 ms, at 500 ms",
        "█████     ██████████",
    ):
        assert words in answer.stdout
    assert (tmp_path / "my.png").read_bytes().startswith(b"\x89PNG")


def test_the_facts_as_json(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text("seconds,Mbit/s\n0,8\n1,0\n1.5,4\n")
    document = json.loads(cwndlab("show", str(tmp_path / "my.csv"), "--json", "--window", "500 ms").stdout)
    assert (document["schema"], document["kind"], document["format"]) == (1, "trace", "csv")
    assert (document["length_s"], document["mean_mbps"], document["window_s"]) == (2, 5, 0.5)
    assert document["rate_mbps"] == {
        "min": 0,
        "p5": pytest.approx(0.6),
        "p25": 3,
        "p50": 6,
        "p75": 8,
        "p95": 8,
        "max": 8,
    }
    assert document["outages"] == [{"at_s": 1, "length_s": 0.5}]
    assert (document["longest_outage_s"], document["outage_share"]) == (0.5, 0.25)


def test_delays_are_described(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("20\n30\n25\n45\n")
    shown = cwndlab("show", str(tmp_path / "delays.txt"), "--delays").stdout
    assert "4 delays, one for each 10 ms" in shown
    assert "mean        30 ms" in shown
    assert "outages" not in shown
    answer = cwndlab("show", str(tmp_path / "delays.txt"))
    assert answer.returncode == 2
    assert (
        "line 3: 25 ms comes after 30 ms: the times must not decrease; if these are delays, add --delays"
        in (answer.stderr)
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.down", None, "none.down: No such file"),
        ("x.down", "1\nx\n", "line 2: expected a whole number of milliseconds, found `x`"),
        ("x.csv", "0,5\n1;2\n", "line 2: expected a comma"),
        ("x.toml", "", "expected a trace, found the name of a scenario; try `cwndlab check"),
        ("empty", "", "it is empty"),
    ],
)
def test_mistakes(cwndlab: Command, tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    answer = cwndlab("show", str(path))
    assert answer.returncode == 2
    assert message in " ".join(answer.stderr.split())
    assert len(answer.stderr.splitlines()) <= 3


@pytest.mark.parametrize("window", ["100", "ms", "0 s", "-1 s", "1 h", "nan s"])
def test_a_window_is_a_time(window: str) -> None:
    with pytest.raises(InputError, match="expected a time from"):
        describe(SHIPPED, "synthetic:lte-down", window)


def test_a_plot_has_a_known_ending(cwndlab: Command, tmp_path: Path) -> None:
    answer = cwndlab("show", "synthetic:lte-down", "--plot", str(tmp_path / "x.gif"))
    assert answer.returncode == 2
    assert "expected a file that ends with .png, .svg or .pdf" in " ".join(answer.stderr.split())


@settings(max_examples=60, deadline=None)
@given(
    content=st.binary(max_size=200) | st.from_regex(r"([0-9]{1,4}([.,][0-9]{1,3})?\n){1,20}").map(str.encode)
)
def test_any_file_is_described_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "trace"
    path.write_bytes(content)
    for delays in (False, True):
        try:
            found = describe(SHIPPED, str(path), "7 ms", delays=delays)
        except InputError:
            continue
        assert all(value >= 0 for value in found.values)
        assert list(found.lines())


LINK = """duration = "2 s"
[[link]]
name = "cell"
trace = { file = "my.down", start = "random" }
delay = { file = "delays.txt" }
[[flow]]
cc = "cubic"
path = ["cell"]
"""


def test_a_run_says_where_its_recordings_begin(tmp_path: Path) -> None:
    (tmp_path / "my.down").write_text(TRACE)
    (tmp_path / "delays.txt").write_text("20\n30\n25\n45\n")
    (tmp_path / "cell.toml").write_text(LINK)
    result = cl.run(tmp_path / "cell.toml", seeds=3)
    starts = result.links["replay_start_s"].to_list()
    assert len(set(starts)) == 3
    assert all(0 <= start < 2 for start in starts)


def test_linux_replays_the_same_recordings_from_the_same_starts(linux_kernel: Kernel, tmp_path: Path) -> None:
    """The links of the Linux backend are the simulator's: both carry the same, and meet the same delays."""
    assert linux_kernel
    (tmp_path / "my.down").write_text(TRACE)
    (tmp_path / "delays.txt").write_text("20\n30\n25\n45\n" * 5)
    (tmp_path / "cell.toml").write_text(LINK.replace('"2 s"', '"6 s"'))
    both = [
        cl.run(tmp_path / "cell.toml", seeds=3, fresh=True, backend=backend) for backend in ("sim", "linux")
    ]
    starts, in_linux = (result.links["replay_start_s"].to_list() for result in both)
    assert starts == in_linux
    assert len(set(starts)) == 3
    for measure, part in (("goodput_mbps", 0.05), ("rtt_min_ms", 0.1)):
        ours, theirs = (result.flows[measure].to_list() for result in both)
        assert theirs == pytest.approx(ours, rel=part)


def test_check_names_the_starts(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "my.down").write_text(TRACE)
    (tmp_path / "delays.txt").write_text("20\n30\n25\n45\n")
    (tmp_path / "cell.toml").write_text(LINK)
    shown = cwndlab("check", str(tmp_path / "cell.toml"), "--set", "link.cell.delay.start=20 ms").stdout
    assert "trace my.down from a random start, delay delays.txt from 20 ms, queue" in shown


def test_a_worker_is_asked_for_the_files_of_a_recording() -> None:
    resolved = {"link": [{"trace": {"file": "a", "sha256": "1", "start": "random"}, "delay": {"file": "b"}}]}
    assert named_files(resolved) == {"a": "1"}
