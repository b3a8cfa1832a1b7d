"""Runs by executors of the caller's: processes above all."""

from __future__ import annotations

import importlib
import itertools
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cwndlab as cl
from cwndlab.controllers.loading import load
from cwndlab.errors import CwndlabError
from cwndlab.results.recording import Record
from cwndlab.running import asked, elsewhere, execution
from cwndlab.running.build import Build
from cwndlab.running.cache import Cache
from cwndlab.running.needs import Luggage
from cwndlab.scenarios import scenario as scenarios
from tests.conftest import SCENARIO
from tests.same import assert_detail_is, assert_recording_is

CONTROLLER = """
import os
import cwndlab as cl

@cl.controller("{name}")
class Mine:
    def __init__(self, setup):
        self.cwnd_bytes = 10 * setup.mss_bytes
        self.random = setup.random

    def on_ack(self, ack):
        {on_ack}

    def on_event(self, event):
        self.cwnd_bytes = 4 * event.mss_bytes
"""
GROW = "self.cwnd_bytes += self.random.below(2) * ack.acked_bytes"


NEW = itertools.count()


class Inline(Executor):
    """Runs what it is given in a thread, after a journey through pickle."""

    def __init__(self, on_the_way: Callable[[], object] = lambda: None) -> None:
        self.submitted = 0
        self._on_the_way = on_the_way
        self._threads = ThreadPoolExecutor(1)

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        assert not options
        self.submitted += 1
        packed = pickle.dumps((function, arguments))
        return self._threads.submit(self._run, packed)

    def _run(self, packed: bytes) -> Any:
        self._on_the_way()
        function, arguments = pickle.loads(packed)
        return pickle.loads(pickle.dumps(function(*arguments)))


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


def in_file(folder: Path, name: str, on_ack: str = GROW) -> str:
    """Write a controller into a file, load that, and give its name."""
    file = folder / f"{name}.py"
    file.write_text(CONTROLLER.format(name=name, on_ack=on_ack))
    load([str(file)])
    return name


def assert_same(found: cl.Result, expected: cl.Result) -> None:
    assert [run.seed for run in found.runs] == [run.seed for run in expected.runs]
    for one, other in zip(found.runs, expected.runs, strict=True):
        assert one.outcome == other.outcome
        assert_detail_is(one.detail, other.detail)
        assert one.detail.weights == other.detail.weights
        assert (one.recording is None) == (other.recording is None)
        if one.recording is not None and other.recording is not None:
            assert_recording_is(one.recording, other.recording)


def assert_no_difference(processes: Executor, source: Any = SCENARIO, **options: Any) -> None:
    """Processes and threads measure the same to the bit."""
    elsewhere = cl.run(source, seeds=3, fresh=True, executor=processes, **options)
    assert not any(run.reused for run in elsewhere.runs)
    assert_same(elsewhere, cl.run(source, seeds=3, fresh=True, **options))


@pytest.mark.parametrize("record", list(Record))
def test_two_flows(processes: Executor, record: Record) -> None:
    assert_no_difference(processes, record=record)


def test_what_flows_have_learned_comes_back(processes: Executor) -> None:
    assert_no_difference(processes, overrides={"flow.a.cc": "dqn-cubic"})


def test_a_controller_in_a_file(processes: Executor, tmp_path: Path) -> None:
    name = in_file(tmp_path, "file-travels")
    assert_no_difference(processes, overrides={"flow.a.cc": name, "flow.b.cc": name})


def test_a_controller_in_an_imported_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "module_travels.py").write_text(CONTROLLER.format(name="module-travels", on_ack=GROW))
    importlib.import_module("module_travels")
    # These begin now, with this process's path.
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        assert_no_difference(processes, overrides={"flow.a.cc": "module-travels"})


def test_a_controller_that_was_changed_and_loaded_again(processes: Executor, tmp_path: Path) -> None:
    for growth in (GROW, "self.cwnd_bytes += 100", GROW):
        name = in_file(tmp_path, "changes", growth)
        assert_no_difference(processes, overrides={"flow.a.cc": name})


def test_a_trace(processes: Executor, tmp_path: Path) -> None:
    assert_no_difference(processes, traced(tmp_path)[1])
    # By its whole path, and as an override.
    trace = str(tmp_path / "my.trace")
    assert_no_difference(processes, overrides={"link.0.back.trace": trace})


def test_weights_in_a_file(processes: Executor, tmp_path: Path) -> None:
    learned = cl.run(SCENARIO, seeds=1, overrides={"flow.a.cc": "dqn-cubic"})
    (tmp_path / "w.safetensors").write_bytes(next(iter(learned.weights.values())))
    text = SCENARIO.replace('cc = "cubic"', 'cc = { name = "dqn-cubic", weights = "w.safetensors" }')
    (tmp_path / "learned.toml").write_text(text)
    assert_no_difference(processes, tmp_path / "learned.toml")


def test_comparisons_and_sweeps(processes: Executor) -> None:
    compared = cl.compare(SCENARIO, ["cubic", "reno"], flows=["b"], seeds=2, executor=processes)
    again = cl.compare(SCENARIO, ["cubic", "reno"], flows=["b"], seeds=2, fresh=True)
    assert compared.to_json() == again.to_json()
    over = {"link.0.queue": ["1 bdp", "codel"]}
    swept = cl.sweep(SCENARIO, over, seeds=2, executor=processes)
    assert swept.to_json() == cl.sweep(SCENARIO, over, seeds=2, fresh=True).to_json()


def test_only_the_caller_reads_and_writes_kept_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    users = set()
    for method in ("load", "save"):
        original = getattr(Cache, method)

        def noted(*arguments: Any, original: Any = original, **options: Any) -> Any:
            users.add(threading.current_thread())
            return original(*arguments, **options)

        monkeypatch.setattr(Cache, method, noted)
    executor = Inline()
    first = cl.run(SCENARIO, seeds=3, executor=executor)
    assert executor.submitted == 3
    again = cl.run(SCENARIO, seeds=4, executor=executor)
    assert executor.submitted == 4
    assert [run.reused for run in again.runs] == [True, True, True, False]
    assert_same(cl.run(SCENARIO, seeds=3), first)
    assert threading.main_thread() in users
    assert [run.reused for run in cl.run(SCENARIO, seeds=4).runs] == [True] * 4


def test_only_the_caller_writes_kept_runs_of_processes(tmp_path: Path, processes: Executor) -> None:
    cl.run(SCENARIO, seeds=3, executor=processes)
    assert len(list((tmp_path / "cache").glob("??/*.npz"))) == 3
    assert all(run.reused for run in cl.run(SCENARIO, seeds=3).runs)


def needing(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Let jobs ask for something else."""
    of = Luggage.of

    def changed(wanted: Any) -> Luggage:
        luggage = of(wanted)
        needs = {scenario: replace(each, **changes) for scenario, each in luggage.needs.items()}
        return replace(luggage, needs=needs)

    monkeypatch.setattr(Luggage, "of", changed)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            Build("0.0.1", Build.here().sources_sha256),
            r"it has cwndlab \S+, the caller 0\.0\.1; install the same",
        ),
        (
            Build(Build.here().version, "0" * 64),
            r"its Python sources of cwndlab differ \(\w{12}, the caller has 0{12}\); install the same",
        ),
    ],
)
def test_another_build_of_our_python_is_refused(
    processes: Executor, monkeypatch: pytest.MonkeyPatch, build: Build, message: str
) -> None:
    monkeypatch.setattr(Build, "here", lambda: build)
    with pytest.raises(cl.InputError, match=f"^the worker: {message}"):
        cl.run(SCENARIO, seeds=3, executor=processes)


def test_another_build_of_the_engine_is_refused(processes: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    needing(monkeypatch, engine_sha256="0")
    with pytest.raises(
        cl.InputError,
        match=r"^the worker: it has a different build of cwndlab\._native \(\w{12}, the caller has 0\)",
    ):
        cl.run(SCENARIO, seeds=3, executor=processes)


def test_an_engine_that_the_worker_has_not_is_refused(
    processes: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    needing(monkeypatch, engine="gentle._native")
    with pytest.raises(cl.InputError, match=r"^the worker: gentle: cannot be imported here"):
        cl.run(SCENARIO, seeds=3, executor=processes)


def test_other_code_of_a_controller_is_refused(
    processes: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = in_file(tmp_path, "differs")
    experiment = scenarios.Scenario(SCENARIO.encode(), "<text>", (("flow.a.cc", name),))
    [needed] = Luggage.of([experiment]).needs[experiment].controllers
    needing(monkeypatch, controllers=(replace(needed, sha256="0"),))
    with pytest.raises(
        cl.InputError, match=r"^differs: the worker has different code from the caller: .* Python"
    ):
        cl.run(SCENARIO, seeds=1, overrides={"flow.a.cc": name}, executor=processes)


def traced(folder: Path) -> tuple[Path, Path]:
    """Write a scenario with a trace that no worker has yet, and give both files."""
    trace, scenario = folder / "my.trace", folder / "traced.toml"
    trace.write_text("\n".join(str(3 * at + next(NEW)) for at in range(1, 500)))
    scenario.write_text(SCENARIO.replace('rate = "10 Mbit/s"', 'trace = "my.trace"'))
    return trace, scenario


@pytest.mark.parametrize("change", [lambda trace: trace.write_text("1\n2\n"), lambda trace: trace.unlink()])
def test_a_trace_travels_whatever_the_worker_has_there(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    trace, scenario = traced(tmp_path)
    expected = cl.run(scenario, seeds=1, fresh=True)
    journeys = itertools.count()
    # The worker first says that it lacks the trace.
    executor = Inline(lambda: change(trace) if next(journeys) else None)
    assert_same(cl.run(scenario, seeds=1, fresh=True, executor=executor), expected)
    assert executor.submitted == 2


def test_a_trace_with_the_name_of_something_else_is_not_sent(tmp_path: Path) -> None:
    trace, scenario = traced(tmp_path)
    trace.rename(tmp_path / "reno")
    scenario.write_text(scenario.read_text().replace("my.trace", "reno"))
    with pytest.raises(cl.InputError, match=r"^reno: cannot be sent: one has the name of something else"):
        cl.run(scenario, seeds=1, executor=Inline())


def test_a_trace_that_has_changed_is_not_sent(tmp_path: Path) -> None:
    trace, scenario = traced(tmp_path)
    with pytest.raises(cl.InputError, match=r"^my.trace: this file has changed since the scenario was read"):
        cl.run(scenario, seeds=1, executor=Inline(lambda: trace.write_text("1\n2\n")))


class Typed:
    """Registered by a test, which no worker loads."""

    def __init__(self, setup: cl.Setup) -> None:
        self.cwnd_bytes = 10 * setup.mss_bytes

    def on_ack(self, ack: cl.Ack) -> None: ...
    def on_event(self, event: cl.Event) -> None: ...


def test_a_controller_that_cannot_travel_is_refused_before_anything_runs(tmp_path: Path) -> None:
    executor = Inline()

    def refused(name: str, reason: str) -> None:
        with pytest.raises(cl.InputError, match=f"^{name}: a worker cannot load this controller: {reason}"):
            cl.compare(SCENARIO, ["cubic", name], seeds=1, executor=executor)

    cl.controller("typed")(Typed)
    refused("typed", "it is defined in a script or at a prompt; put it into its own file")
    exec(CONTROLLER.format(name="at-a-prompt", on_ack="pass"), {})
    refused("at-a-prompt", "it is defined in a script or at a prompt")
    refused(in_file(tmp_path, "evaluates", "eval('1')"), "its code cannot be hashed")
    assert executor.submitted == 0


def test_a_thread_pool_of_the_caller_shares_all_of_this_process() -> None:
    exec(CONTROLLER.format(name="in-a-thread", on_ack="pass"), {})
    with ThreadPoolExecutor(2) as executor:
        for _ in range(2):
            result = cl.run(SCENARIO, seeds=3, overrides={"flow.a.cc": "in-a-thread"}, executor=executor)
            assert len(result.runs) == 3


@pytest.mark.parametrize(
    ("on_ack", "reason"),
    [
        ("raise KeyError('no such state')", r".*KeyError: 'no such state'"),
        ("os._exit(1)", "A process in the process pool was terminated abruptly"),
    ],
)
def test_a_failure_is_told_with_its_seed(tmp_path: Path, on_ack: str, reason: str) -> None:
    name = in_file(tmp_path, f"fails-{len(on_ack)}", on_ack)
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.raises(cl.RunFailedError, match=rf"^seed 7 \(flow\.a\.cc={name}\): {reason}") as caught,
    ):
        cl.run(SCENARIO, seeds=[7], overrides={"flow.a.cc": name}, executor=executor)
    assert caught.value.seed == 7


def test_an_error_of_the_worker_itself_is_a_failure() -> None:
    def break_down() -> None:
        raise LookupError("no room")

    with pytest.raises(cl.RunFailedError, match=r"^seed 1: LookupError: no room"):
        cl.run(SCENARIO, seeds=1, executor=Inline(break_down))


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_an_executor_that_is_closed(kind: Callable[[int], Executor]) -> None:
    executor = kind(1)
    executor.shutdown()
    with pytest.raises(CwndlabError, match=r"^the executor accepts no run: cannot schedule"):
        cl.run(SCENARIO, seeds=1, executor=executor)


def test_what_is_no_executor() -> None:
    wrong: list[Any] = [2, ThreadPoolExecutor, SimpleNamespace(submit=5)]
    for executor in wrong:
        with pytest.raises(cl.InputError, match=r"^executor=.*: expected an executor of concurrent.futures"):
            cl.run(SCENARIO, executor=executor)
    with pytest.raises(cl.InputError, match=r"^threads and executor: expected one of the two"):
        cl.run(SCENARIO, threads=2, executor=Inline())


class Answering:
    """Answers every job with the same."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def submit(self, *_: Any) -> Any:
        return self._future


def answered(answer: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(answer)
    return future


@pytest.mark.parametrize(
    ("future", "message"),
    [
        (None, "expected a future from submit, found None"),
        (answered(None), "expected the run of seed 1, found None"),
        (answered({"runs": []}), r"expected the run of seed 1, found {'runs': \[\]}"),
        (answered(b"1" * 1000), "expected the run of seed 1, found b'1{38}$"),
    ],
)
def test_what_is_no_answer(future: Any, message: str) -> None:
    executor: Any = Answering(future)
    with pytest.raises(CwndlabError, match=f"^the executor: {message}"):
        cl.run(SCENARIO, seeds=1, executor=executor)


class Repeating(Inline):
    """Answers every job with what it answered first."""

    def __init__(self, *, in_one_future: bool) -> None:
        super().__init__()
        self._first: Future[Any] | None = None
        self._in_one_future = in_one_future

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        if self._first is None:
            self._first = super().submit(function, *arguments, **options)
        return self._first if self._in_one_future else answered(self._first.result())


@pytest.mark.parametrize(
    ("in_one_future", "message"),
    [
        (False, "expected the run of seed 2, found the answer to another job"),
        (True, "expected a future for each run, found the same one twice"),
    ],
)
def test_the_run_of_another_seed_is_not_kept(in_one_future: bool, message: str) -> None:
    with pytest.raises(CwndlabError, match=f"^the executor: {message}$"):
        cl.run(SCENARIO, seeds=3, executor=Repeating(in_one_future=in_one_future), fresh=True)
    measured = [run.outcome for run in cl.run(SCENARIO, seeds=3).runs]
    assert measured == [run.outcome for run in cl.run(SCENARIO, seeds=3, fresh=True).runs]
    assert measured[0] != measured[1]


class Job:
    """Answers only when it is asked, as a job of submitit."""

    def __init__(self, future: Future[Any]) -> None:
        self.result, self.done = future.result, future.done
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Batches:
    """Has jobs in place of futures, and is no executor by its type, as those of submitit."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self._inline = Inline()

    def submit(self, function: Any, /, *arguments: Any) -> Any:
        self.jobs.append(Job(self._inline.submit(function, *arguments)))
        return self.jobs[-1]


def test_jobs_that_have_to_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "EVERY_S", 0.01)
    batches: Any = Batches()
    _, scenario = traced(tmp_path)
    found = cl.run(scenario, seeds=3, executor=batches)
    assert len(batches.jobs) > 3
    assert_same(cl.run(scenario, seeds=3, fresh=True), found)
    name = in_file(tmp_path, "breaks-in-a-batch", "raise KeyError('no such state')")
    with pytest.raises(cl.RunFailedError, match=r"^seed \d \(flow\.a\.cc=breaks-in-a-batch\): .*KeyError"):
        cl.run(SCENARIO, seeds=50, overrides={"flow.a.cc": name}, executor=batches)


def test_jobs_that_were_not_answered_are_cancelled() -> None:
    jobs, job = asked.Asked(), Job(Future())
    future = jobs.future(job)
    jobs.poll()
    jobs.cancel()
    assert job.cancelled
    assert future.cancelled()


class Counted(Inline):
    """Notes how many runs are in it at most."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: set[Future[Any]] = set()
        self.most = 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        future: Future[Any] = super().submit(function, *arguments, **options)
        self.inside.add(future)
        future.add_done_callback(self.inside.discard)
        self.most = max(self.most, len(self.inside))
        return future


def test_few_runs_are_submitted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "AT_ONCE", 4)
    executor = Counted()
    assert len(cl.run(SCENARIO, seeds=30, executor=executor).runs) == 30
    assert executor.submitted == 30
    assert 1 < executor.most <= 4


class Reluctant(Inline):
    """Begins the first runs only."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.left: list[Future[Any]] = []
        self._count = count

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
        if self.submitted < self._count:
            return super().submit(function, *arguments, **options)
        self.left.append(Future())
        return self.left[-1]


def test_ctrl_c_cancels_what_has_not_begun_and_keeps_what_is_finished() -> None:
    executor = Reluctant(2)
    shares: list[float] = []

    def interrupt() -> None:
        deadline = time.monotonic() + 30
        while 0.5 not in shares and time.monotonic() < deadline:
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    experiment = scenarios.Scenario(SCENARIO.encode(), "<text>")
    [result] = execution.execute([experiment], [1, 2, 3, 4], executor=executor, watch=shares.append)
    assert result.interrupted
    assert [run.seed for run in result.runs] == [1, 2]
    assert [future.cancelled() for future in executor.left] == [True, True]
    # Only what is finished counts.
    assert set(shares) <= {0, 0.25, 0.5}
    assert shares[-1] == 0.5
    assert [run.reused for run in cl.run(SCENARIO, seeds=4).runs] == [True, True, False, False]
