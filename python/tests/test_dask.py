"""Runs on a Dask cluster: two worker processes of this machine."""

from __future__ import annotations

import importlib
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import cwndlab as cl
from cwndlab.controllers.loading import load
from cwndlab.linux.kernel import Kernel
from cwndlab.results.recording import DistantRecording, Record, Recording
from cwndlab.running import execution, on_dask
from cwndlab.running.needs import Luggage
from cwndlab.running.on import On
from cwndlab.running.on_dask import WAITING, OnDask, client_of
from cwndlab.running.worker import dask_setup, kept
from cwndlab.scenarios.scenario import Scenario
from tests.conftest import SCENARIO, Command
from tests.test_executors import CONTROLLER, assert_same, in_file, traced

PACKAGE = Path(cl.__file__).parent
# It has no types.
distributed: Any = importlib.import_module("distributed")


pytestmark = pytest.mark.usefixtures("own_cache")


def test_a_worker_leaves_standard_output_to_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    dask_setup(None)
    assert sys.stdout is sys.stderr


@pytest.fixture(scope="module")
def cluster() -> Iterator[Executor]:
    on = On.parse("dask", 2)
    assert on is not None
    with on.executor(2) as executor:
        yield executor


def processes(cluster: Executor) -> dict[str, int]:
    """The process of each worker, by its address."""
    found: dict[str, int] = client_of(cluster).run(os.getpid)
    return found


def assert_no_difference(cluster: Executor, source: Any = SCENARIO, **options: Any) -> cl.Result:
    """A cluster and threads of this process give the same to the bit. Returns the result of the cluster."""
    found = cl.run(source, fresh=True, executor=cluster, **options)
    assert_same(found, cl.run(source, fresh=True, **options))
    return found


def test_there_are_two_processes(cluster: Executor) -> None:
    assert len(set(processes(cluster).values()) - {os.getpid()}) == 2


@pytest.mark.parametrize("record", list(Record))
def test_two_flows(cluster: Executor, record: Record) -> None:
    assert_no_difference(cluster, seeds=12, record=record)


def test_a_trace_weights_and_controllers_travel(cluster: Executor, tmp_path: Path) -> None:
    _, scenario = traced(tmp_path)
    learned = cl.run(SCENARIO, seeds=1, overrides={"flow.a.cc": "dqn-cubic"})
    (tmp_path / "w.safetensors").write_bytes(next(iter(learned.weights.values())))
    name = in_file(tmp_path, "goes-to-dask")
    overrides = {
        "flow.a.cc": {"name": "dqn-cubic", "weights": str(tmp_path / "w.safetensors")},
        "flow.b.cc": name,
    }
    assert_no_difference(cluster, scenario, seeds=6, overrides=overrides)


def test_a_controller_travels_with_what_it_imports(cluster: Executor, tmp_path: Path) -> None:
    """A worker gets modules of the same names again and again; the newest replace those before."""
    code = CONTROLLER.format(name="imports", on_ack="self.cwnd_bytes += BYTES")
    for growth in (100, 300, 100):
        (tmp_path / "growth_of_mine.py").write_text(f"BYTES = {growth}\n")
        (tmp_path / "imports.py").write_text(f"from growth_of_mine import BYTES\n{code}")
        load([str(tmp_path / "imports.py")])
        assert_no_difference(cluster, seeds=3, overrides={"flow.a.cc": "imports"})


def test_a_content_leaves_this_process_once(
    cluster: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    content = Luggage.content

    def noted(self: Luggage, sha256: str) -> bytes:
        sent.append(sha256)
        return content(self, sha256)

    monkeypatch.setattr(Luggage, "content", noted)
    _, scenario = traced(tmp_path)
    for seeds in ([1, 2, 3, 4, 5, 6, 7, 8], [9]):
        cl.run(scenario, seeds=seeds, executor=cluster)
    assert len(sent) == 1


def test_short_runs_share_jobs_and_few_jobs_are_submitted_at_once(
    cluster: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[int] = []
    waiting: list[int] = []
    send = OnDask._send

    def noted(self: OnDask, tasks: Any, contents: Any) -> Any:
        jobs.append(len(tasks))
        future = send(self, tasks, contents)
        waiting.append(len(self._futures))
        return future

    monkeypatch.setattr(OnDask, "_send", noted)
    cl.run(SCENARIO, seeds=200, record="none", executor=cluster)
    assert sum(jobs) == 200
    assert len(jobs) < 100
    # Two threads; the last jobs are small, so that neither waits for the other.
    assert max(waiting) <= 2 * (1 + WAITING)
    assert jobs[-1] < max(jobs)


def test_comparisons_and_sweeps(cluster: Executor) -> None:
    compared = cl.compare(SCENARIO, ["cubic", "reno"], flows=["b"], seeds=4, executor=cluster)
    again = cl.compare(SCENARIO, ["cubic", "reno"], flows=["b"], seeds=4, fresh=True)
    assert compared.to_json() == again.to_json()
    over = {"link.0.queue": ["1 bdp", "codel"]}
    swept = cl.sweep(SCENARIO, over, seeds=4, executor=cluster)
    assert swept.to_json() == cl.sweep(SCENARIO, over, seeds=4, fresh=True).to_json()


def test_series_stay_with_the_workers_until_they_are_asked_for(
    cluster: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "simulate", None)
    fetched: list[Any] = []
    run = client_of(cluster).run

    def noted(function: Any, *arguments: Any, **options: Any) -> Any:
        fetched.append(function)
        return run(function, *arguments, **options)

    found = cl.run(SCENARIO, seeds=3, record="all", executor=cluster)
    monkeypatch.setattr(client_of(cluster), "run", noted)
    recordings = [run.recording for run in found.runs]
    assert all(isinstance(each, DistantRecording) for each in recordings)
    # What was not fetched is not kept here either.
    assert found.summary.flow_count == 2
    assert fetched == []
    assert found.runs[1].recording.time_s.size > 0  # type: ignore[union-attr]
    assert found.runs[1].recording.events is not None  # type: ignore[union-attr]
    assert fetched == [kept]
    again = cl.run(SCENARIO, seeds=3, record="all")
    assert [run.reused for run in again.runs] == [False, True, False]
    # A copy needs no cluster.
    copy = pickle.loads(pickle.dumps(found))
    assert type(copy.runs[2].recording) is Recording
    assert copy == found
    assert_same(found, again)


def test_a_worker_is_killed_in_the_middle(cluster: Executor) -> None:
    """What it was doing is done again elsewhere, and the series that it had are made again."""
    scenario = Scenario(SCENARIO.replace("2 s", "20 s").encode(), "<text>")
    seeds = list(range(1, 41))
    before = processes(cluster)
    killed: list[tuple[float, int]] = []

    def kill_one(share: float) -> None:
        if 0.2 < share < 1 and not killed:
            killed.append((share, min(before.values())))
            os.kill(killed[0][1], signal.SIGKILL)

    [found] = execution.execute(
        [scenario], seeds, record=Record.ALL, executor=cluster, fresh=True, watch=kill_one
    )
    assert killed
    assert len(found.runs) == 40
    assert not found.interrupted
    [expected] = execution.execute([scenario], seeds, record=Record.ALL, fresh=True)
    assert_same(found, expected)  # type: ignore[arg-type]
    # Dask starts another in its place.
    assert killed[0][1] not in processes(cluster).values()


def test_series_after_the_end_of_the_cluster() -> None:
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as small,
        distributed.Client(small) as client,
    ):
        found = cl.run(SCENARIO, seeds=2, executor=client.get_executor())
        assert isinstance(found.runs[0].recording, DistantRecording)
    assert_same(found, cl.run(SCENARIO, seeds=2, fresh=True))


@pytest.mark.parametrize(
    ("on_ack", "reason"),
    [
        ("raise KeyError('no such state')", r"breaks-31\.py:\d+: breaks-31\.on_ack: KeyError: 'no such"),
        ("os._exit(1)", "the worker process ended each time that it was tried"),
    ],
)
def test_a_failure_is_told_with_its_seed(
    cluster: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_ack: str, reason: str
) -> None:
    monkeypatch.setattr(client_of(cluster).cluster.scheduler, "allowed_failures", 0)
    name = in_file(tmp_path, f"breaks-{len(on_ack)}", on_ack)
    with pytest.raises(cl.RunFailedError, match=rf"^seed 7 \(flow\.a\.cc={name}\): {reason}"):
        cl.run(SCENARIO, seeds=[7], overrides={"flow.a.cc": name}, executor=cluster)


def test_a_worker_says_whether_it_can_run_linux(cluster: Executor, linux_kernel: Kernel) -> None:
    assert linux_kernel
    client = client_of(cluster)
    address = next(iter(client.nthreads()))
    client.run(os.putenv, "CWNDLAB_LINUX", "", workers=[address])
    client.run(lambda: os.environ.update(CWNDLAB_LINUX="/nowhere"), workers=[address])
    with pytest.raises(
        cl.InputError, match=rf"^worker {address}: backend linux: the kernel has not been built; run: make"
    ):
        cl.run(SCENARIO, seeds=1, backend="linux", executor=cluster)
    client.run(lambda: os.environ.pop("CWNDLAB_LINUX"), workers=[address])
    assert_no_difference(cluster, seeds=2, backend="linux")


@contextmanager
def worker_of(package: Path, scheduler: str) -> Iterator[None]:
    """A worker with this copy of our package."""
    line = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--nthreads", "1", "--no-nanny"]
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    process = subprocess.Popen(
        [*line, "--no-dashboard"], env=environment, cwd=package.parent, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def copied(folder: Path) -> Path:
    """A copy of our package."""
    return shutil.copytree(PACKAGE, folder / "cwndlab", ignore=shutil.ignore_patterns("__pycache__"))


def test_a_worker_without_cwndlab_that_comes_later(tmp_path: Path) -> None:
    (tmp_path / "none" / "cwndlab").mkdir(parents=True)
    (tmp_path / "none" / "cwndlab" / "__init__.py").touch()
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
        worker_of(copied(tmp_path / "same"), cluster.scheduler_address),
    ):
        client.wait_for_workers(1, timeout=60)
        crew = OnDask(client.get_executor(), [Scenario(SCENARIO.encode(), "<text>")])
        with worker_of(tmp_path / "none" / "cwndlab", cluster.scheduler_address):
            client.wait_for_workers(2, timeout=60)
            time.sleep(on_dask.COUNTED_S)
            with pytest.raises(cl.InputError, match="it has no cwndlab"):
                _ = crew.at_once


def test_workers_of_other_builds_are_refused(tmp_path: Path) -> None:
    ours, python, extension, none = (tmp_path / name for name in ("same", "python", "extension", "none"))
    with (copied(python) / "errors.py").open("a") as file:
        file.write("# changed\n")
    with (copied(extension) / "_native.abi3.so").open("ab") as file:
        file.write(b"\0")
    (none / "cwndlab").mkdir(parents=True)
    (none / "cwndlab" / "__init__.py").touch()
    packages = [copied(ours), python / "cwndlab", extension / "cwndlab", none / "cwndlab"]
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
        ExitStack() as workers,
    ):
        for package in packages:
            workers.enter_context(worker_of(package, cluster.scheduler_address))
        client.wait_for_workers(4, timeout=60)
        with pytest.raises(cl.InputError) as refused:
            cl.run(SCENARIO, seeds=1, executor=client.get_executor())
    lines = sorted(line.partition(": ")[2] for line in str(refused.value).splitlines())
    assert [line.partition(" (")[0] for line in lines] == [
        "it has a different build of cwndlab._native",
        "it has no cwndlab, or another version",
        "its Python sources of cwndlab differ",
    ]
    assert all(line.startswith("worker tcp://127.0.0.1:") for line in str(refused.value).splitlines())
    assert lines[0].endswith("install the same build in both")


def test_the_command_makes_the_same_files(cluster: Executor, cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    address = client_of(cluster).scheduler.address
    answers = {
        out: cwndlab("run", "two.toml", "--seeds", "6", "--fresh", "--no-figure", "--out", out, *options)
        for out, options in (("here", []), ("there", ["--on", f"dask:{address}"]))
    }
    assert [each.returncode for each in answers.values()] == [0, 0]
    assert "6 new runs, 0 reused, in " in answers["there"].stderr
    for name in ("result.json", "runs.parquet", "series.parquet", "events.parquet"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


def in_a_session(cwndlab: Command, folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command on a cluster of its own. Its processes get signals together, as at a terminal."""
    return subprocess.Popen(
        cwndlab.line(*words, "--on", "dask"),
        cwd=folder,
        env=cwndlab.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_ctrl_c_keeps_what_is_finished(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO.replace("2 s", "1000 s"))
    line = ["sweep", "two.toml", "--over", "link.0.queue=1 bdp,codel", "--seeds", "50", "--no-figure"]
    process = in_a_session(cwndlab, tmp_path, *line, "--threads", "2")
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "cache").glob("??/*.npz"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        assert process.poll() is None
    # As a terminal does: to the workers, too.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    finished = len(list((tmp_path / "cache").glob("??/*.npz")))
    assert 2 <= finished < 100
    assert f"interrupted: {finished} of 100 runs finished" in errors


@pytest.mark.parametrize("seconds", [0.9, 1.4])
def test_ctrl_c_while_the_cluster_starts(cwndlab: Command, tmp_path: Path, seconds: float) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    process = in_a_session(cwndlab, tmp_path, "run", "two.toml", "--seeds", "5000", "--no-figure")
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted" in errors


def test_what_listens_is_no_scheduler(monkeypatch: pytest.MonkeyPatch, cluster: Executor) -> None:
    monkeypatch.setattr("cwndlab.running.on.CONNECT_S", 0.5)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(cl.CwndlabError, match=r"no scheduler of Dask answers within 0\.5 s"),
        On(f"127.0.0.1:{silent.getsockname()[1]}").executor(None),
    ):
        pass
    worker = next(iter(client_of(cluster).nthreads()))
    with (
        pytest.raises(cl.CwndlabError, match="address of a scheduler, found a worker"),
        On(worker).executor(None),
    ):
        pass


def test_a_client_that_was_closed(cluster: Executor) -> None:
    client = distributed.Client(client_of(cluster).scheduler.address, set_as_default=False)
    executor = client.get_executor()
    client.close()
    with pytest.raises(
        cl.CwndlabError, match="expected a client of Dask that runs, found one that is closed"
    ):
        cl.run(SCENARIO, seeds=1, executor=executor)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on", "ray"], "--on ray: expected dask or dask:ADDRESS"),
        (["--on", "dask:"], "--on dask:: expected dask or dask:ADDRESS"),
        (["--on", "dask:tcp://x:1", "--threads", "2"], "and --threads: the workers of the cluster have"),
        (["--on", "dask:nohost"], "--on dask:nohost: expected dask:HOST:PORT"),
        (["--on", "dask:foo://x:1"], "--on dask:foo://x:1: expected dask:HOST:PORT"),
        (["--on", "dask:x:y"], "--on dask:x:y: expected dask:HOST:PORT"),
        (["--on", "dask:127.0.0.1:99999"], "expected a port from 1 to 65535, found 99999"),
        (["--on", "dask", "--qlog"], "--on and --qlog or --pcap: expected one of the two"),
    ],
)
def test_what_is_no_cluster(cwndlab: Command, tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    answer = cwndlab("run", "two.toml", *words)
    assert answer.returncode == 2
    assert message in answer.stderr


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(cl.InputError, match=r"expected the package distributed.*cwndlab\[dask\]"):
        On.parse("dask", None)
