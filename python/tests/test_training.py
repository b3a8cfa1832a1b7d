"""`cwndlab train` and `score`, and the example with an agent of its own."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cwndlab.cli import app
from cwndlab.environments import scores, training
from cwndlab.environments.course import course
from cwndlab.environments.training import Training, train
from tests.documents import ROOT

NEWRENO = "cwndlab/DqnNewReno-v0"
WINDOW = "cwndlab/Window-v0"


def cli(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_training_repeats_itself() -> None:
    first, second = train(NEWRENO, 2500, seed=4), train(NEWRENO, 2500, seed=4)
    assert first == second
    assert first.weights != train(NEWRENO, 2500, seed=5).weights
    assert sum(episode.decisions for episode in first.episodes) <= 2500


def test_what_is_learned_is_better_than_chance() -> None:
    learned = train(WINDOW, 8000).weights
    rows = {row.name: row for row in scores.score(WINDOW, range(901, 911), learned)}
    assert list(rows) == ["constant", "cubic", "bbr3", "random", "trained"]
    trained, random = rows["trained"].mean_reward.mean, rows["random"].mean_reward.mean
    assert trained is not None
    assert random is not None
    assert trained > random + 0.05
    assert all(row.mean_reward.mean is None for name, row in rows.items() if name in scores.ALGORITHMS)


def test_an_agent_that_acts_by_chance_is_the_dqn_that_always_explores() -> None:
    """The same distribution, from two sources of random numbers."""
    rows = {row.name: row for row in scores.score(NEWRENO, range(1, 21))}
    played = [
        json.loads(
            course(NEWRENO, None, [], None).with_algorithm(
                seed, '{ name = "dqn-newreno", policy = "play", epsilon = 1 }'
            )
        )["flows"][0]["goodput_mbps"]
        for seed in range(1, 21)
    ]
    drawn = course(NEWRENO, None, [], None)
    shares = [
        goodput / dict(drawn.drawn(seed))["link_rate_mbps"]
        for seed, goodput in zip(range(1, 21), played, strict=True)
    ]
    assert rows["random"].goodput_share.mean == pytest.approx(sum(shares) / 20, abs=0.05)


def test_ctrl_c_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(environment: str, *_: Any) -> Training:
        def watch(share: float) -> None:
            if share > 0.3:
                raise KeyboardInterrupt

        return train(environment, 5000, watch=watch)

    monkeypatch.setattr(training, "train", stopped)
    answer = cli("train", NEWRENO, "--out", str(tmp_path))
    assert answer.exit_code == 130
    told = json.loads((tmp_path / "training.json").read_text())
    assert told["interrupted"]
    assert told["decisions"] == 2000
    assert (tmp_path / "weights.safetensors").read_bytes() == train(NEWRENO, 2000).weights


def test_training_goes_on_from_its_weights(tmp_path: Path) -> None:
    answer = cli("train", NEWRENO, "--decisions", "2100", "--out", str(tmp_path), "--json")
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert document["environment"] == NEWRENO
    assert document["episodes"][0]["seed"] == 1
    weights = str(tmp_path / "weights.safetensors")
    before = Path(weights).read_bytes()
    again = cli("train", NEWRENO, "--decisions", "100", "--from", weights, "--out", str(tmp_path))
    assert again.exit_code == 0
    assert Path(weights).read_bytes() == before, "nothing is learned before the warm-up is over"
    answer = cli("score", NEWRENO, "--seeds", "2", "--weights", weights, "--json")
    assert [row["name"] for row in json.loads(answer.stdout)["scores"]][-1] == "trained"


def test_mistakes_are_told(tmp_path: Path) -> None:
    def told(*arguments: str) -> str:
        answer = cli(*arguments)
        assert answer.exit_code == 2, answer.stdout
        return str(answer.stderr)

    assert "no environment is called `dqn`" in told("train", "dqn", "--out", str(tmp_path))
    assert "none.safetensors: cannot be read" in told("train", NEWRENO, "--from", "none.safetensors")
    (tmp_path / "w").write_bytes(train(WINDOW, 1).weights)
    given = ("--from", str(tmp_path / "w"), "--out", str(tmp_path))
    assert "it holds a network of 5-30-30-30-5; the environment needs one of 3-30-30-30-7" in told(
        "train", NEWRENO, *given
    )
    raw = ("train", WINDOW, "--set", "flow.0.cc.colour=1", "--out", str(tmp_path))
    assert "unknown key `colour`" in told(*raw)


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "small_agent.py"))["main"](3000)
    means = dict(line.split() for line in capsys.readouterr().out.splitlines()[1:])
    assert float(means["learned"]) > float(means["random"]) + 0.1


def test_what_an_episode_draws_cannot_be_set_for_scores() -> None:
    answer = cli("score", WINDOW, "--seeds", "2", "--set", "link.bottleneck.rate=5 Mbit/s")
    assert answer.exit_code == 2
    assert "--set link.bottleneck.rate: each episode draws it by its seed" in str(answer.stderr)
    assert cli("score", WINDOW, "--seeds", "2", "--set", "duration=2 s").exit_code == 0
