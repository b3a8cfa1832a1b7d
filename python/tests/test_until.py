"""Seeds are added until a total is precise enough, by a rule whose intervals keep their level."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.output.answers.precision import precision
from cwndlab.output.tables.sweep import block
from cwndlab.results import sweep
from cwndlab.results.until import Until
from cwndlab.running.looking import run_until
from cwndlab.scenarios.axis import Axis
from cwndlab.statistics.measure import measure
from tests.conftest import SCENARIO, Command
from tests.samples import flow, link, outcome, result

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator], NDArray[np.float64]]

OVER = {"link.bottleneck.queue": ["0.5 bdp", "4 bdp"]}


pytestmark = pytest.mark.usefixtures("own_cache")


def until(text: str = "goodput ±5 %", count: int = 40) -> Until:
    return precision(text, range(1, count + 1))


@pytest.mark.parametrize(
    ("count", "looks"), [(80, [5, 10, 20, 40, 80]), (50, [5, 10, 20, 40, 50]), (5, [5]), (3, [3])]
)
def test_looks_are_fixed_in_advance(count: int, looks: list[int]) -> None:
    assert until(count=count).looks == looks
    assert until(count=count).level == pytest.approx(1 - 0.05 / len(looks))


@pytest.mark.parametrize(
    ("text", "key", "half_width", "is_share"),
    [
        ("goodput ±1 %", "goodput_mbps", 0.01, True),
        ("goodput_mbps +-500 kbit/s", "goodput_mbps", 0.5, False),
        ("delay p95 ± 2ms", "queue_delay_p95_ms", 2, False),
        ("Jain +/-0.01", "jain", 0.01, False),
        ("utilisation ±1 %", "utilisation", 0.01, True),
    ],
)
def test_what_is_written(text: str, key: str, half_width: float, is_share: bool) -> None:
    read = until(text)
    assert (read.key, read.half_width, read.is_share) == (key, half_width, is_share)
    assert until(read.text) == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("goodput 1 %", "expected a total and a half-width"),
        ("speed ±1 %", "expected one of goodput, RTT"),
        ("goodput ±1 ms", "expected Mbit/s, kbit/s, Gbit/s, %, found ms"),
        ("goodput ±1", "found no unit"),
        ("goodput ±0 %", "expected a finite half-width above 0, found 0"),
        ("goodput ±1e %", "found the half-width '1e'"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        until(text)
    assert str(error.value).startswith(f"--until {text}: ")
    assert message in str(error.value)


def test_what_does_not_go_with_it(scenario: Path, cwndlab: Command) -> None:
    with pytest.raises(InputError, match="expected --seeds with 2 seeds or more, found 1"):
        until(count=1)
    line = ("sweep", str(scenario), "--over", "flow.a.cc=cubic", "--until", "goodput ±1 %")
    answer = cwndlab(*line, "--backend", "both")
    assert (answer.returncode, "--until: expected --backend sim or linux" in answer.stderr) == (2, True)
    with pytest.raises(InputError, match="expected no across with it"):
        cl.sweep(SCENARIO, OVER, until="goodput ±1 %", across={"link.0.loss": ["0", "0.1"]})
    answer = cwndlab(*line, "--across", "link.0.loss=0,0.1")
    assert (answer.returncode, "--until: expected no --across" in answer.stderr) == (2, True)


def looked_at(values: NDArray[np.float64], rule: Until) -> tuple[int, bool, float, float]:
    """The number of seeds with these values, whether that was enough, and the interval."""
    base = result([]).scenario

    def make(scenarios: Any, seeds: Any) -> Any:
        del scenarios
        return [result([outcome([flow("a", values[seed - 1])], [link("l")]) for seed in seeds])]

    [made], watched = run_until([base], rule, None, make)
    swept = sweep.Sweep(base, [Axis("k", ("v",))], [({"k": "v"}, made)], watched, until=rule)
    low, high = swept.totals[0].measures["goodput_mbps"].interval or (0, 0)
    return len(made.runs), swept.reached[0], low, high


# Coefficients of variation at which the rule ends at different looks, and so biases the most.
@pytest.mark.parametrize("variation", [0.03, 0.05, 0.08, 0.12])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_intervals_contain_the_truth_as_often_as_they_say(shape: str, variation: float) -> None:
    rng = np.random.default_rng(7)
    sigma = np.sqrt(np.log(1 + variation**2))
    draws: dict[str, Draw] = {
        "normal": lambda rng: rng.normal(100, 100 * variation, 40),
        "skewed": lambda rng: 100 * rng.lognormal(-(sigma**2) / 2, sigma, 40),
    }
    found = [looked_at(draws[shape](rng), until()) for _ in range(600)]
    covered = np.mean([low <= 100 <= high for *_, low, high in found])
    assert covered >= 0.96
    within = [abs((low + high) / 2 - 100) <= 5 * 1.001 for _, reached, low, high in found if reached]
    assert np.mean(within) >= 0.97


def test_an_interval_as_if_nobody_had_looked_would_miss_the_truth_too_often() -> None:
    rng = np.random.default_rng(7)
    covered = []
    for _ in range(2000):
        values = rng.normal(100, 8, 40)
        count = next(n for n in (5, 10, 20, 40) if n == 40 or measure(values[:n]).half_width <= 5)  # type: ignore[operator]
        low, high = measure(values[:count]).interval or (0, 0)
        covered.append(low <= 100 <= high)
    assert np.mean(covered) < 0.94


def test_the_fewest_seeds_that_are_enough() -> None:
    values = np.array([100.0, 101, 99, 100.5, 99.5, *[100] * 35])
    assert looked_at(values, until())[:2] == (5, True)
    assert looked_at(values * np.tile([0.5, 1.5], 20), until())[:2] == (40, False)
    assert looked_at(np.full(40, 3.0), until())[:2] == (5, True)


def test_a_sweep_says_what_each_point_used(tmp_path: Path) -> None:
    made = cl.sweep(SCENARIO, OVER, until="retransmitted packets ±30 %", seeds=20)
    counts = [len(each.runs) for _, each in made.points]
    assert set(counts) <= {5, 10, 20}
    assert made.table["seed_count"].to_list() == counts
    assert made.table["reached"].to_list() == made.reached
    document = made.to_json()
    assert document["until"]["looks"] == [5, 10, 20]
    assert [point["seed_count"] for point in document["points"]] == counts
    labels = [row.labels for row in block(made, "goodput_mbps").rows]
    assert [("missed" in row) for row in labels] == [not reached for reached in made.reached]
    missed = made.reached.count(False)
    said = [line for line in made.answer() if "did not reach" in line]
    assert said == ([f"{missed} of 2 points did not reach retrans. ±30 % with 20 seeds."] if missed else [])
    # After Ctrl-C, some seeds were not tried.
    cut = [(settings, replace(each, interrupted=True)) for settings, each in made.points]
    assert not any("did not reach" in line for line in replace(made, points=cut).answer())
    made.save(tmp_path / "o", figures=False)
    made.save(tmp_path / "o", figures=False)
    loaded = cl.load(tmp_path / "o")
    assert isinstance(loaded, cl.Sweep)
    assert (loaded.until, loaded.command) == (made.until, made.command)
    assert loaded.table.equals(made.table)
    assert "in spite of 3 looks" in (tmp_path / "o" / "report.html").read_text()
    wide = document["points"][0]["flows"][0]["goodput_mbps"]["ci95"]
    narrow = made.points[0][1].summary.flows[0].measures["goodput_mbps"].interval or (0, 0)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_its_command_repeats_it(scenario: Path, cwndlab: Command, tmp_path: Path) -> None:
    line = ("--over", "link.bottleneck.queue=0.5 bdp,4 bdp", "--until", "goodput +-2 %", "--no-figure")
    first = cwndlab("sweep", str(scenario), *line, "--out", "o")
    assert first.returncode == 0, first.stderr
    made = cl.load(tmp_path / "o")
    words = shlex.split(made.command)
    assert words[-4:] == ["--until", "goodput ±2 %", "--seeds", "1-80"]
    again = cwndlab(*words[1:], "--no-figure", "--out", "o")
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
