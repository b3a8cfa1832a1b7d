"""How much each key of a sweep matters: Sobol' indices."""

from __future__ import annotations

import math
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import qmc, sobol_indices

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.scenarios.sampling import sampling
from cwndlab.statistics.sobol import indices, saltelli
from tests.conftest import SCENARIO, Command

# A link that no flow uses.
IDLE = '\n[[link]]\nname = "idle"\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
OVER = {
    "link.bottleneck.rate": "lin(5..20 Mbit/s)",
    "link.idle.rate": "lin(1..9 Mbit/s)",
    "flow.*.cc": ["cubic", "reno"],
}


pytestmark = pytest.mark.usefixtures("own_cache")


def ishigami(x: np.ndarray) -> list[float]:
    values = np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
    return [float(value) for value in values]


def known_indices() -> list[tuple[float, float]]:
    """First order and total of the function of Ishigami and Homma 1990, with a = 7 and b = 0.1."""
    a, b = 7.0, 0.1
    variance = a**2 / 8 + b * math.pi**4 / 5 + b**2 * math.pi**8 / 18 + 0.5
    first = 0.5 * (1 + b * math.pi**4 / 5) ** 2 / variance
    with_third = b**2 * math.pi**8 * (1 / 18 - 1 / 50) / variance
    second = a**2 / 8 / variance
    return [(first, first + with_third), (second, second), (0.0, with_third)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_indices_of_a_function_whose_indices_are_known(seed: int) -> None:
    unit = qmc.Sobol(6, rng=seed).random(1024)
    rows = math.pi * (2 * saltelli(unit[:, :3], unit[:, 3:]) - 1)
    found = indices(ishigami(rows), 3)
    assert found is not None
    for measures, truths in zip(found, known_indices(), strict=True):
        for measure, truth in zip(measures, truths, strict=True):
            assert measure.mean == pytest.approx(truth, abs=0.03)
            low, high = measure.interval or (0, 0)
            assert low <= truth <= high
            assert high - low < 0.25


@pytest.mark.parametrize("inputs", [2, 5])
def test_indices_are_those_of_scipy(inputs: int) -> None:
    blocks = np.random.default_rng(inputs).normal(3, 1, (inputs + 2, 8))
    first, second, *mixed = blocks[:, np.newaxis, :].copy()
    theirs = sobol_indices(func={"f_A": first, "f_B": second, "f_AB": np.array(mixed)}, n=8)
    ours = indices([float(value) for value in blocks.ravel()], inputs)
    assert ours is not None
    assert [alone.mean for alone, _ in ours] == pytest.approx(list(theirs.first_order), rel=1e-12)
    assert [total.mean for _, total in ours] == pytest.approx(list(theirs.total_order), rel=1e-12)


def test_the_only_input_has_everything() -> None:
    unit = qmc.Sobol(2, rng=1).random(256)
    found = indices([float(value) for value in saltelli(unit[:, :1], unit[:, 1:]).ravel()], 1)
    assert found is not None
    [(alone, total)] = found
    assert [alone.mean, total.mean] == pytest.approx([1, 1], abs=0.03)


@pytest.mark.parametrize("values", ["lin(5..20 Mbit/s)", ["5 Mbit/s", "20 Mbit/s"]])
def test_a_sweep_of_one_key(values: str | list[str]) -> None:
    made = cl.sweep(SCENARIO, {"link.0.rate": values}, seeds=1, sample=4, sensitivity="goodput")
    assert [each.key for each in made.indices()] == ["link.0.rate"]


def test_nothing_varies() -> None:
    assert indices([3.0] * 16, 2) is None


def test_a_key_that_cannot_matter_has_no_share(tmp_path: Path) -> None:
    made = cl.sweep(SCENARIO + IDLE, OVER, seeds=1, sample=32, sensitivity="goodput")
    rate, idle, cc = made.indices()
    assert [each.key for each in (rate, idle, cc)] == list(OVER)
    assert (idle.alone.mean, idle.total.mean) == (0, 0)
    assert (rate.alone.mean or 0) > 0.8
    assert (cc.total.mean or 1) < 0.1
    assert len(made.points) <= 32 * 5
    first, share, hardly, *_ = made.answer()
    assert first == "link.bottleneck.rate matters most for goodput."
    assert share.startswith("On its own, link.bottleneck.rate explains ")
    assert " % of the variance of goodput; with its interactions, " in share
    assert "link.idle.rate" in hardly
    document = made.to_json()["sensitivity"]
    assert document["total"] == "goodput_mbps"
    assert document["keys"][0] == rate.to_json()
    made.save(tmp_path / "o", figures=False)
    assert made.plot("sensitivity").axes
    assert "Which key matters" in (tmp_path / "o" / "report.html").read_text()
    loaded = cl.load(tmp_path / "o")
    assert isinstance(loaded, cl.Sweep)
    assert loaded.indices() == made.indices()
    assert loaded.indices("queue_delay_ms") == made.indices("queue_delay_ms")
    assert loaded.command == made.command


def test_the_command(scenario: Path, cwndlab: Command, tmp_path: Path) -> None:
    line = ("--over", "link.0.rate=log(5..20 Mbit/s)", "--over", "link.0.queue=lin(1..4 bdp)", "--seeds", "1")
    chosen = ("--sensitivity", "queue delay", "--sample", "32", "--sample-seed", "3")
    answer = cwndlab("sweep", str(scenario), *line, *chosen, "--no-figure", "--out", "o")
    assert answer.returncode == 0, answer.stderr
    assert "matters most for queue delay" in answer.stdout
    assert "with others" in answer.stdout
    words = shlex.split(cl.load(tmp_path / "o").command)
    again = cwndlab(*words[1:], "--no-figure", "--out", "o")
    assert again.stdout == answer.stdout


def test_few_draws_name_no_key() -> None:
    made = cl.sweep(SCENARIO + IDLE, OVER, seeds=1, sample=16, sensitivity="goodput")
    first, *others = made.answer()
    assert first == (
        "16 draws are too few to say which key matters for goodput: a sample of 32 or more is needed."
    )
    assert not any("matter" in line for line in others)
    assert len(made.indices()) == 3


def test_no_order_is_told_that_the_intervals_do_not_show() -> None:
    over = {f"flow.{name}.cc": ["cubic", "reno", "vegas"] for name in "ab"}
    made = cl.sweep(SCENARIO, over, seeds=1, sample=32, sensitivity="goodput")
    one, other = ((each.total.interval or (0, 0)) for each in made.indices())
    assert one[0] <= other[1]
    assert other[0] <= one[1]
    first, share, *_ = made.answer()
    assert first in {
        f"It is not shown whether {keys} matters most for goodput: their intervals overlap."
        for keys in ("flow.a.cc or flow.b.cc", "flow.b.cc or flow.a.cc")
    }
    assert share.split()[3] == first.split()[5]


def test_no_indices_without_a_value() -> None:
    over = {"link.0.rate": "lin(5..9 Mbit/s)", "flow.b.enabled": "true|false"}
    made = cl.sweep(SCENARIO, over, seeds=1, sample=4, sensitivity="jain")
    assert made.answer()[0] == "No indices: expected jain at all 8 points, found none at 4."
    assert made.to_json()["sensitivity"] == {"total": "jain", "keys": []}
    with pytest.raises(InputError, match="timeouts is the same at all points"):
        made.indices("timeouts")
    with pytest.raises(InputError, match="expected a total"):
        made.indices("speed")


def test_mistakes() -> None:
    for arguments, message in [
        ((None, None, None), "--sensitivity: expected --sample N with it"),
        ((48, None, None), "--sensitivity: expected --sample with a power of 2, such as 32 or 64, found 48"),
        ((1, None, None), "--sensitivity: expected --sample with 2 points or more, found 1"),
        ((64, "lhs", None), "--design lhs: expected none with --sensitivity"),
    ]:
        with pytest.raises(InputError) as error:
            sampling(*arguments, mixed=True)
        assert message in str(error.value)
    with pytest.raises(InputError, match="sensitivity='speed': expected one of goodput"):
        cl.sweep(SCENARIO, {"link.0.rate": "lin(5..9 Mbit/s)"}, sample=4, sensitivity="speed")
    over, alone = {"link.0.rate": "lin(5..9 Mbit/s)"}, {"flow.b.enabled": False}
    with pytest.raises(
        InputError, match="sensitivity='Jain': expected a scenario with two flows or more, found 1"
    ):
        cl.sweep(SCENARIO, over, overrides=alone, sample=4, sensitivity="jain")
    with pytest.raises(InputError, match="expected no across"):
        cl.sweep(SCENARIO, {}, sample=4, sensitivity="goodput", across={"link.0.loss": ["0", "0.1"]})
    with pytest.raises(InputError, match="found another design"):
        cl.sweep(SCENARIO, {"link.0.rate": "lin(5..9 Mbit/s)"}, seeds=1, sample=2).indices()
