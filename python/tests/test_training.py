"""`cwndlab train` and `score`, and the example with an agent of its own."""

from __future__ import annotations

import json
import runpy
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import cwndlab as cl
from cwndlab.cli import app
from cwndlab.engine import SHIPPED
from cwndlab.gym import FlowEnv
from cwndlab.learning import scores, training
from cwndlab.learning.course import course
from cwndlab.learning.training import Training, train
from cwndlab.output import about
from tests.conftest import SCENARIO, Command
from tests.documents import ROOT

NEWRENO = "cwndlab/DqnNewReno-v0"
CUBIC = "cwndlab/DqnCubic-v0"
WINDOW = "cwndlab/Window-v0"
LINK = """
duration = "5 s"
[[link]]
name  = "bottleneck"
rate  = "10 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[[flow]]
cc   = {cc}
path = ["bottleneck"]
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def cli(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_training_repeats_itself() -> None:
    first, second = train(NEWRENO, 2500, seed=4), train(NEWRENO, 2500, seed=4)
    assert first == second
    assert first.weights != train(NEWRENO, 2500, seed=5).weights
    assert sum(episode.decisions for episode in first.episodes) <= 2500


def test_a_learning_step_may_follow_so_many_tuples() -> None:
    def learned(every: int) -> bytes:
        overrides = {"flow.0.cc.train": "tuple", "flow.0.cc.train_every": every}
        return train(NEWRENO, 2100, seed=4, overrides=overrides).weights

    assert learned(10**6) == train(NEWRENO, 1, seed=4).weights
    assert learned(1) == train(NEWRENO, 2100, seed=4).weights
    assert learned(1) != learned(2)


def test_the_documented_training_learns_more_than_any_one_action() -> None:
    """With 4000 decisions and the defaults, which the docs had before, it ends in `always 0`."""
    settings = {"replay": 50_000, "dropout": 0, "epsilon": 0.05, "epsilon_decay": 50_000}
    overrides = {f"flow.0.cc.{key}": value for key, value in settings.items()}
    learned = train(WINDOW, 100_000, overrides=overrides).weights
    rows = {row.name: row for row in scores.score(WINDOW, range(1001, 1051), learned)}
    assert list(rows) == ["constant", "cubic", "bbr3", "random", "always 0", "trained"]
    assert all(row.mean_reward.mean is None for name, row in rows.items() if name in scores.ALGORITHMS)
    more = rows["trained"].more_reward(rows["always 0"])
    assert more.interval is not None
    assert more.interval[0] > 0
    assert rows["always 0"].more_reward(rows["random"]).excludes_zero


def test_scores_in_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    rows = {row.name: row for row in scores.score(WINDOW, [1, 2], scenario=file, flow="b")}
    alone = cl.run(file, seeds=2, overrides={"flow.b.cc": "bbr3"})
    of_b = alone.flows.filter(pl.col("name") == "b")["goodput_mbps"]
    assert rows["bbr3"].goodput_mbps.mean == pytest.approx(of_b.mean())
    assert rows["bbr3"].rtt_ms.n == 2
    assert rows["bbr3"].goodput_share.n == 0


def test_score_tells_what_the_intervals_show(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    weights = tmp_path / "weights"
    weights.write_bytes(train(WINDOW, 10).weights)
    options = ["--scenario", "two.toml", "--flow", "a", "--weights", "weights"]
    done = cwndlab("score", WINDOW, "--seeds", "1", *options)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith("Reward of trained less random: ")
    assert told[0].endswith(", paired by seed; no difference is shown.")
    assert "Mbit/s" in done.stdout
    unknown = cwndlab("score", WINDOW, "--flow", "a")
    assert (
        unknown.returncode,
        "--flow a: only flows of a scenario have names; expected a scenario too" in unknown.stderr,
    ) == (2, True)


def test_scores_of_a_flow_without_a_name() -> None:
    rows = scores.score(
        NEWRENO, [1], scenario={**tomllib.loads(LINK.format(cc='"cubic"')), "duration": "1 s"}
    )
    assert rows[0].name == "constant"
    assert rows[0].goodput_mbps.mean is not None


def test_an_agent_that_acts_by_chance_is_the_dqn_that_always_explores() -> None:
    """The same distribution, from two sources of random numbers."""
    rows = {row.name: row for row in scores.score(NEWRENO, range(1, 21))}
    played = [
        json.loads(
            course(SHIPPED, NEWRENO, None, [], None).with_algorithm(
                seed, '{ name = "dqn-newreno", policy = "play", epsilon = 1 }'
            )
        )["flows"][0]["goodput_mbps"]
        for seed in range(1, 21)
    ]
    drawn = course(SHIPPED, NEWRENO, None, [], None)
    shares = [
        goodput / dict(drawn.link(seed))["link_rate_mbps"]
        for seed, goodput in zip(range(1, 21), played, strict=True)
    ]
    assert rows["random"].goodput_share.mean == pytest.approx(sum(shares) / 20, abs=0.05)


def test_ctrl_c_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    learn = training.Learner.learn

    def stopped(learner: training.Learner, *_: Any) -> Training:
        def watch(share: float) -> None:
            if share > 0.3:
                raise KeyboardInterrupt

        return learn(learner, 5000, watch)

    monkeypatch.setattr(training.Learner, "learn", stopped)
    answer = cli("train", NEWRENO, "--out", str(tmp_path))
    assert answer.exit_code == 130
    told = json.loads((tmp_path / "training.json").read_text())
    assert told["interrupted"]
    assert told["decisions"] == 2000
    assert (tmp_path / "weights.safetensors").read_bytes() == train(NEWRENO, 2000).weights


@pytest.mark.parametrize("name", [NEWRENO, WINDOW])
def test_a_training_that_was_cut_off_goes_on_to_the_bit(name: str) -> None:
    """Cut off in its warm-up, and in the midst of an episode when the ring is full."""
    settings: dict[str, Any] = {
        "overrides": {"flow.0.cc.replay": 3000, "flow.0.cc.epsilon_decay": 2000, "flow.0.cc.double": True}
    }
    for before, after in [(700, 2800), (5000, 5000)]:
        whole = train(name, before + after, seed=3, **settings)
        first = train(name, before, seed=3, **settings)
        second = train(name, after, seed=3, checkpoint=first.checkpoint, **settings)
        assert second.checkpoint == whole.checkpoint
        assert second.weights == whole.weights != first.weights
        assert first.episodes + second.episodes == whole.episodes
        assert (second.decisions_before, second.decisions) == (before, after)


def test_a_folder_is_gone_on_with(tmp_path: Path) -> None:
    def trained(decisions: int, *more: str) -> Any:
        return cli("train", NEWRENO, "--decisions", str(decisions), *more)

    assert trained(2500, "--out", str(tmp_path)).exit_code == 0
    answer = trained(500, "--resume", str(tmp_path))
    assert answer.stdout.startswith("500 decisions after 2500, ")
    assert (tmp_path / "weights.safetensors").read_bytes() == train(NEWRENO, 3000).weights
    other = "it belongs to another training: environment, scenario, flow, settings and seed must be the same"
    for more in (["--seed", "2"], ["--set", "flow.0.cc.gamma=0.5"]):
        answer = trained(500, "--resume", str(tmp_path), *more)
        assert answer.exit_code == 2
        assert other in answer.stderr
    (tmp_path / "checkpoint.safetensors").write_bytes((tmp_path / "weights.safetensors").read_bytes())
    assert "it has no tensor `counters`" in trained(500, "--resume", str(tmp_path)).stderr
    given = ["--from", str(tmp_path / "weights.safetensors"), "--resume", str(tmp_path)]
    assert trained(500, *given).stderr == "error: --from and --resume: expected one of the two\n"


def test_training_goes_on_from_its_weights(tmp_path: Path) -> None:
    answer = cli("train", NEWRENO, "--decisions", "2100", "--out", str(tmp_path), "--json")
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert document["environment"] == NEWRENO
    assert document["episodes"][0]["seed"] == 1
    weights = str(tmp_path / "weights.safetensors")
    before = Path(weights).read_bytes()
    shorter = ("train", NEWRENO, "--decisions", "100", "--from", weights, "--out", str(tmp_path))
    refused = cli(*shorter)
    assert refused.exit_code == 2
    assert "found the result of `cwndlab train cwndlab/DqnNewReno-v0 --seed 1" in refused.stderr
    assert Path(weights).read_bytes() == before
    again = cli(*shorter, "--replace")
    assert again.exit_code == 0, again.stderr
    assert Path(weights).read_bytes() == before, "nothing is learned before the warm-up is over"
    answer = cli("score", NEWRENO, "--seeds", "2", "--weights", weights, "--json")
    assert [row["name"] for row in json.loads(answer.stdout)["scores"]][-1] == "trained"


def test_mistakes_are_told(tmp_path: Path) -> None:
    def told(*arguments: str) -> str:
        answer = cli(*arguments)
        assert answer.exit_code == 2, answer.stdout
        return str(answer.stderr)

    assert "unknown environment `dqn`" in told("train", "dqn", "--out", str(tmp_path))
    assert "none.safetensors: no such file" in told("train", NEWRENO, "--from", "none.safetensors")
    (tmp_path / "w").write_bytes(train(WINDOW, 1).weights)
    given = ("--from", str(tmp_path / "w"), "--out", str(tmp_path))
    assert "expected a network of 3-30-30-30-7, found 5-30-30-30-5" in told("train", NEWRENO, *given)
    for other in (NEWRENO, CUBIC):
        why = f"--weights {given[1]}: expected a network with the inputs `ssthresh"
        assert why in told("score", other, "--weights", given[1])
    raw = ("train", WINDOW, "--set", "flow.0.cc.colour=1", "--out", str(tmp_path))
    assert told(*raw).startswith(
        "--set flow.0.cc.colour: error: flow.agent_0.cc.colour: unknown key `colour`"
    )


def test_a_training_that_cannot_begin_leaves_no_folder(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x")
    for wrong in (["cwndlab/Foo-v0"], [WINDOW, "--set", "flow.0.cc.colour=1"], [WINDOW, "--from", "text"]):
        assert cwndlab("train", *wrong).returncode == 2
    assert not (tmp_path / "out").exists()


def test_mistakes_name_their_option(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    scenario = str(tmp_path / "x.toml")
    told = cli("train", WINDOW, "--from", scenario, "--out", str(tmp_path / "out"))
    assert (told.exit_code, told.stderr) == (2, f"error: --from {scenario}: it is not a safetensors file\n")
    told = cli("score", WINDOW, "--weights", scenario)
    assert (told.exit_code, told.stderr) == (
        2,
        f"error: --weights {scenario}: it is not a safetensors file\n",
    )
    told = cli("score", WINDOW, "--scenario", scenario, "--flow", "zz")
    assert (told.exit_code, told.stderr) == (2, "error: --flow zz: no such flow; expected one of a, b\n")


@pytest.mark.parametrize(
    "setting", ["cc=cubic", "cc=random", "cc.policy=learn", "cc={name='steered',policy='learn'}"]
)
@pytest.mark.parametrize("scenario", [False, True])
def test_an_agent_that_is_never_asked_is_an_error(setting: str, scenario: bool, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    given = ["--set", f"flow.0.{setting}", *(["--scenario", str(tmp_path / "x.toml")] if scenario else [])]
    for command in (
        ["train", "--decisions", "50", "--out", str(tmp_path / "out")],
        ["score", "--seeds", "1"],
    ):
        told = cli(command[0], WINDOW, *command[1:], *given)
        why = 'error: flow.0.cc: expected steered with policy = "outside", which asks the agent, found '
        assert told.exit_code == 2
        assert told.stderr.startswith(why)
    # Other settings of the agent, and other flows, may be set.
    if scenario:
        given = ["--set", "flow.0.cc.gamma=0.5", "--set", "flow.1.cc=cubic", *given[2:]]
        assert cli("score", WINDOW, "--seeds", "1", *given).exit_code == 0


@pytest.mark.parametrize("name", [NEWRENO, CUBIC])
def test_tuples_that_a_training_does_not_have_are_refused(name: str, tmp_path: Path) -> None:
    def told(setting: str) -> str:
        sets = ("--set", f"flow.0.cc.{setting}", "--decisions", "10", "--out", str(tmp_path), "--replace")
        return str(cli("train", name, *sets).stderr)

    why = "a training learns only from decisions and their rewards, so another value has no effect"
    for set_to in ("since-tuple", "since-congestion"):
        assert f"`tuples`: expected per-decision, found {set_to}; {why}" in told(f"tuples={set_to}")
    assert f"`blamed`: expected last-action, found lost-window; {why}" in told("blamed=lost-window")
    assert not told("tuples=per-decision")
    assert not told("blamed=last-action")


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "small_agent.py"))["main"](3000)
    means = dict(line.split() for line in capsys.readouterr().out.splitlines()[1:])
    assert float(means["learned"]) > float(means["random"]) + 0.1


def safetensors(tensors: dict[str, Any], inputs: str) -> bytes:
    """A file as the library of that name writes it: length of the header, header, values."""
    header: dict[str, Any] = {"__metadata__": {"inputs": inputs}}
    data = b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize("prefix", ["q_net.", "q_net.q_net."])
def test_weights_as_stable_baselines_names_them_play_as_they_do_outside(prefix: str, tmp_path: Path) -> None:
    """The names of `model.q_net.state_dict()`, and of that part in the state of the whole policy."""
    chance = np.random.default_rng(1)
    sizes, tensors = [5, 30, 30, 30, 5], {}
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        tensors[f"{prefix}{2 * layer}.weight"] = chance.normal(0, 0.3, (outputs, inputs)).astype(np.float32)
        tensors[f"{prefix}{2 * layer}.bias"] = chance.normal(0, 0.03, outputs).astype(np.float32)

    def choose(seen: Any) -> int:
        values = seen
        for layer in range(4):
            weight, bias = (tensors[f"{prefix}{2 * layer}.{kind}"] for kind in ("weight", "bias"))
            values = weight @ values + bias
            values = np.maximum(values, 0) if layer < 3 else values
        return int(np.argmax(values))

    env = FlowEnv(WINDOW, scenario=LINK.format(cc='"steered"'))
    assert env.inputs is not None
    (seen, _), over, actions = env.reset(seed=1), False, set()
    while not over:
        actions.add(choose(seen))
        seen, _, terminated, truncated, _ = env.step(choose(seen))
        over = terminated or truncated
    assert len(actions) > 2
    file = tmp_path / "sb3.safetensors"
    file.write_bytes(safetensors(tensors, env.inputs))
    cc = f'{{ name = "steered", policy = "play", weights = "{file}", epsilon = 0 }}'
    inside = cl.run(LINK.format(cc=cc), seeds=1, record="none").runs[0].outcome
    assert env.outcome() == inside
    with_target = tensors | {f"q_net_target.{name}": tensor for name, tensor in tensors.items()}
    file.write_bytes(safetensors(with_target, env.inputs))
    with pytest.raises(cl.ScenarioError, match="expected one network, found two, `q_net"):
        cl.run(LINK.format(cc=cc), seeds=1)


def test_the_example_with_stable_baselines_gives_the_same_run_inside(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("stable_baselines3", reason="pip install --require-hashes -r requirements/sb3.lock")
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(ROOT / "examples" / "sb3_dqn.py"))
    for environment in example["ALGORITHMS"]:
        example["main"](environment, 2500)
        assert capsys.readouterr().out.endswith("the same run to the bit\n")


def test_what_is_set_of_the_link_goes_for_scores() -> None:
    def told(*overrides: str) -> Any:
        sets = [word for override in overrides for word in ("--set", override)]
        return cli("score", WINDOW, "--seeds", "2", "--json", "--set", "duration=2 s", *sets)

    rows = json.loads(told("link.bottleneck.rate=5 Mbit/s").stdout)["scores"]
    assert all(0 < row["goodput_share"]["mean"] < 1 for row in rows)
    refused = told(
        'link.bottleneck.rate=[{ at = "0 s", value = "5 Mbit/s" }, { at = "1 s", value = "1 Mbit/s" }]'
    )
    assert refused.exit_code == 2
    assert "the link's `rate` changes" in str(refused.stderr)


def test_the_command_of_a_training_repeats_it(cwndlab: Command, scenario: Path) -> None:
    options = ("--scenario", scenario.name, "--flow", "b", "--set", "flow.b.cc.epsilon=0.5")
    assert cwndlab("train", WINDOW, "--decisions", "20", *options, "--out", "one").returncode == 0
    held = about.read(cwndlab.folder / "one")
    assert held is not None
    _, *words = shlex.split(held.command)
    assert cwndlab(*words, "--out", "two").returncode == 0
    again = about.read(cwndlab.folder / "two")
    assert again == held
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        assert (cwndlab.folder / "one" / name).read_bytes() == (cwndlab.folder / "two" / name).read_bytes()
    assert cwndlab(*words, "--from", "one/weights.safetensors", "--out", "three").returncode == 0
    later = about.read(cwndlab.folder / "three")
    assert later is not None
    assert "--from one/weights.safetensors" in later.command
