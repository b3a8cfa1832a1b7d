"""Arguments of other types than documented are input errors, in one line that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.system.arguments import TEXTS, WHOLES, checked, optional
from tests.conftest import SCENARIO

RATES = {"link.bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]}
BOTH = ["reno", "cubic"]


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source": None}, "source: expected a path, a text or a dictionary"),
        ({"source": 5}, "source: expected a path"),
        ({"source": b"x"}, "source: expected a path"),
        ({"seeds": None}, "seeds: expected a list of whole numbers, found None"),
        ({"seeds": "1-3"}, "seeds: expected a list of whole numbers, found '1-3'"),
        ({"seeds": 1.5}, "seeds: expected "),
        ({"seeds": ["1"]}, "seeds: expected "),
        ({"seeds": True}, "seeds: expected "),
        ({"seeds": iter(["1"])}, "seeds: expected "),
        ({"threads": "2"}, "threads: expected a whole number, found '2'"),
        ({"qlog": 5}, "qlog: expected a path, found 5"),
        ({"backend": None}, "backend: expected a text, found None"),
    ],
)
def test_a_run(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        cl.run(**{"source": SCENARIO, "seeds": 1, **given})


def test_a_dictionary_that_contains_itself() -> None:
    endless: dict[str, Any] = {}
    endless["flow"] = endless
    with pytest.raises(InputError, match="the scenario cannot be written as TOML"):
        cl.run(endless)


def test_seeds_of_numpy_and_of_a_generator_count() -> None:
    for seeds in (np.int64(2), np.array([1, 2]), (seed for seed in (1, 2))):
        assert cl.run(SCENARIO, seeds).seeds == [1, 2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"algorithms": None}, "algorithms: expected a list of texts, found None"),
        ({"algorithms": [1, 2]}, "algorithms: expected a list of texts"),
        ({"algorithms": "reno,cubic"}, "algorithms: expected a list of texts, found 'reno,cubic'"),
        ({"flows": 0}, "flows: expected a list of texts or whole numbers, found 0"),
        ({"flows": "a"}, "flows: expected a list of texts or whole numbers, found 'a'"),
        ({"across": 5}, "across: expected a dictionary"),
        (
            {"across": {"link.bottleneck.rate": 5}},
            "link.bottleneck.rate: expected a text or a list of values",
        ),
        ({"link": 5}, "link: expected a text"),
    ],
)
def test_a_comparison(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        cl.compare(SCENARIO, **{"algorithms": BOTH, **given})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"over": 5}, "over: expected a dictionary whose keys are texts or a path, found 5"),
        ({"over": {1: ["a"]}}, "over: expected a dictionary whose keys are texts"),
        ({"over": {"link.bottleneck.rate": 1}}, "link.bottleneck.rate: expected a text or a list of values"),
        ({"over": {"a+b": [1]}}, r"a\+b: expected a text or a list of values, found 1"),
        ({"sample": "2"}, "sample: expected a whole number, found '2'"),
        ({"sample_seed": 1.5}, "sample_seed: expected a whole number"),
        ({"until": 1}, "until: expected a text"),
    ],
)
def test_a_sweep(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        cl.sweep(SCENARIO, **{"over": RATES, **given})


def test_a_result(tmp_path: Path) -> None:
    result: Any = cl.run(SCENARIO, seeds=1)
    wrong: list[Callable[[], Any]] = [
        lambda: result.answer(best=1),
        lambda: result.answer(limits="delay p95 < 1 ms"),
        lambda: result.to_markdown(labels="a"),
        lambda: result.to_latex(labels="a"),
        lambda: result.plot(kind=1),
        lambda: result.save(tmp_path, formats=None),
        lambda: result.save(None),
        lambda: cl.load(None),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(InputError, match=r"^[a-z]+: expected (a|the) "):
            call()


def test_values_are_shortened_and_iterators_are_not_read() -> None:
    @checked(words=TEXTS, numbers=optional(WHOLES))
    def counted(words: Any, numbers: Any = None) -> tuple[int, Any]:
        return len(list(words)), numbers

    assert counted(iter(["a", "b"])) == (2, None)
    assert counted(words=("a",), numbers=[np.int8(1)]) == (1, [1])
    with pytest.raises(
        InputError, match=r"^numbers: expected a list of whole numbers, found \[True, .*\.\.\.$"
    ):
        counted([], [True] * 100)
    with pytest.raises(TypeError, match="missing a required argument: 'words'"):
        counted()  # type: ignore[call-arg]
