"""Arguments of other types than documented are input errors, in one line that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.gym import FlowEnv, train
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
        ({"seeds": None}, "seeds: expected a whole number or a list of whole numbers, found None"),
        ({"seeds": "1-3"}, "seeds: expected a whole number or a list of whole numbers, found '1-3'"),
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cl.sweep(SCENARIO, RATES, sample=-2), "sample=-2: expected 1 to 100000"),
        (
            lambda: cl.sweep(SCENARIO, RATES, sample_seed=3),
            "sample_seed=3: expected sample=N with it, found none",
        ),
        (
            lambda: cl.sweep(SCENARIO, {**RATES, "link.0.rate": ["3 Mbit/s"]}),
            "over['link.bottleneck.rate']: expected a key that nothing sets again, found over['link.0.rate']",
        ),
        (
            lambda: cl.sweep(SCENARIO, {"flow.a.cc": ["renno"]}),
            "over['flow.a.cc']: error: unknown algorithm `renno`; did you mean `reno`?",
        ),
        (lambda: cl.compare(SCENARIO, BOTH, ["c"]), "flows='c': no such flow; expected one of: a, b"),
        (lambda: cl.compare(SCENARIO, ["cubic", "renno"]), "algorithms='renno': error: unknown algorithm"),
        (
            lambda: cl.run(SCENARIO, overrides={"link.0.rat": 1}),
            "overrides['link.0.rat']: error: link.bottleneck.rat: unknown key `rat`; did you mean `rate`?",
        ),
        (
            lambda: FlowEnv("cwndlab/Window-v0", overrides={"tcp.ms": 1}),
            "overrides['tcp.ms']: error: unknown key",
        ),
        (
            lambda: train("cwndlab/Window-v0", 1, overrides={"tcp.ms": 1}),
            "overrides['tcp.ms']: error: unknown key",
        ),
    ],
)
def test_messages_name_arguments_not_options(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message), error.value
    assert "--" not in str(error.value).replace("--with", "")


def test_problems_of_a_scenario_name_arguments() -> None:
    with pytest.raises(cl.ScenarioError) as error:
        cl.run(SCENARIO, overrides={"flow.a.cc": "renno", "tcp.ms": 1})
    texts = [problem.text for problem in error.value.problems]
    assert [text.partition(":")[0] for text in texts] == ["overrides['flow.a.cc']", "overrides['tcp.ms']"]
    assert str(error.value) == "\n".join(texts)


def test_an_argument_that_does_not_exist() -> None:
    message = r"^run\(\) got an unexpected keyword argument 'seed'; did you mean seeds\?$"
    with pytest.raises(TypeError, match=message):
        cl.run(SCENARIO, seed=3)  # type: ignore[call-arg]


def test_figures_and_folders_name_arguments() -> None:
    result: Any = cl.run(SCENARIO, seeds=1)
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: result.plot("boxs"), "kind: expected a figure .*, found 'boxs'; did you mean box?"),
        (lambda: result.plot("box", "size"), "measure: expected a measure of a flow"),
        (
            lambda: result.plot("box", labels={"zz": "y"}),
            r"labels\['zz'\]: expected one of a, cubic, b, reno",
        ),
        (lambda: result.save("/proc/x"), "folder='/proc/x': cannot be written"),
        (lambda: result.measure("goodput"), "metric: expected a function, found 'goodput'"),
    ]
    for call, message in wrong:
        with pytest.raises(InputError, match=f"^{message}"):
            call()


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
