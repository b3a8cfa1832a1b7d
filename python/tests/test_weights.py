"""What a run has learned: kept with the run, left in its folder, and played again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cwndlab as cl

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
duration = "8 s"
[[link]]
name  = "bottleneck"
rate  = "20 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[[flow]]
name = "a/b"
cc   = { name = "dqn-newreno", warmup = 200 }
path = ["bottleneck"]
[[flow]]
name = "other"
cc   = "cubic"
path = ["bottleneck"]
"""
TWO_PATHS = """
duration = "4 s"
[[link]]
name  = "one"
rate  = "20 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[[link]]
name  = "two"
rate  = "20 Mbit/s"
delay = "10 ms"
queue = "20 packets"
[[flow]]
name  = "m"
cc    = { name = "uncoupled:dqn-newreno", warmup = 100 }
paths = [["one"], ["two"]]
"""
FILE = "weights/a%2Fb-seed-2.safetensors"


def test_a_run_keeps_what_it_has_learned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path))
    first = cl.run(LINK, 2).weights
    assert set(first) == {("a/b", 1), ("a/b", 2)}
    assert first["a/b", 1] != first["a/b", 2]
    again = cl.run(LINK, 2)
    assert all(run.reused for run in again.runs)
    assert again.weights == first


def test_it_is_left_in_the_folder_and_plays(tmp_path: Path) -> None:
    learned = cl.run(LINK, [2])
    learned.save(tmp_path, figures=False)
    file = tmp_path / FILE
    assert file.read_bytes() == learned.weights["a/b", 2]
    cc = f'{{ name = "dqn-newreno", policy = "play", weights = "{file}" }}'
    played = cl.run(LINK, [2], {"flow.0.cc": cc})
    assert played.weights["a/b", 2] == file.read_bytes()
    # A result of another kind leaves no file of this one.
    cl.run(LINK, [2], {"flow.0.cc": "cubic"}).save(tmp_path, figures=False, replace=True)
    assert not file.exists()


def test_each_subflow_has_learned_for_itself(tmp_path: Path) -> None:
    learned = cl.run(TWO_PATHS, 1)
    assert set(learned.weights) == {("m/1", 1), ("m/2", 1)}
    assert learned.weights["m/1", 1] != learned.weights["m/2", 1]
    learned.save(tmp_path, figures=False)
    assert (tmp_path / "weights/m%2F1-seed-1.safetensors").read_bytes() == learned.weights["m/1", 1]


def test_weights_that_do_not_suit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    file.write_bytes(cl.run(LINK, [2]).weights["a/b", 2])
    with pytest.raises(cl.ScenarioError, match="5-50-50-50-50-50-4, found 3-30-30-30-7"):
        cl.run(LINK, 1, {"flow.0.cc": f'{{ name = "dqn-cubic", weights = "{file}" }}'})
    file.write_bytes(b"nothing")
    with pytest.raises(cl.ScenarioError, match="it is not a safetensors file"):
        cl.run(LINK, 1, {"flow.0.cc": f'{{ name = "dqn-newreno", weights = "{file}" }}'})
