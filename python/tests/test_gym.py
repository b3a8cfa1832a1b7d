"""Environments: repeatable, the same as the agent inside, and as Gymnasium and PettingZoo ask for."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

import cwndlab as cl
from cwndlab.engine import SHIPPED, catalogue
from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, FlowsEnv, FlowVectorEnv, Policy
from cwndlab.learning.scores import score
from cwndlab.learning.training import train

NAMES = [entry["name"] for entry in SHIPPED.read_catalogue()["environments"]]
NEWRENO = "cwndlab/DqnNewReno-v0"
CUBIC = "cwndlab/DqnCubic-v0"
WINDOW = "cwndlab/Window-v0"
# A small bottleneck, so that there are losses.
LINK: dict[str, Any] = {
    "duration": "5 s",
    "link": [{"name": "bottleneck", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "20 packets"}],
    "flow": [
        {"name": "a", "cc": "cubic", "path": ["bottleneck"]},
        {"name": "b", "cc": "cubic", "path": ["bottleneck"]},
    ],
}
# Once Gymnasium has taken the environment apart, a warning is all that it says.
pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("own_cache")]


def episode(env: Any, choose: Any, seed: int | None = None) -> list[Any]:
    """All that is seen of one episode."""
    seen, info = env.reset(seed=seed)
    told: list[Any] = [(seen.tolist(), info)]
    over = False
    while not over:
        seen, reward, terminated, truncated, info = env.step(choose(seen))
        told.append((seen.tolist(), reward, terminated, truncated, info))
        over = terminated or truncated
    return told


@pytest.mark.parametrize("made", [FlowEnv, FlowVectorEnv, FlowsEnv])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"render_mode": "human"}, "render_mode='human': expected None: nothing is rendered"),
        ({"reward": len}, "reward=: the environment has its own; gymnasium.RewardWrapper changes it"),
        ({"trace": "my.down"}, r"trace=: expected one of .*, found trace; .* a trace needs scenario="),
        ({"rate": "5 Mbit/s"}, r"keys of a scenario go into overrides=, as in overrides=.\"link.0.rate"),
    ],
)
def test_arguments_that_there_are_not(made: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        made(WINDOW, **arguments)


@pytest.mark.parametrize("made", [FlowEnv, FlowVectorEnv, FlowsEnv])
def test_arguments_are_explained(made: Any) -> None:
    assert "overrides" in f"{made.__init__.__doc__}" or "FlowEnv" in f"{made.__init__.__doc__}"
    assert made(WINDOW, render_mode=None).render_mode is None


def test_wrappers_go_around_single_environments() -> None:
    wrappers = [gymnasium.wrappers.RecordEpisodeStatistics]
    envs = gymnasium.make_vec(WINDOW, num_envs=2, vectorization_mode="sync", wrappers=wrappers)
    assert envs.reset(seed=1)[0].shape[0] == 2
    envs.close()


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_finds_no_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def raised(message: str, *_: object) -> None:
        raise AssertionError(message)

    monkeypatch.setattr(gymnasium.logger, "warn", raised)
    check_env(gymnasium.make(name).unwrapped)


def test_gymnasium_imports_what_stands_before_the_colon() -> None:
    """In a process that has not imported it: Gymnasium 1 knows no plugins of packages that are installed."""
    code = """
import gymnasium
env = gymnasium.make("cwndlab.gym:cwndlab/DqnCubic-v0")
envs = gymnasium.make_vec("cwndlab.gym:cwndlab/Window-v0", num_envs=2)
print(env.reset(seed=1)[0].shape, envs.reset(seed=1)[0].shape)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.stdout == "(5,) (2, 5)\n", answer.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_episodes(name: str) -> None:
    def two(seed: int) -> list[Any]:
        env = gymnasium.make(name)
        return [episode(env, lambda _: 1, seed), episode(env, lambda _: 1)]

    assert two(7) == two(7)
    assert two(7)[0] != two(8)[0]
    first, second = two(7)
    assert first[0][1]["seed"] == 7 != second[0][1]["seed"]
    assert len(first) > 20


def test_episodes_without_a_seed_differ() -> None:
    links = {gymnasium.make(WINDOW).reset()[1]["link_rate_mbps"] for _ in range(5)}
    assert len(links) == 5


def test_links_are_drawn_from_their_ranges() -> None:
    env = FlowEnv(WINDOW)
    ranges = {each["name"]: each for each in catalogue.find(SHIPPED, WINDOW)[1]["ranges"]}
    drawn = [dict(env.course.link(seed)) for seed in range(500)]
    for name, each in ranges.items():
        values = np.log([link[name] for link in drawn])
        low, high = np.log(each["low"]), np.log(each["high"])
        assert low <= values.min() < values.max() <= high
        # Five standard errors of a uniform distribution's mean.
        assert abs(values.mean() - (low + high) / 2) < 5 * (high - low) / np.sqrt(12 * 500)


@pytest.mark.parametrize(
    ("name", "settings", "delay"),
    [
        (NEWRENO, {}, "0 s"),
        (NEWRENO, {}, "7 ms"),
        (CUBIC, {}, "0 s"),
        (CUBIC, {}, "7 ms"),
        (WINDOW, {}, "0 s"),
        (WINDOW, {}, "7 ms"),
        (WINDOW, {"decide": "ack"}, "7 ms"),
        (WINDOW, {"decide": "interval", "interval": "30 ms"}, "0 s"),
        (WINDOW, {"decide": "interval", "interval": "30 ms"}, "70 ms"),
    ],
)
def test_an_agent_outside_is_the_agent_inside_to_the_bit(
    name: str, settings: dict[str, str], delay: str, tmp_path: Path
) -> None:
    # With this seed it uses several actions on this link.
    learned = train(name, 3000, seed=2).weights
    (tmp_path / "policy.safetensors").write_bytes(learned)
    overrides = {f"flow.a.cc.{key}": value for key, value in settings.items()}
    overrides["flow.a.decision_delay"] = delay
    algorithm = catalogue.find(SHIPPED, name)[1]["algorithm"]
    policy = f'policy = "play", epsilon = 0, weights = "{tmp_path}/policy.safetensors"'
    inside = cl.run(
        LINK,
        seeds=[3],
        overrides={"flow.a.cc": f'{{ name = "{algorithm}", {policy} }}'} | overrides,
        record="none",
    )
    env = FlowEnv(name, scenario=LINK, flow="a", overrides=overrides)
    told = episode(env, Policy(learned), 3)
    assert env.outcome() == inside.runs[0].outcome
    assert len({step[0][1] for step in told}) > 3, "it has used its actions"


def test_what_is_seen_is_named_as_it_is_scaled() -> None:
    def inputs(scaling: str) -> str | None:
        return FlowEnv(NEWRENO, scenario=LINK, overrides={"flow.0.cc.state": scaling}).inputs

    assert inputs("raw") == "ssthresh_segments,cwnd_segments,rtt_ms"
    assert inputs("running") is None


def test_settings_of_the_scenario_hold() -> None:
    def first_rewards(**settings: Any) -> list[float]:
        flow = LINK["flow"][0] | {"cc": {"name": "dqn-newreno", **settings}}
        env = FlowEnv(NEWRENO, scenario=LINK | {"flow": [flow]})
        return [step[1] for step in episode(env, lambda _: 6, 1)[1:]]

    assert first_rewards() != first_rewards(rtt_weight=0.5)


@pytest.mark.parametrize("arrivals", [{}, {"arrivals": {"per_second": 1, "size": "10 kB"}}])
def test_no_other_flow_may_wait_for_an_agent(arrivals: dict[str, Any]) -> None:
    flows = [LINK["flow"][0], LINK["flow"][1] | {"cc": "steered"} | arrivals]
    with pytest.raises(InputError, match=r"flow\.1\.cc: steered waits for an agent outside, and only a"):
        FlowEnv(WINDOW, scenario=LINK | {"flow": flows}, flow="a")


def test_a_closed_environment_begins_with_a_reset() -> None:
    cases: list[tuple[Any, Any]] = [
        (FlowEnv(WINDOW), 0),
        (FlowVectorEnv(WINDOW, num_envs=2), np.zeros(2, dtype=int)),
    ]
    for one, action in cases:
        seen, _ = one.reset(seed=1)
        one.close()
        with pytest.raises(RuntimeError, match="there is no episode yet: call reset"):
            one.step(action)
        assert (one.reset(seed=1)[0] == seen).all()


def test_a_decision_may_take_its_time() -> None:
    def told(delay: str) -> list[Any]:
        env = FlowEnv(WINDOW, scenario=LINK, overrides={"flow.0.decision_delay": delay})
        return episode(env, lambda _: 3, 1)

    at_once, late = told("0 s"), told("35 ms")
    assert at_once[1][0][0] == pytest.approx(0.02), "the second decision sees what the first has done"
    assert late[1][0][0] == pytest.approx(0.01), "a round trip of 20 ms later it had not been done"


def test_the_window_may_be_steered_at_each_ack_and_at_fixed_times() -> None:
    def times(**settings: Any) -> Any:
        overrides = {f"flow.0.cc.{key}": value for key, value in settings.items()}
        env = FlowEnv(WINDOW, scenario=LINK, overrides=overrides)
        return np.array([step[-1]["time_s"] for step in episode(env, lambda _: 0, 1)[:-1]])

    round_trips, acks = times(), times(decide="ack")
    assert len(acks) > 3 * len(round_trips)
    assert np.diff(round_trips).min() >= 0.02 - 1e-3
    assert np.diff(times(decide="interval", interval="30 ms")) == pytest.approx(0.03)


def test_an_episode_ends_with_its_time_or_its_data() -> None:
    env = FlowEnv(NEWRENO, scenario=LINK)
    assert episode(env, lambda _: 3, 1)[-1][2:4] == (False, True)
    with pytest.raises(RuntimeError, match="the episode is over: call reset"):
        env.step(3)
    sized = FlowEnv(NEWRENO, scenario=LINK, overrides={"flow.0.bytes": "2 MB"})
    end = episode(sized, lambda _: 3, 1)[-1]
    assert end[2:4] == (True, False)


def test_an_episode_without_a_decision_ends_at_its_first_step() -> None:
    env = FlowEnv(NEWRENO, scenario=LINK, overrides={"duration": "10 ms"})
    (seen, info), end = episode(env, lambda _: 3, 1)
    assert seen == [0, 0, 0]
    assert info["goodput_mbps"] == 0
    assert end[1:4] == (0, False, True)


def test_what_is_told_of_a_step_is_what_the_flow_did() -> None:
    env = FlowEnv(WINDOW, scenario=LINK)
    told = [step[-1] for step in episode(env, lambda _: 0, 1)]
    times = np.diff([0, *(info["time_s"] for info in told)])
    megabits = sum(times * [info["goodput_mbps"] for info in told])
    assert megabits / 5 == pytest.approx(env.outcome()["flows"][0]["goodput_mbps"], rel=0.02)
    assert all(20 <= info["rtt_ms"] < 60 for info in told)


def test_twenty_thousand_resets_leave_nothing_behind() -> None:
    env = FlowEnv(WINDOW)

    def peak_after(seeds: range) -> int:
        for seed in seeds:
            env.reset(seed=seed)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = peak_after(range(2000))
    # In kB: a simulation takes more than this in a few resets.
    assert peak_after(range(20_000)) - before < 2000


# ----------------------------------------------------------------------------------------------------------
# Many at a time, and several agents
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_is_its_environments(threads: int) -> None:
    count, chance = 5, np.random.default_rng(1)
    overrides = {"duration": "1 s"}
    many = gymnasium.make_vec(WINDOW, num_envs=count, overrides=overrides, threads=threads)
    assert isinstance(many.unwrapped, FlowVectorEnv)
    assert many.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    singles = [gymnasium.make(WINDOW, overrides=overrides) for _ in range(count)]
    seen, _ = many.reset(seed=11)
    assert many.observation_space.contains(seen)
    for place, env in enumerate(singles):
        assert (env.reset(seed=11 + place)[0] == seen[place]).all()
    over, resets = [False] * count, 0
    own: Any
    reward: Any
    for _ in range(200):
        actions = chance.integers(0, 5, count)
        seen, rewards, terminated, truncated, info = many.step(actions)
        for place, env in enumerate(singles):
            if over[place]:
                (own, told), reward, ended = env.reset(), 0, False
                resets += 1
            else:
                own, reward, *ends, told = env.step(actions[place])
                ended = any(ends)
            over[place] = ended
            assert (own == seen[place]).all()
            assert (reward, ended) == (rewards[place], terminated[place] or truncated[place])
            assert told["goodput_mbps"] == info["goodput_mbps"][place]
    assert resets > count


def test_pettingzoo_finds_no_fault() -> None:
    api_test(FlowsEnv(NEWRENO, flows=2, overrides={"duration": "2 s"}), num_cycles=500)


def test_several_flows_decide_on_one_link() -> None:
    env = FlowsEnv(NEWRENO, flows=["a", "b"], scenario=LINK)
    assert env.possible_agents == ["a", "b"]

    def played(seed: int) -> dict[str, list[float]]:
        rewards: dict[str, list[float]] = {"a": [], "b": []}
        env.reset(seed=seed)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last()
            rewards[agent].append(reward)
            env.step(None if terminated or truncated else 4)
        return rewards

    assert played(1) == played(1) != played(2)
    assert min(len(rewards) for rewards in played(1).values()) > 20


# ----------------------------------------------------------------------------------------------------------
# What cannot be done
# ----------------------------------------------------------------------------------------------------------


def test_mistakes_are_told() -> None:
    def refused(why: str, name: str, **options: Any) -> None:
        with pytest.raises(InputError, match=why):
            FlowEnv(name, **options)

    refused("unknown environment `cwndlab/Dqn-v0`; allowed: cwndlab/DqnNewReno-v0", "cwndlab/Dqn-v0")
    refused("flow='c': no such flow; expected one of a, b$", NEWRENO, scenario=LINK, flow="c")
    refused("only flows of a scenario have names", NEWRENO, flow="a")
    refused("unknown key `colour`", NEWRENO, overrides={"flow.0.cc.colour": 1})
    many = LINK | {"flow": [{"cc": "cubic", "path": ["bottleneck"], "count": 2}]}
    refused("one agent cannot steer", NEWRENO, scenario=many)
    env = FlowEnv(NEWRENO)
    with pytest.raises(RuntimeError, match="there is no episode yet: call reset"):
        env.step(0)
    with pytest.raises(InputError, match="expected no options"):
        env.reset(options={"speed": 2})
    with pytest.raises(InputError, match="expected a whole number from 0 to 18446744073709551615"):
        env.reset(seed=2**64)
    env.reset(seed=1)
    with pytest.raises(InputError, match=r"^action: expected an integer from 0 to 6, found 7$"):
        env.step(7)
    with pytest.raises(
        InputError, match=r"^action of environment 1: expected an integer from 0 to 6, found 7$"
    ):
        FlowVectorEnv(NEWRENO, 2).step(np.array([0, 7]))
    with pytest.raises(ValueError, match="expected 3 numbers for the network, found 5"):
        Policy(train(NEWRENO, 1).weights)(np.zeros(5, np.float32))


@pytest.mark.parametrize("flows", [None, 2, 0, True, [], "a", ["a", "a"]])
def test_several_agents_in_a_scenario_are_named(flows: Any) -> None:
    with pytest.raises(InputError, match=r"^flows: expected "):
        FlowsEnv(WINDOW, scenario=LINK, flows=flows)


@pytest.mark.parametrize("flows", [0, -1, True, 10**30, [], ["a"], "a"])
def test_several_agents_on_a_drawn_link_are_counted(flows: Any) -> None:
    with pytest.raises(InputError, match=r"^flows: expected "):
        FlowsEnv(WINDOW, flows=flows)


def test_an_agent_that_is_never_asked_is_an_error() -> None:
    for made in (FlowEnv, FlowVectorEnv, FlowsEnv):
        with pytest.raises(InputError, match=r"^flow.0.cc: expected steered .*, found cubic$"):
            made(WINDOW, overrides={"flow.0.cc": "cubic"})
    with pytest.raises(InputError, match=r"^flow.1.cc: expected steered .*, found reno$"):
        FlowsEnv(WINDOW, scenario=LINK, flows=["a", "b"], overrides={"flow.b.cc": "reno"})
    FlowEnv(WINDOW, scenario=LINK, flow="a", overrides={"flow.b.cc": "reno"})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FlowEnv(None),  # type: ignore[arg-type]
        lambda: FlowEnv(WINDOW, scenario=5),  # type: ignore[arg-type]
        lambda: FlowEnv(WINDOW, scenario=LINK, flow=5),  # type: ignore[arg-type]
        lambda: FlowVectorEnv(WINDOW, num_envs="2"),  # type: ignore[arg-type]
        lambda: FlowVectorEnv(WINDOW, threads="2"),  # type: ignore[arg-type]
        lambda: FlowEnv(WINDOW).reset(options=5),  # type: ignore[arg-type]
        lambda: FlowEnv(WINDOW).reset(seed=-1),
        lambda: FlowVectorEnv(WINDOW, 2).reset(seed=-1),
        lambda: FlowVectorEnv(WINDOW, 2).reset(seed=[1, "2"]),  # type: ignore[list-item]
        lambda: train(WINDOW, decisions="x"),  # type: ignore[arg-type]
        lambda: train(WINDOW, 1, weights="x"),  # type: ignore[arg-type]
        lambda: score(WINDOW, 5),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_other_types_are_input_errors(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^[a-z_]+(=\S+)?: expected "):
        wrong()


def test_a_run_has_no_agent_outside() -> None:
    with pytest.raises(InputError, match='expected policy = "play" or "learn", found "outside"'):
        cl.run(LINK, seeds=1, overrides={"flow.a.cc": "{ name = 'dqn-newreno', policy = 'outside' }"})


def test_a_fault_in_another_controller_is_told() -> None:
    class Broken:
        """A window of ten segments, for a while."""

        def __init__(self, setup: cl.Setup) -> None:
            self.cwnd_bytes = 10 * setup.mss_bytes

        def on_ack(self, ack: cl.Ack) -> None:
            if ack.now_s > 1:
                raise ZeroDivisionError

        def on_event(self, event: cl.Event) -> None: ...

    cl.controller("broken-in-an-environment")(Broken)
    env = FlowEnv(WINDOW, scenario=LINK, overrides={"flow.b.cc": "broken-in-an-environment"})
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        episode(env, lambda _: 0, 1)


def test_what_is_shown_of_an_environment_is_what_it_is() -> None:
    for entry in SHIPPED.read_catalogue()["environments"]:
        env = FlowEnv(entry["name"])
        assert env.observation_space.shape == (entry["observation_len"],)
        assert len(entry["observation"].split(",")) == entry["observation_len"]
        assert env.inputs == entry["observation"]
        assert len(entry["actions"]) == entry["actions_len"]
        assert env.action_space == gymnasium.spaces.Discrete(entry["actions_len"])
        assert json.loads(json.dumps(entry)) == entry
