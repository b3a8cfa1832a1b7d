"""Agents of Gymnasium drive Linux's TCP: an episode is a kernel whose clock stands still as they decide."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

import cwndlab as cl
import cwndlab.benchmark.reno  # registers python-reno
from cwndlab.engine import SHIPPED, catalogue
from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, FlowsEnv, Policy
from cwndlab.learning.training import train
from cwndlab.linux import kernel as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Command

NEWRENO = "cwndlab/DqnNewReno-v0"
CUBIC = "cwndlab/DqnCubic-v0"
WINDOW = "cwndlab/Window-v0"
LINK: dict[str, Any] = {
    "duration": "3 s",
    "link": [{"name": "bottleneck", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "20 packets"}],
    "flow": [
        {"name": "a", "cc": "cubic", "path": ["bottleneck"]},
        {"name": "b", "cc": "cubic", "path": ["bottleneck"]},
    ],
}
TEXT = """
duration = "3 s"
[[link]]
name = "bottleneck"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[[flow]]
cc = "cubic"
path = ["bottleneck"]
"""
pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("linux_kernel")]


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache and temporary files of its own. At the end, no kernel has left anything."""
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    gc.collect()
    assert not running(tmp_path)


def running(folder: Path) -> list[Path]:
    """The folders of kernels that there are."""
    return list(folder.glob("cwndlab-linux-*"))


def episode(env: Any, choose: Callable[[Any], int], seed: int | None = None) -> list[Any]:
    """All that is seen of one episode."""
    seen, info = env.reset(seed=seed)
    told: list[Any] = [(seen.tolist(), info)]
    over = False
    while not over:
        seen, reward, terminated, truncated, info = env.step(choose(seen))
        told.append((seen.tolist(), reward, terminated, truncated, info))
        over = terminated or truncated
    return told


def chance(actions: int) -> Callable[[Any], int]:
    generator = np.random.default_rng(1)
    return lambda _: int(generator.integers(actions))


@pytest.mark.parametrize("name", [NEWRENO, CUBIC, WINDOW])
def test_gymnasium_finds_no_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def raised(message: str, *_: object) -> None:
        raise AssertionError(message)

    monkeypatch.setattr(gymnasium.logger, "warn", raised)
    env = gymnasium.make(name, backend="linux").unwrapped
    check_env(env)
    simulated = gymnasium.make(name)
    assert (env.observation_space, env.action_space) == (simulated.observation_space, simulated.action_space)


def test_pettingzoo_finds_no_fault() -> None:
    env = FlowsEnv(NEWRENO, flows=2, overrides={"duration": "2 s"}, backend="linux")
    api_test(env, num_cycles=500)
    env.close()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (NEWRENO, {}),
        (CUBIC, {}),
        (WINDOW, {}),
        (WINDOW, {"cc.decide": "ack"}),
        (NEWRENO, {"cc.decide": "interval", "cc.interval": "30 ms"}),
        (WINDOW, {"cc.decide": "interval", "cc.interval": "30 ms"}),
        (CUBIC, {"decision_delay": "20 ms"}),
        (WINDOW, {"decision_delay": "5 ms", "cc.decide": "ack"}),
        (NEWRENO, {"decision_delay": "50 ms", "cc.decide": "interval", "cc.interval": "30 ms"}),
    ],
)
def test_an_agent_outside_is_the_agent_inside_to_the_bit(
    name: str, settings: dict[str, str], tmp_path: Path
) -> None:
    # With these seeds it uses several actions on this link.
    seed = 4 if name == CUBIC and "decision_delay" in settings else 2
    learned = train(name, 3000, seed=seed).weights
    (tmp_path / "policy.safetensors").write_bytes(learned)
    overrides = {f"flow.a.{key}": value for key, value in settings.items()}
    algorithm = catalogue.find(SHIPPED, name)[1]["algorithm"]
    policy = f'policy = "play", epsilon = 0, weights = "{tmp_path}/policy.safetensors"'
    inside = cl.run(
        LINK,
        seeds=[3],
        overrides={"flow.a.cc": f'{{ name = "{algorithm}", {policy} }}'} | overrides,
        record="none",
        backend="linux",
    )
    env = FlowEnv(name, scenario=LINK, flow="a", overrides=overrides, backend="linux")
    told = episode(env, Policy(learned), 3)
    assert env.outcome() == inside.runs[0].outcome
    assert len({step[0][1] for step in told}) > 3, "it has used its actions"


def test_an_episode_goes_as_in_the_simulator() -> None:
    """One flow alone begins alike, goes on alike on average, and ends alike."""
    link = LINK | {"flow": LINK["flow"][:1], "send_jitter": "0 s"}
    told = {
        backend: episode(FlowEnv(WINDOW, scenario=link, backend=backend), lambda _: 0, 1)
        for backend in ("sim", "linux")
    }
    ours, theirs = told["sim"], told["linux"]
    # The handshakes differ by some bytes, and RTTs are in whole microseconds.
    assert ours[0][0] == pytest.approx(theirs[0][0], rel=0.003)
    assert ours[1][0] == pytest.approx(theirs[1][0], rel=0.003)
    assert ours[1][1] == pytest.approx(theirs[1][1], rel=0.003)
    for measure in ("time_s", "goodput_mbps", "rtt_ms", "loss"):
        assert ours[1][-1][measure] == pytest.approx(theirs[1][-1][measure], rel=0.003), measure
        means = [np.mean([step[-1][measure] for step in one]) for one in (ours, theirs)]
        assert means[0] == pytest.approx(means[1], rel=0.03), measure
    assert len(ours) == pytest.approx(len(theirs), rel=0.03)
    assert told["sim"][-1][2:4] == told["linux"][-1][2:4] == (False, True)
    assert told["linux"][-1][-1]["time_s"] == 3


def test_a_seed_gives_the_same_episodes() -> None:
    def two(seed: int) -> list[Any]:
        env = gymnasium.make(WINDOW, overrides={"duration": "2 s"}, backend="linux")
        return [episode(env, chance(5), seed), episode(env, chance(5))]

    first, second = two(7)
    assert [first, second] == two(7)
    assert first != two(8)[0]
    assert first[0][1]["seed"] == 7 != second[0][1]["seed"]


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_to_the_bit(way: Callable[[Any], Any]) -> None:
    env = FlowEnv(WINDOW, scenario=LINK, backend="linux")
    env.reset(seed=4)
    for action in (3, 4, 3, 1):
        env.step(action)
    other = way(env)
    for action in (3, 0, 3, 2, 4, 3):
        (seen, *told), (same, *also) = env.step(action), other.step(action)
        assert (seen == same).all()
        assert told == also
    assert (env.reset()[0] == other.reset()[0]).all()


def test_a_pickle_belongs_to_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(FlowEnv(WINDOW, backend="linux"))
    monkeypatch.setattr(kernels.Kernel, "sha256", "another")
    with pytest.raises(InputError, match=r"the kernel \(Linux .*\): has changed since the environment"):
        pickle.loads(pickled)


def test_a_vector_is_its_environments(tmp_path: Path) -> None:
    overrides = {"duration": "1 s"}
    many = gymnasium.make_vec(WINDOW, num_envs=3, overrides=overrides, backend="linux")
    singles = [gymnasium.make(WINDOW, overrides=overrides, backend="linux") for _ in range(3)]
    seen, _ = many.reset(seed=11)
    own: Any = [env.reset(seed=11 + place) for place, env in enumerate(singles)]
    assert (seen == [each[0] for each in own]).all()
    for action in (3, 3, 0, 4, 1):
        seen, rewards, *_ = many.step(np.full(3, action))
        own = [env.step(action) for env in singles]
        assert (seen == [each[0] for each in own]).all()
        assert list(rewards) == [each[1] for each in own]
    assert len(running(tmp_path)) == 6
    many.close()
    assert len(running(tmp_path)) == 3


def test_what_is_told_of_a_step_is_what_the_flow_did() -> None:
    env = FlowEnv(WINDOW, scenario=LINK, backend="linux")
    told = [step[-1] for step in episode(env, chance(5), 1)]
    times = np.diff([0, *(info["time_s"] for info in told)])
    megabits = sum(times * [info["goodput_mbps"] for info in told])
    assert megabits / 3 == pytest.approx(env.outcome()["flows"][0]["goodput_mbps"], rel=0.02)
    # A full queue takes 24 ms, and an ACK may be delayed by 40 ms.
    assert all(20 <= info["rtt_ms"] < 86 for info in told)
    assert 0 < sum(info["loss"] for info in told) / len(told) < 1


def test_an_episode_ends_with_its_data() -> None:
    overrides = {"flow.0.bytes": "1 MB", "flow.0.cc.decide": "interval", "flow.0.cc.interval": "20 ms"}
    told = {}
    for backend in ("sim", "linux"):
        env = FlowEnv(WINDOW, scenario=LINK, overrides=overrides, backend=backend)
        told[backend] = episode(env, lambda _: 0, 1)[-1]
        # The other flow goes on to the end.
        ended_s = env.outcome()["flows"][0]["completion_s"]
        assert ended_s == pytest.approx(told[backend][-1]["time_s"], abs=0.05)
    assert told["sim"][2:4] == told["linux"][2:4] == (True, False)


def test_an_episode_without_a_decision_ends_at_its_first_step() -> None:
    env = FlowEnv(NEWRENO, scenario=LINK, overrides={"duration": "10 ms"}, backend="linux")
    (seen, info), end = episode(env, lambda _: 3, 1)
    assert seen == [0, 0, 0]
    assert info["goodput_mbps"] == 0
    assert end[1:4] == (0, False, True)


def test_measures_are_those_of_the_whole_run() -> None:
    env = FlowEnv(WINDOW, scenario=LINK, backend="linux")
    with pytest.raises(RuntimeError, match="there is no episode yet: call reset"):
        env.outcome()
    env.reset(seed=1)
    with pytest.raises(RuntimeError, match="the episode is not over: Linux measures the whole run"):
        env.outcome()
    env.step(3)


def test_controllers_in_python_drive_the_other_flows() -> None:
    def outcome(cc: str) -> dict[str, Any]:
        flows = [LINK["flow"][0], LINK["flow"][1] | {"cc": cc}]
        env = FlowEnv(WINDOW, scenario=LINK | {"flow": flows, "duration": "1 s"}, backend="linux")
        episode(env, chance(5), 2)
        found = env.outcome()
        assert found["flows"][1].pop("cc") == cc
        return found

    assert outcome("python-reno") == outcome("reno") != outcome("linux:cubic")


def test_another_algorithm_plays_an_episode_as_it_runs_in_a_scenario() -> None:
    course = FlowEnv(WINDOW, scenario=LINK, flow="a", backend="linux").course
    others = LINK | {"flow": [LINK["flow"][0], LINK["flow"][1] | {"cc": "python-reno"}]}
    beside = FlowEnv(WINDOW, scenario=others, flow="a", backend="linux").course
    for scenario, played in ((LINK, course), (others, beside)):
        [run] = cl.run(scenario, seeds=[3], record="none", backend="linux").runs
        assert json.loads(played.with_algorithm(3, "cubic")) == run.outcome


# ----------------------------------------------------------------------------------------------------------
# Training and scores
# ----------------------------------------------------------------------------------------------------------


def goodput_of_cubic() -> float:
    """Its mean over two seeds, in Linux, in Mbit/s."""
    runs = cl.run(TEXT, seeds=2, record="none", backend="linux").runs
    return float(np.mean([run.outcome["flows"][0]["goodput_mbps"] for run in runs]))


def test_scores_are_those_of_the_runs_in_linux(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "link.toml").write_text(TEXT)
    asked = ("score", NEWRENO, "--scenario", "link.toml", "--seeds", "1-2", "--json")
    told = {name: json.loads(cwndlab(*asked, "--backend", name).stdout) for name in ("sim", "linux")}
    assert {name: document["backend"] for name, document in told.items()} == {"sim": "sim", "linux": "linux"}
    rows = {row["name"]: row for row in told["linux"]["scores"]}
    assert list(rows)[:4] == ["constant", "cubic", "bbr3", "random"]
    assert rows["cubic"]["goodput_mbps"]["mean"] == pytest.approx(goodput_of_cubic())
    assert rows["random"]["mean_reward"]["mean"] is not None
    assert told["sim"]["scores"] != told["linux"]["scores"]


def test_a_training_in_linux_repeats_itself_and_goes_on(cwndlab: Command, tmp_path: Path) -> None:
    def trained(out: str, decisions: int, *more: str, backend: str = "linux") -> bytes:
        few = ("--set", "duration=1 s", "--set", "flow.0.cc.warmup=20", "--decisions", str(decisions))
        short = (*few, "--backend", backend)
        done = cwndlab("train", NEWRENO, *short, "--out", out, *more)
        assert done.returncode == 0, done.stderr
        return (tmp_path / out / "weights.safetensors").read_bytes()

    whole = trained("whole", 60)
    trained("half", 30)
    assert trained("both", 30, "--resume", "half") == whole
    assert whole != trained("simulated", 60, backend="sim")
    document = json.loads((tmp_path / "whole" / "training.json").read_text())
    assert (document["backend"], document["manifest"]["backend"]) == ("linux", "linux")
    settings = ("--set", "duration=1 s", "--set", "flow.0.cc.warmup=20", "--decisions", "1")
    other = cwndlab("train", NEWRENO, *settings, "--resume", "half")
    assert (other.returncode, "it belongs to another training" in other.stderr) == (2, True)


# ----------------------------------------------------------------------------------------------------------
# What there is not
# ----------------------------------------------------------------------------------------------------------


def test_what_linux_cannot_do_is_refused() -> None:
    def refused(**arguments: Any) -> str:
        with pytest.raises(InputError) as error:
            FlowEnv(WINDOW, **{"scenario": LINK, "backend": "linux"} | arguments)
        return str(error.value)

    assert "profile" in refused(overrides={"profile": "ns3"})
    assert refused(backend="bsd") == "backend bsd: expected sim or linux"
    with pytest.raises(ValueError, match="no-such"):
        FlowEnv(WINDOW, backend="linux").course.with_algorithm(1, "no-such")


def test_a_kernel_has_to_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "built", list)
    with pytest.raises(InputError, match="the kernel has not been built; run: make linux"):
        FlowEnv(WINDOW, backend="linux")


# ----------------------------------------------------------------------------------------------------------
# What is left behind: nothing
# ----------------------------------------------------------------------------------------------------------


def test_an_episode_has_one_kernel_and_leaves_none(tmp_path: Path) -> None:
    env = FlowEnv(WINDOW, backend="linux")
    for seed in range(3):
        env.reset(seed=seed)
        env.step(0)
        assert len(running(tmp_path)) == 1
    env.close()
    assert not running(tmp_path)
    with pytest.raises(RuntimeError, match="there is no episode yet: call reset"):
        env.step(0)
    env.reset()
    del env
    gc.collect()
    assert not running(tmp_path)


def test_a_kernel_outlives_the_thread_that_began_it() -> None:
    env = FlowEnv(WINDOW, backend="linux")
    thread = threading.Thread(target=env.reset, kwargs={"seed": 1})
    thread.start()
    thread.join()
    assert env.step(0)[4]["time_s"] > 0


def kernels_of(folder: Path) -> list[int]:
    """The processes that have this folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"uml_dir={folder}/".encode() in (each / "cmdline").read_bytes():
                found.append(int(each.name))
    return found


def test_a_kernel_that_ends_is_told_and_the_next_episode_begins(tmp_path: Path) -> None:
    env = FlowEnv(WINDOW, backend="linux")
    env.reset(seed=1)
    [folder] = running(tmp_path)
    for process in kernels_of(folder):
        os.kill(process, signal.SIGKILL)
    with pytest.raises(RuntimeError, match="the kernel failed: it ended with status -9"):
        env.step(0)
    assert not running(tmp_path)
    env.reset()
    env.step(0)


ENDS = {
    "its end": ("", None, 0),
    "an error": ("raise SystemExit(3)", None, 3),
    "Ctrl-C": ("time.sleep(60)", signal.SIGINT, -signal.SIGINT),
    "Ctrl-C in a step": ("while not any(env.step(0)[2:4]): pass", signal.SIGINT, -signal.SIGINT),
    "Ctrl-C in a reset": ("while True: env.reset()", signal.SIGINT, -signal.SIGINT),
    "being terminated": ("time.sleep(60)", signal.SIGTERM, -signal.SIGTERM),
}


@pytest.mark.parametrize("way", ENDS)
def test_python_ends_with_its_kernels(way: str, tmp_path: Path) -> None:
    last, number, status = ENDS[way]
    code = f"""
import time
from cwndlab.gym import FlowEnv
env = FlowEnv({WINDOW!r}, overrides={{"duration": "1000 s"}}, backend="linux")
env.reset(seed=1)
print("begun", flush=True)
{last}
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    folders = running(tmp_path)
    if number:
        # Into what comes last.
        time.sleep(0.2)
        process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == status, errors
    end = time.monotonic() + 5
    while any(kernels_of(folder) for folder in folders) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(kernels_of(folder) for folder in folders)
    if way == "being terminated":
        # Python has no time to clean up: the next run does.
        env = FlowEnv(WINDOW, backend="linux")
        from cwndlab.linux import instance

        instance._sweep.cache_clear()
        env.reset()
        env.close()
