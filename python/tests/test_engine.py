"""Engines as values: the one that ships, and a user's module beside it."""

from __future__ import annotations

import copy
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cwndlab import _native
from cwndlab.engine import SHIPPED, in_use
from cwndlab.scenarios.scenario import Scenario
from tests.conftest import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Callable

    Script = Callable[[str], str]

# In a process of its own: an engine is put into use for good.
BEGIN = f"""
import copy, pickle
import cwndlab as cl
from cwndlab import _native, engine
from cwndlab.engine import SHIPPED
from cwndlab.scenarios.scenario import Scenario

TEXT = b'''{SCENARIO}'''
before = Scenario(TEXT, "x.toml")
"""


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Run a script beside the package `twin`, whose module is a copy of ours."""
    twin = tmp_path / "twin"
    twin.mkdir()
    shutil.copy(str(_native.__file__), twin / Path(str(_native.__file__)).name)
    (twin / "__init__.py").write_text(
        "import cwndlab.engine\nfrom twin import _native\n\ncwndlab.engine.use(_native)\n"
    )

    def run(body: str) -> str:
        (tmp_path / "script.py").write_text(BEGIN + body)
        words = [sys.executable, "script.py"]
        answer = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.strip()

    return run


def test_a_scenario_keeps_the_engine_that_it_was_made_with(script: Script) -> None:
    told = script(
        """
import twin
after = Scenario(TEXT, "x.toml")
print(before.engine.name, after.engine.name, before.overridden(("warmup", "1 s")).engine.name)
print(before == after)
print(after.canonical == before.canonical, after.engine.sha256 == before.engine.sha256)
print(cl.run(TEXT.decode(), seeds=2).scenario.engine.name)
"""
    )
    assert told.split() == [
        "cwndlab._native",
        "twin._native",
        "cwndlab._native",
        "False",
        "True",
        "True",
        "twin._native",
    ]


def test_another_engine_leaves_the_attributes_of_ours_alone(script: Script) -> None:
    told = script(
        """
names = dict(vars(_native))
import twin
print(vars(_native) == names, engine.in_use().run_seed is SHIPPED.run_seed, cl.Ack is twin._native.Ack)
"""
    )
    assert told.split() == ["True", "False", "True"]


def test_controllers_in_python_are_registered_in_the_engine_in_use_and_those_before_in_both(
    script: Script,
) -> None:
    told = script(
        """
class Still:
    def __init__(self, setup): self.cwnd_bytes = setup.initial_window_bytes
    def on_ack(self, ack): assert type(ack).__init__ is not None
    def on_event(self, event): pass

cl.controller("first")(Still)
import twin
cl.controller("second")(Still)
for each in (SHIPPED, engine.in_use()):
    known = {entry["name"] for entry in each.read_catalogue()["algorithms"]}
    print([name in known for name in ("first", "second")], list(each.registered))
print(len(cl.run(TEXT.decode(), seeds=1, overrides={"flow.a.cc": "first", "flow.b.cc": "second"}).runs))
"""
    )
    assert told.splitlines() == ["[True, False] ['first']", "[True, True] ['first', 'second']", "1"]


def test_copies_of_environments_are_of_the_engine_that_made_them(script: Script) -> None:
    pytest.importorskip("gymnasium")
    told = script(
        """
from cwndlab.gym import FlowEnv, FlowVectorEnv, Policy
ours = FlowEnv("cwndlab/Window-v0")
import twin
import cwndlab.gym
theirs = FlowEnv("cwndlab/Window-v0")
fleet = FlowVectorEnv("cwndlab/Window-v0", 2)
for env in (ours, theirs):
    env.reset(seed=3)
    for same in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        print(type(same.course) is type(env.course), same.step(1)[1] == copy.deepcopy(env).step(1)[1])
print(type(ours.course) is type(theirs.course))
fleet.reset(seed=1)
print(type(copy.deepcopy(fleet)._fleet) is twin._native.EpisodeFleet, cwndlab.gym.Policy is Policy)
"""
    )
    assert told.split() == ["True", "True"] * 4 + ["False", "True", "False"]


def test_an_engine_travels_by_its_name(script: Script) -> None:
    assert pickle.loads(pickle.dumps(SHIPPED)) is copy.deepcopy(SHIPPED) is in_use() is SHIPPED
    scenario = Scenario(b"", "x.toml")
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    script("import twin; open('pickled', 'wb').write(pickle.dumps(Scenario(TEXT, 'x.toml')))")
    assert script("print(pickle.loads(open('pickled', 'rb').read()).engine.name)") == "twin._native"


def test_one_engine_at_a_time(script: Script) -> None:
    told = script(
        """
import types
import twin
engine.use(twin._native)
try:
    engine.use(types.ModuleType("other._native"))
except cl.InputError as error:
    print(error)
"""
    )
    expected = "other._native: twin._native is already in use; put the algorithms of both into one crate"
    assert told == expected


def test_an_engine_that_is_not_installed_or_not_put_into_use(script: Script) -> None:
    told = script(
        """
from cwndlab.engine.selection import named
for name in ("absent._native", "json._native"):
    try:
        named(name)
    except cl.InputError as error:
        print(error)
"""
    )
    assert told.splitlines() == [
        "absent: cannot be imported here (No module named 'absent')",
        "json: does not put json._native into use (cwndlab.engine.use)",
    ]


def test_a_worker_in_another_process_takes_the_engine_of_the_scenario(script: Script) -> None:
    told = script(
        """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

if __name__ == "__main__":
    text = TEXT.decode()
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        ours = cl.run(text, seeds=1, fresh=True, executor=executor)
        import twin
        theirs = cl.run(text, seeds=1, fresh=True, executor=executor)
    print(theirs.scenario.engine.name, ours.runs[0].outcome == theirs.runs[0].outcome)
    open(twin.__file__, "w").close()
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        try:
            cl.run(text, seeds=1, fresh=True, executor=executor)
        except cl.InputError as error:
            print(error)
"""
    )
    assert told.splitlines() == [
        "twin._native True",
        "the worker: twin: does not put twin._native into use (cwndlab.engine.use)",
    ]
