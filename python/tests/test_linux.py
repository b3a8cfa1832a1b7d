"""The Linux backend. Where no kernel has been built (`make linux`), what needs one is skipped."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
from cwndlab._native import RunToken
from cwndlab.beside.both import run_both
from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError, RunFailedError
from cwndlab.linux import instance, kernel
from cwndlab.linux.backend import MOST_BUFFER, Linux
from cwndlab.results.recording import Record
from cwndlab.scenarios.scenario import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command

ROOT = Path(cl.__file__).parents[2]
REFERENCE = ROOT / "crates/lab/tests/reference/linux.csv"
ONE_FLOW = """\
duration = "{seconds} s"

[[link]]
name = "bottleneck"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "1 bdp"

[[flow]]
name = "a"
cc = "linux:cubic"
path = ["bottleneck"]
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def outcome(text: str, seed: int = 1) -> dict[str, Any]:
    """The outcome of one run."""
    result = cl.run(text, seeds=[seed], backend="linux", record="none", fresh=True)
    found: dict[str, Any] = result.to_json()
    return found


def reference_rows() -> Iterator[Mapping[str, str]]:
    """Single flows of a real kernel, of which the queue alone lost packets, in undisturbed runs."""
    runs: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    with REFERENCE.open() as file:
        for row in csv.DictReader(file):
            runs[row["run"]].append(row)
    for flows in runs.values():
        if len(flows) == 1 and float(flows[0]["loss"]) == 0 and flows[0]["clean"] == "1":
            yield flows[0]


@pytest.mark.parametrize("row", list(reference_rows()), ids=lambda row: row["run"])
def test_it_does_what_a_real_kernel_did(row: Mapping[str, str], linux_kernel: Kernel) -> None:
    """Linux 6.18 on the same path, measured in real time (crates/lab/tests/reference)."""
    assert linux_kernel.image.exists()
    # The emulator counted the packet in service against the queue's limit. The least RTT, and how late
    # 99 % of the packets left the emulator at most, are the measured host's.
    text = f"""\
duration = "{row["duration_s"]} s"
[[link]]
name = "b"
rate = "{row["rate_mbps"]} Mbit/s"
delay = "{float(row["min_rtt_ms"]) / 2} ms"
jitter = "{row["late_p99_us"]} us"
queue = "{int(row["queue_bytes"]) - 1500} B"
[[flow]]
name = "a"
cc = "linux:{row["cc"]}"
path = ["b"]
jitter = "0 s"
"""
    flow = outcome(text)["flows"][0]
    goodput, resent = (flow[name]["mean"] for name in ("goodput_mbps", "retransmitted_packets"))
    assert goodput == pytest.approx(float(row["goodput_unpaused_mbps"]), rel=0.01)
    expected = float(row["retrans_segs"])
    assert abs(resent - expected) <= max(10, 0.05 * expected)


def run_once(linux_kernel: Kernel, text: str, seed: int, *, record: bool = True) -> str:
    """All that a run yields."""
    found = Linux(SHIPPED.module, kernel=linux_kernel).run_seed(
        text.encode(), "x.toml", [], seed, record, RunToken()
    )
    return repr(found)


@pytest.mark.parametrize(
    ("part", "other", "seconds"),
    [
        ("20 Mbit/s", "21 Mbit/s", 5),
        # The kernel's own draws: BBR's after its first PROBE_RTT, when the kernel has seeded itself again.
        ("linux:cubic", "linux:bbr", 13),
        ("1 bdp", "linux:pie", 5),
    ],
)
def test_a_seed_gives_the_same_run_whatever_runs_beside_it(
    linux_kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, other: str, seconds: int
) -> None:
    text = ONE_FLOW.format(seconds=seconds).replace(part, other)
    alone = run_once(linux_kernel, text, 3)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(lambda _: run_once(linux_kernel, text, 3), range(4)))
    assert beside == [alone] * 4
    assert run_once(linux_kernel, text, 4) != alone


def test_results_are_those_of_any_run(linux_kernel: Kernel, tmp_path: Path) -> None:
    assert linux_kernel.version.startswith("6.")
    result = cl.run(ONE_FLOW.format(seconds=3), seeds=2, backend="linux")
    document: dict[str, Any] = result.to_json()
    assert document["manifest"]["backend"] == "linux"
    assert [flow["cc"] for flow in document["flows"]] == ["linux:cubic"]
    assert 15 < document["flows"][0]["goodput_mbps"]["mean"] < 19.4
    assert document["links"][0]["name"] == "bottleneck"
    # The way back is not a link of the scenario.
    assert len(document["links"]) == 1
    for column in ("cwnd_segments", "rtt_ms", "ssthresh_segments", "pacing_rate_mbps"):
        assert result.series(column).height > 100
    assert "--backend linux" in result.command
    result.save(tmp_path)
    assert (tmp_path / "report.html").exists()


def test_finished_runs_are_reused_on_their_own_backend(
    linux_kernel: Kernel, cwndlab: Command, tmp_path: Path
) -> None:
    assert linux_kernel.image.exists()
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=1))
    arguments = ("run", str(file), "--backend", "linux", "--no-figure", "--out", str(tmp_path / "out"))
    first, second = (cwndlab(*arguments, "--seeds", "2") for _ in range(2))
    assert "2 new runs, 0 reused" in first.stderr
    assert "0 new runs, 2 reused" in second.stderr
    other = cwndlab(
        "run", str(file), "--set", "flow.0.cc=cubic", "--no-figure", "--out", str(tmp_path / "sim")
    )
    assert "5 new runs" in other.stderr


def test_the_senders_small_queue_holds_it_back(linux_kernel: Kernel) -> None:
    """TCP small queues: without a report of what has left, the host's own queue would hold whole windows."""
    assert linux_kernel.image.exists()
    text = ONE_FLOW.format(seconds=5).replace(
        'path = ["bottleneck"]', 'path = ["bottleneck"]\naccess = { rate = "10 Mbit/s", delay = "5 ms" }'
    )
    own = next(link for link in outcome(text)["links"] if link["name"] == "a.access")
    assert own["utilisation"]["mean"] > 0.9
    assert own["queue_delay_p95_ms"]["mean"] < 15
    assert own["dropped_packets"]["mean"] == 0


def broken(program: str, built_in: Path) -> Linux:
    """The backend with another program in the place of the kernel."""
    folder = built_in / "kernel"
    folder.mkdir()
    image = folder / kernel.IMAGE
    image.write_text(f"#!/bin/sh\n{program}\n")
    image.chmod(0o755)
    return Linux(SHIPPED.module, kernel=kernel.Kernel(folder, {"sha256": "0" * 64, "version": "0"}))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("echo 'Kernel panic - not syncing: gone' >&2; exit 134", "it ended with status 134"),
        ("echo waiting; exec sleep 100", "it did not go on for"),
    ],
)
def test_a_kernel_that_fails_is_one_failed_run_with_its_console(
    program: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance, "LIMIT_S", 0.3)
    scenario = cl.scenarios.scenario.Scenario(ONE_FLOW.format(seconds=1).encode(), "x.toml")
    scenario = replace(scenario, engine=broken(program, tmp_path))
    with pytest.raises(RunFailedError) as failure:
        cl.running.execution.execute([scenario], [1])
    assert reason in str(failure.value)
    assert ("Kernel panic" if "134" in reason else "waiting") in str(failure.value)


def kernels() -> set[str]:
    """The running kernels."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"time-travel=inf-cpu" in line.read_bytes():
                found.add(line.parent.name)
    return found


def test_a_killed_front_end_leaves_nothing_behind(linux_kernel: Kernel, tmp_path: Path) -> None:
    """No kernel, and its folder only until the next run."""
    assert linux_kernel.image.exists()
    before = kernels()
    text = ONE_FLOW.format(seconds=86400)
    program = f"import cwndlab as cl; cl.run({text!r}, seeds=1, backend='linux')"
    places = {
        "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
        "CWNDLAB_LINUX": str(linux_kernel.folder.parents[1]),
    }
    with subprocess.Popen([sys.executable, "-c", program], env={**os.environ, **places}) as process:
        end = time.monotonic() + 30
        while not kernels() - before:
            assert time.monotonic() < end
            time.sleep(0.05)
        started = kernels() - before
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 30
    while kernels() & started:
        assert time.monotonic() < end
        time.sleep(0.05)
    program = program.replace("86400", "1")
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **places}, check=True)
    assert not list(tmp_path.glob("cwndlab-linux-*"))
    assert not (tmp_path / ".uml").exists()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("flow.0.cc", "linux:cubik", "unknown algorithm `linux:cubik`; did you mean `linux:cubic`"),
        ("profile", "ns3", "expected linux on the Linux backend"),
        (
            "tcp.delayed_ack",
            "4",
            "Linux acknowledges every segment or every second one; expected 1 or 2, found 4",
        ),
        ("tcp.quick_ack", "false", "the Linux backend cannot change this; expected true, found false"),
        ("send_jitter", "1 ms", "take no time for an ACK"),
        ("tcp.clock_least", "1 ms", "the Linux backend cannot change this"),
        ("tcp.mtu", "600", "the Linux backend cannot change this; expected unlimited, found 600"),
        ("tcp.header", "60", "Linux sends 52 bytes with timestamps, found 60"),
    ],
)
def test_what_linux_cannot_serve_is_an_error_that_names_the_key(key: str, value: str, message: str) -> None:
    scenario = cl.scenarios.scenario.Scenario(ONE_FLOW.format(seconds=1).encode(), "x.toml", ((key, value),))
    with pytest.raises(ScenarioError) as error:
        replace(scenario, engine=Linux(SHIPPED.module)).validate()
    assert message in str(error.value)
    assert key.rpartition(".")[2] in str(error.value)


def test_the_kernels_algorithms_are_refused_in_the_simulator(cwndlab: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=1))
    answer = cwndlab("run", str(file))
    assert answer.returncode == 2
    assert "`linux:cubic` is code of the Linux kernel; run the scenario with --backend linux" in answer.stderr


def test_without_a_kernel_it_says_how_to_get_one(cwndlab: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=1))
    answer = cwndlab("run", str(file), "--backend", "linux", CWNDLAB_LINUX=str(tmp_path))
    assert answer.returncode == 2
    assert "the kernel has not been built; run: make linux" in answer.stderr
    assert "build it with: make linux" in cwndlab("linux", CWNDLAB_LINUX=str(tmp_path)).stdout
    document = json.loads(cwndlab("linux", "--json", CWNDLAB_LINUX=str(tmp_path)).stdout)
    assert document["kernel"] is None


@pytest.mark.parametrize(
    ("line", "key", "message"),
    [
        ('stop = "500 ms"', "flow.0.stop", "Linux sends up to 16 kB after the stop"),
        ("tcp = { receive_buffer = 100000 }", "flow.0.tcp.receive_buffer", "the window is smaller"),
    ],
)
def test_what_linux_serves_only_nearly_is_a_warning(line: str, key: str, message: str) -> None:
    text = ONE_FLOW.format(seconds=1) + line + "\n"
    scenario = cl.scenarios.scenario.Scenario(text.encode(), "x.toml")
    [problem] = replace(scenario, engine=Linux(SHIPPED.module)).problems()
    assert (problem.severity, problem.line, problem.key) == ("warning", 13, key)
    assert message in problem.message
    assert not scenario.overridden(("flow.0.cc", "cubic")).problems()


def test_every_setting_is_checked_where_it_stands() -> None:
    text = ONE_FLOW.format(seconds=1) + "tcp = { undo = false }\n"
    scenario = cl.scenarios.scenario.Scenario(text.encode(), "x.toml")
    [problem] = replace(scenario, engine=Linux(SHIPPED.module)).problems()
    assert (problem.line, problem.key) == (13, "flow.0.tcp.undo")
    assert "expected true, found false" in problem.message


def test_limits_are_the_same_in_every_language() -> None:
    crates = ROOT / "crates"
    [parts_in_c] = re.findall(r"#define MOST_PARTS (.+)", (crates / "linux/kernel/device.c").read_text())
    [parts] = re.findall(r"MOST_PARTS: usize = (.+);", (crates / "lab/src/scenario/linux.rs").read_text())
    assert parts_in_c == parts
    [buffer_in_c] = re.findall(r"#define MOST_BUFFER \((.+)\)", (crates / "linux/kernel/hosts.c").read_text())
    assert buffer_in_c == f"{MOST_BUFFER >> 20} << 20"


def test_a_trace_is_used_up_on_both_backends(linux_kernel: Kernel) -> None:
    """Several opportunities have the same time: none is missed a nanosecond later."""
    assert linux_kernel.image.exists()
    text = ONE_FLOW.format(seconds=20).replace(
        'rate = "20 Mbit/s"\ndelay = "10 ms"\nqueue = "1 bdp"',
        'trace = "synthetic:lte-down"\ndelay = "10 ms"\nqueue = "250 kB"',
    )
    scenario = cl.scenarios.scenario.Scenario(text.encode(), "x.toml")
    [both] = run_both([scenario], [1, 2])
    used = [result.runs[0].outcome["links"][0]["utilisation"] for result in (both.sim, both.linux)]
    assert min(used) > 0.95
    assert used[0] == pytest.approx(used[1], abs=0.02)
    assert all(each.difference.n == 2 for each in both.differences)


def test_a_check_for_both_backends_needs_algorithms_that_both_have(cwndlab: Command, tmp_path: Path) -> None:
    """A check needs no kernel."""
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=1))
    command = ("check", str(file), "--backend", "both")
    assert ": ok: " in cwndlab(*command).stdout
    refused = cwndlab(*command, "--set", "flow.a.cc=linux:htcp")
    assert refused.returncode == 2
    assert "flow.0.cc: expected an algorithm of both backends" in refused.stderr


def test_run_shows_both_backends_side_by_side(linux_kernel: Kernel, cwndlab: Command, tmp_path: Path) -> None:
    assert linux_kernel.image.exists()
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=3))
    out = tmp_path / "both"
    arguments = ("run", str(file), "--backend", "both", "--seeds", "3", "--no-figure", "--out", str(out))
    answer = cwndlab(*arguments)
    row = r"a +goodput \(Mbit/s\) +[\d.]+ +[\d.]+ +\S+ % \[\S+, \S+\]\n"
    assert re.search(row, answer.stdout), answer
    document = json.loads((out / "differences.json").read_text())
    assert document["linux"]["manifest"]["backend"] == "linux"
    assert document["sim"]["flows"][0]["cc"] == "cubic"
    [goodput] = [each for each in document["differences"] if each["measure"] == "goodput_mbps"]
    assert goodput["linux"] - goodput["sim"] == pytest.approx(goodput["difference"])
    assert goodput["ci95"][0] <= goodput["difference"] <= goodput["ci95"][1]
    assert (out / "sim" / "report.html").exists()
    assert (out / "linux" / "report.html").exists()


def test_comparisons_and_sweeps_show_each_variant_on_both(
    linux_kernel: Kernel, cwndlab: Command, tmp_path: Path
) -> None:
    assert linux_kernel.image.exists()
    file = tmp_path / "one.toml"
    file.write_text(ONE_FLOW.format(seconds=1))
    common = ("--backend", "both", "--seeds", "2", "--no-figure", "--json", "--out", str(tmp_path / "both"))
    compared = cwndlab("compare", str(file), "--cc", "linux:reno,linux:vegas", *common)
    document = json.loads(compared.stdout)
    assert {each["variant"] for each in document["differences"]} == {"linux:reno", "linux:vegas"}
    assert [each["cc"] for each in document["sim"]["variants"]] == ["reno", "vegas"]
    assert [each["cc"] for each in document["linux"]["variants"]] == ["linux:reno", "linux:vegas"]
    assert document == json.loads((tmp_path / "both" / "differences.json").read_text())
    over = ("--over", "link.bottleneck.rate=5 Mbit/s,9 Mbit/s")
    refused = cwndlab("sweep", str(file), *over, *common)
    assert "both: expected no result or one of the same request, found the result of `" in refused.stderr
    swept = cwndlab("sweep", str(file), *over, *common, "--replace")
    differences = json.loads(swept.stdout)["differences"]
    goodputs = {each["variant"]: each["sim"] for each in differences if each["measure"] == "goodput_mbps"}
    assert goodputs["link.bottleneck.rate=5 Mbit/s"] < 5 < goodputs["link.bottleneck.rate=9 Mbit/s"] < 9
    own = json.loads(cwndlab("compare", str(file), "--cc", "linux:cubic,dbac", *common, "--replace").stdout)
    assert [each["cc"] for each in own["sim"]["variants"]] == ["cubic", "dbac"]
    assert [each["cc"] for each in own["linux"]["variants"]] == ["linux:cubic", "dbac"]
    unknown = cwndlab("compare", str(file), "--cc", "linux:reno,linux:cdg", *common)
    assert "expected an algorithm of both backends" in unknown.stderr


def _without_kernel(cache: str) -> None:
    os.environ["CWNDLAB_LINUX"] = cache


def test_workers_serve_it_or_say_that_they_cannot(linux_kernel: Kernel, tmp_path: Path) -> None:
    assert linux_kernel.image.exists()
    options: Any = {"seeds": 2, "backend": "linux", "fresh": True}
    here = cl.run(ONE_FLOW.format(seconds=1), **options)
    spawn = get_context("spawn")
    with ProcessPoolExecutor(2, spawn) as pool:
        elsewhere = cl.run(ONE_FLOW.format(seconds=1), **options, executor=pool)
    assert [run.outcome for run in elsewhere.runs] == [run.outcome for run in here.runs]
    with (
        ProcessPoolExecutor(1, spawn, initializer=_without_kernel, initargs=(str(tmp_path),)) as pool,
        pytest.raises(InputError, match="the worker: backend linux: the kernel has not been built"),
    ):
        cl.run(ONE_FLOW.format(seconds=1), **options, executor=pool)


def test_a_flow_that_stops_is_measured_until_then(linux_kernel: Kernel) -> None:
    """It sends little after its stop, and the rest of the run does not dilute its goodput."""
    assert linux_kernel.image.exists()
    text = ONE_FLOW.format(seconds=20).replace('cc = "linux:cubic"', 'cc = "linux:cubic"\nstop = "5 s"')
    [both] = run_both([cl.scenarios.scenario.Scenario(text.encode(), "x.toml")], [1, 2])
    for result in (both.sim, both.linux):
        for run in result.runs:
            assert 17 < run.outcome["flows"][0]["goodput_mbps"] < 19.5


def test_without_window_tuning_the_window_is_the_whole_buffer(linux_kernel: Kernel) -> None:
    """On a long fat path, a window that stays at its first 64 kB would allow 2.6 Mbit/s."""
    assert linux_kernel.image.exists()
    text = ONE_FLOW.format(seconds=10).replace('delay = "10 ms"', 'delay = "100 ms"')
    flow = outcome(text + "tcp = { window_tuning = false }\n")["flows"][0]
    assert flow["goodput_mbps"]["mean"] > 10


ARRIVING = """
[[flow]]
name = "short"
cc = "linux:cubic"
path = ["bottleneck"]
start = "1 s"
arrivals = { per_second = 20, size = { kind = "pareto", mean = "30 kB" } }
"""


def test_the_same_flows_arrive_on_both_backends(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    text = 'warmup = "2 s"\n' + ONE_FLOW.format(seconds=12) + ARRIVING
    [both] = run_both([cl.scenarios.scenario.Scenario(text.encode(), "x.toml")], [1, 2])
    for in_sim, in_linux in zip(both.sim.runs, both.linux.runs, strict=True):
        [sim], [linux] = in_sim.outcome["groups"], in_linux.outcome["groups"]
        assert linux["arrived"] == sim["arrived"] > 150
        assert abs(linux["completed"] - sim["completed"]) <= 5
        assert linux["goodput_mbps"] == pytest.approx(sim["goodput_mbps"], rel=0.1)
        assert linux["completion_p50_ms"] == pytest.approx(sim["completion_p50_ms"], rel=0.2)
        assert linux["completion_p50_ms"] <= linux["completion_p95_ms"] <= linux["completion_p99_ms"]
        # Those that arrive are counted together, not shown one by one.
        assert [flow["name"] for flow in in_linux.outcome["flows"]] == ["a"]


def test_more_transfers_than_hosts_take_turns(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    many = 'cc = "linux:reno"\narrivals = { per_second = 900, size = "2 kB" }\n'
    text = ONE_FLOW.format(seconds=11) + ARRIVING.partition("cc =")[0] + 'path = ["bottleneck"]\n' + many
    [both] = run_both([cl.scenarios.scenario.Scenario(text.encode(), "x.toml")], [1])
    [sim], [linux] = (result.runs[0].outcome["groups"] for result in (both.sim, both.linux))
    assert linux["arrived"] == sim["arrived"] > 8192
    assert abs(linux["completed"] - sim["completed"]) <= 100
    assert linux["goodput_mbps"] == pytest.approx(sim["goodput_mbps"], rel=0.02)
    # At most 1024 at once.
    alone = text.partition("[[flow]]")[0] + text[text.rindex("[[flow]]") :]
    dead = 'rate = "20 Mbit/s"\nup = [{ at = "0 s", value = false }]'
    for link in ('rate = "1 Mbit/s"', dead):
        slow = alone.replace('rate = "20 Mbit/s"', link)
        with pytest.raises(RunFailedError, match="failed: expected at most 1024 transfers of `short`"):
            outcome(slow)


def _first_windows(number: int, **options: Any) -> list[int]:
    """Return the windows at which the first round trips end, with ACKs of at most this many segments."""
    text = ONE_FLOW.format(seconds=1).replace("20 Mbit/s", "1 Gbit/s").replace("10 ms", "50 ms")
    overrides = {"tcp.delayed_ack": number} | options.pop("overrides", {})
    run = cl.run(text, seeds=1, overrides=overrides, **options).runs[0]
    assert run.recording is not None
    [table] = run.recording.of("flow")
    windows = table.columns["cwnd_segments"]
    return list(dict.fromkeys(int(each) for each in windows if each == each))[:5]


def test_every_segment_can_be_acknowledged(linux_kernel: Kernel) -> None:
    """Slow start doubles the window in each round trip then; with delayed ACKs the last one comes late."""
    assert linux_kernel.image.exists()
    simulated = {"overrides": {"flow.0.cc": "cubic", "send_jitter": "0 s"}}
    assert _first_windows(1, backend="linux") == _first_windows(1, **simulated) == [10, 20, 40, 80, 160]
    assert _first_windows(2, backend="linux") == _first_windows(2, **simulated) == [10, 20, 39, 40, 78]


def test_a_long_recording_is_thinned_as_in_the_simulator(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    text = 'record = { interval = "1 ms" }\n' + ONE_FLOW.format(seconds=15)
    [both] = run_both([cl.scenarios.scenario.Scenario(text.encode(), "x.toml")], [1], record=Record.FIRST)
    sim, linux = (result.runs[0].recording for result in (both.sim, both.linux))
    assert sim is not None
    assert linux is not None
    # 10,001 samples are kept at most, so every other one is dropped once.
    assert len(linux.time_s) == len(sim.time_s) == 7501
    assert list(linux.time_s) == pytest.approx(list(sim.time_s))
    means = [fmean(each.of("flow")[0].columns["goodput_mbps"][100:]) for each in (sim, linux)]
    assert means[1] == pytest.approx(means[0], rel=0.02)
    assert means[0] == pytest.approx(both.sim.runs[0].outcome["flows"][0]["goodput_mbps"], rel=0.02)
