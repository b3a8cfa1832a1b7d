"""Environments copied and pickled: the copy goes on to the bit."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import cloudpickle
import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab as cl
from cwndlab.controllers.loading import load
from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, FlowsEnv
from cwndlab.learning.training import train

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEWRENO, CUBIC, WINDOW = "cwndlab/DqnNewReno-v0", "cwndlab/DqnCubic-v0", "cwndlab/Window-v0"
# Few decisions an episode, so that many end.
SHORT = {"duration": "600 ms"}
# A flow of another agent inside, which learns while it runs.
BESIDE: dict[str, Any] = {
    "duration": "1 s",
    "link": [{"name": "l", "rate": "10 Mbit/s", "delay": "5 ms", "queue": "20 packets", "loss": 0.001}],
    "flow": [
        {"name": "a", "cc": "cubic", "path": ["l"]},
        {"name": "b", "cc": {"name": "dqn-newreno", "warmup": 10}, "path": ["l"]},
    ],
}
KINDS: dict[str, Callable[[], Any]] = {
    "drawn": lambda: gymnasium.make(WINDOW, overrides=SHORT),
    "newreno": lambda: FlowEnv(NEWRENO, overrides=SHORT),
    "cubic": lambda: FlowEnv(CUBIC, overrides=SHORT),
    "each ACK": lambda: FlowEnv(WINDOW, overrides=SHORT | {"flow.0.cc.decide": "ack"}),
    "scaled by what was seen": lambda: FlowEnv(NEWRENO, overrides=SHORT | {"flow.0.cc.state": "running"}),
    "late": lambda: FlowEnv(WINDOW, overrides=SHORT | {"flow.0.decision_delay": "30 ms"}),
    "beside a learner": lambda: FlowEnv(WINDOW, scenario=BESIDE, flow="a"),
    "no decision": lambda: FlowEnv(WINDOW, overrides={"duration": "1 ms"}),
    "vector": lambda: gymnasium.make_vec(WINDOW, num_envs=3, overrides=SHORT, threads=2),
    "vector without decisions": lambda: gymnasium.make_vec(
        WINDOW, num_envs=2, overrides={"duration": "1 ms"}, threads=1
    ),
    "several": lambda: FlowsEnv(WINDOW, overrides=SHORT),
    "several in a scenario": lambda: FlowsEnv(NEWRENO, flows=["a", "b"], scenario=BESIDE),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle 2": lambda env: pickle.loads(pickle.dumps(env, 2)),
    "pickle 3": lambda env: pickle.loads(pickle.dumps(env, 3)),
    "pickle 4": lambda env: pickle.loads(pickle.dumps(env, 4)),
    "pickle 5": lambda env: pickle.loads(pickle.dumps(env, 5)),
    "cloudpickle": lambda env: cloudpickle.loads(cloudpickle.dumps(env)),
}


def is_over(env: Any) -> bool:
    return bool(getattr(env.unwrapped, "over", True))


def act(env: Any, action: int) -> Any:
    """One step, or a reset where no episode is under way; all that is told of it."""
    if hasattr(env, "num_envs"):
        return env.step(np.full(env.num_envs, action))
    if isinstance(env, FlowsEnv):
        if not env.agents:
            env.reset()
        else:
            dead = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
            env.step(None if dead else action)
        return (env.agent_selection, env.last(), env.rewards, env.infos) if env.agents else "over"
    if is_over(env):
        env.unwrapped.over = False
        return env.reset()
    told = env.step(action)
    env.unwrapped.over = told[2] or told[3]
    return told


def begin(env: Any, seed: int | None) -> Any:
    env.unwrapped.over = False
    return env.reset(seed=seed)


def played(env: Any, actions: list[int]) -> str:
    return repr([act(env, action) for action in actions])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_a_copy_goes_on_to_the_bit(kind: str, data: st.DataObject) -> None:
    env: Any = KINDS[kind]()
    way = WAYS[data.draw(st.sampled_from(sorted(WAYS)), label="way")]
    begin(env, data.draw(st.one_of(st.none(), st.integers(0, 2**63)), label="seed"))
    chance = data.draw(st.randoms(use_true_random=False))

    def chosen(most: int) -> list[int]:
        return [chance.randrange(4) for _ in range(data.draw(st.integers(0, most)))]

    # A copy of a copy, too: at the beginning, in the middle, at the end and episodes later.
    for _ in range(2):
        played(env, chosen(40))
        other: Any = way(env)
        actions = [*chosen(20), *(chance.randrange(4) for _ in range(30))]
        after = played(env, actions)
        assert played(other, actions) == after
        env = other


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_one_that_was_never_reset(kind: str, way: str) -> None:
    """With a seed, and without one: the first one is drawn from the system, and once for both."""
    for seed in (5, None):
        env: Any = KINDS[kind]()
        other: Any = WAYS[way](env)
        assert repr(begin(env, seed)) == repr(begin(other, seed))
        actions = [1, 3] * 30
        assert played(env, actions) == played(other, actions)


def test_a_copy_is_another_environment() -> None:
    env = FlowEnv(WINDOW, scenario=BESIDE)
    env.reset(seed=1)
    for _ in range(10):
        env.step(3)
    first, second = copy.deepcopy(env), copy.deepcopy(env)
    for _ in range(10):
        first.step(1)
    assert repr(second.step(3)) == repr(env.step(3))
    # What was measured of both is the same as well.
    assert second.outcome() == env.outcome() != first.outcome()
    with pytest.raises(RuntimeError, match="there is no episode yet"):
        copy.deepcopy(env).step(0)


def _goes_on(env: Any, actions: list[int]) -> tuple[Any, str]:
    return env, played(env, actions)


@pytest.mark.parametrize("kind", ["drawn", "vector", "several"])
def test_processes_hand_environments_on(kind: str, processes: ProcessPoolExecutor) -> None:
    env: Any = KINDS[kind]()
    begin(env, 3)
    played(env, [3] * 10)
    other, told = processes.submit(_goes_on, env, [2, 3] * 20).result()
    assert told == played(env, [2, 3] * 20)
    assert played(other, [3] * 20) == played(env, [3] * 20)


@pytest.fixture(scope="module")
def processes() -> Any:
    """One that shares nothing with this one."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


# ----------------------------------------------------------------------------------------------------------
# What cannot be copied
# ----------------------------------------------------------------------------------------------------------


def test_a_file_that_has_changed_is_told(tmp_path: Path) -> None:
    weights, trace = tmp_path / "w.safetensors", tmp_path / "t.csv"
    weights.write_bytes(train(WINDOW, 10).weights)
    trace.write_text("seconds,Mbit/s\n0,10\n1,5\n")
    playing = {"name": "steered", "policy": "play", "weights": str(weights)}
    flows = [{"name": "a", "cc": "cubic", "path": ["l"]}, {"name": "b", "cc": playing, "path": ["l"]}]
    links = [{"name": "l", "trace": str(trace), "delay": "5 ms"}]
    env = FlowEnv(WINDOW, scenario={"duration": "1 s", "link": links, "flow": flows}, flow="a")
    env.reset(seed=1)
    env.step(3)
    kept = pickle.dumps(env)
    pickle.loads(kept)
    for file, other in [
        (trace, b"seconds,Mbit/s\n0,10\n1,6\n"),
        (weights, train(WINDOW, 10, seed=2).weights),
    ]:
        before = file.read_bytes()
        file.write_bytes(other)
        with pytest.raises(InputError, match=f"^{file}: has changed since the environment was made"):
            pickle.loads(kept)
        # In the same process nothing is read again.
        assert repr(copy.deepcopy(env).step(1)) == repr(copy.deepcopy(env).step(1))
        file.write_bytes(before)
    weights.unlink()
    with pytest.raises(InputError, match="No such file"):
        pickle.loads(kept)


def test_a_drawn_episode_does_not_begin_with_a_file_that_has_changed(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text("seconds,Mbit/s\n0,10\n1,5\n")
    env = FlowEnv(WINDOW, overrides={"link.0.back": f'{{ trace = "{trace}" }}'})
    env.reset(seed=1)
    kept = pickle.dumps(env)
    trace.write_text("seconds,Mbit/s\n0,10\n1,6\n")
    with pytest.raises(RuntimeError, match=f"^{trace}: has changed since the environment was made"):
        env.reset(seed=1)
    with pytest.raises(InputError, match=f"^{trace}: has changed since the environment was made"):
        pickle.loads(kept)


CONTROLLER = """
import cwndlab

@cwndlab.controller("constant-in-a-copy")
class Constant:
    def __init__(self, setup):
        self.cwnd_bytes = 10 * setup.mss_bytes

    def on_ack(self, ack): ...

    def on_event(self, event): ...
"""


def test_a_controller_that_has_changed_is_told(tmp_path: Path) -> None:
    file = tmp_path / "constant_in_a_copy.py"
    file.write_text(CONTROLLER)
    load([str(file)])
    env = FlowEnv(WINDOW, scenario=BESIDE, flow="a", overrides={"flow.b.cc": "constant-in-a-copy"})
    env.reset(seed=1)
    kept = pickle.dumps(env)
    assert repr(pickle.loads(kept).step(3)) == repr(copy.deepcopy(env).step(3))
    file.write_text(CONTROLLER.replace("10 *", "11 *"))
    load([str(file)])
    with pytest.raises(InputError, match=r"^constant-in-a-copy: has changed since the environment was made"):
        pickle.loads(kept)


def test_an_episode_that_does_not_repeat_itself_is_told() -> None:
    class Whimsical:
        """Its window depends on how many of it there were before."""

        made = 0

        def __init__(self, setup: cl.Setup) -> None:
            Whimsical.made += 1
            self.cwnd_bytes = 5 * Whimsical.made * setup.mss_bytes

        def on_ack(self, ack: cl.Ack) -> None: ...

        def on_event(self, event: cl.Event) -> None: ...

    cl.controller("whimsical-in-a-copy")(Whimsical)
    env = FlowEnv(WINDOW, scenario=BESIDE, flow="a", overrides={"flow.b.cc": "whimsical-in-a-copy"})
    env.reset(seed=1)
    for _ in range(10):
        env.step(3)
    with pytest.raises(InputError, match="the episode with seed 1 does not repeat itself"):
        copy.deepcopy(env)
