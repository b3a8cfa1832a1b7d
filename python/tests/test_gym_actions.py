"""Which actions are taken, alone, in a vector and of several agents; wrong ones leave no trace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, FlowsEnv, FlowVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = "cwndlab/Window-v0"
ACTIONS = 5
pytestmark = pytest.mark.filterwarnings("error")

integers = st.sampled_from(
    [int, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, lambda value: np.array(value)]
)
wrong = st.one_of(
    st.booleans(),
    st.booleans().map(np.bool_),
    st.floats(width=32),
    st.floats(width=32).map(np.float32),
    st.floats(width=32).map(np.array),
    st.sampled_from([float("nan"), float("inf"), 0.0, 1.0, 1.7, np.float64(1), np.array(True)]),
    st.none(),
    st.text(max_size=200),
    st.complex_numbers(),
    st.integers(max_value=-1),
    st.integers(min_value=ACTIONS),
    st.lists(st.integers(0, ACTIONS - 1), max_size=2),
    st.tuples(st.integers(0, ACTIONS - 1)),
    st.integers(1, 2).map(lambda length: np.zeros(length, int)),
    st.just(np.zeros((1, 1), int)),
    st.just(object),
    st.builds(np.timedelta64, st.integers(0, 4), st.just("s")),
)


def refusal(step: Callable[[Any], Any], action: Any) -> str:
    with pytest.raises(InputError) as refused:
        step(action)
    return str(refused.value)


@settings(max_examples=150, deadline=None)
@given(wrong)
def test_all_environments_refuse_the_same_actions_alike(action: Any) -> None:
    alone, several = FlowEnv(WINDOW), FlowsEnv(WINDOW)
    vector = FlowVectorEnv(WINDOW, 2, threads=1)
    for env in (alone, several, vector):
        env.reset(seed=1)
    told = refusal(alone.step, action)
    assert re.fullmatch(r"action: expected an integer from 0 to 4, found .{1,70}", told)
    in_vector = told.replace("action", "action of environment 1", 1)
    assert refusal(vector.step, [0, action]) == in_vector
    assert refusal(vector.step, (0, action)) == in_vector
    if np.ndim(action) == 0 and not isinstance(action, (str, type)):
        objects = np.array([0, None], dtype=object)
        objects[1] = action
        assert refusal(vector.step, objects) == in_vector
    assert refusal(several.step, action) == told.replace("action", f"action of {several.agent_selection}", 1)


@pytest.mark.parametrize("dtype", [bool, np.float32, np.float64, np.float16, complex, str, object])
def test_an_array_of_another_type_is_refused(dtype: Any) -> None:
    vector = FlowVectorEnv(WINDOW, 2)
    vector.reset(seed=1)
    actions = np.array([1, None], dtype=object) if dtype is object else np.array([0, 1]).astype(dtype)
    assert refusal(vector.step, actions).startswith("action of environment ")


def test_a_vector_takes_an_action_for_each_environment() -> None:
    vector = FlowVectorEnv(WINDOW, 2)
    vector.reset(seed=1)
    for actions, found in [
        (np.zeros(3, int), "an array of shape (3,)"),
        (np.zeros((2, 1), int), "an array of shape (2, 1)"),
        ([0], "a list of length 1"),
        (1, "1"),
        (None, "None"),
    ]:
        told = refusal(vector.step, actions)
        assert told == f"actions: expected 2 integers from 0 to 4, found {found}"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, ACTIONS - 1), integers, wrong), min_size=1, max_size=10))
def test_a_refused_action_changes_nothing(steps: list[tuple[int, Any, Any]]) -> None:
    """Nor does the type of an integer."""

    def told(*, refuse: bool) -> list[Any]:
        alone, several = FlowEnv(WINDOW), FlowsEnv(WINDOW)
        vector = FlowVectorEnv(WINDOW, 2, threads=1)
        seen: list[Any] = [env.reset(seed=1) for env in (alone, several, vector)]
        for action, integer, bad in steps:
            if refuse:
                refusal(alone.step, bad)
                # The first action is right, and is not done.
                refusal(vector.step, [action, bad])
                refusal(several.step, bad)
            given = integer(action) if refuse else action
            several.step(given)
            seen += [alone.step(given), vector.step(np.array([given, given])), several.last()]
        return seen

    assert repr(told(refuse=True)) == repr(told(refuse=False))


@pytest.mark.parametrize("made", [FlowEnv, FlowsEnv])
def test_a_step_before_the_first_reset_is_refused(made: Callable[[str], Any]) -> None:
    with pytest.raises(RuntimeError, match="there is no episode yet: call reset"):
        made(WINDOW).step(0)
