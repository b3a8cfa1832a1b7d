"""Sweeps whose points are drawn from ranges and choices."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.output.charts import RowChart, ScatterChart
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.over_keys import over_key
from cwndlab.output.figures.tradeoff import tradeoff
from cwndlab.results.sweep import Sweep
from cwndlab.scenarios.axis import Axis
from cwndlab.scenarios.design import Design, Method
from cwndlab.scenarios.over import Over, plan_of
from cwndlab.scenarios.sampling import sampling
from cwndlab.scenarios.scenario import Scenario, ScenarioError
from tests.conftest import SCENARIO, Command
from tests.samples import flow, link, outcome, result

if TYPE_CHECKING:
    from cwndlab.scenarios.design import Plan

RATE = "link.bottleneck.rate=log(1..1000 Mbit/s)"
QUEUE = "link.bottleneck.queue=lin(0.5..4.5 bdp)"
CC = "flow.*.cc=cubic|reno"


pytestmark = pytest.mark.usefixtures("own_cache")


def drawn(*over: str, size: int = 40, design: str | None = None, seed: int | None = None) -> Plan:
    base = Scenario(SCENARIO.encode(), "test.toml")
    return plan_of([Over.parsed(text) for text in over], base, None, sampling(size, design, seed))


def column(plan: Plan, key: str) -> list[str]:
    index = [axis.key for axis in plan.axes].index(key)
    return [row.labels[index] for row in plan.rows]


def number(text: str) -> float:
    return float(text.split()[0])


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_key() -> None:
    plan = drawn(RATE, QUEUE, CC)
    rates = sorted(math.log10(number(text)) for text in column(plan, "link.bottleneck.rate"))
    assert [int(40 * rate / 3) for rate in rates] == list(range(40))
    queues = sorted(number(text) for text in column(plan, "link.bottleneck.queue"))
    assert [int(40 * (queue - 0.5) / 4) for queue in queues] == list(range(40))
    assert Counter(column(plan, "flow.*.cc")) == {"cubic": 20, "reno": 20}


def test_sobol_points_fill_every_cell_of_a_grid() -> None:
    plan = drawn(RATE, QUEUE, size=64, design="sobol")
    cells = {
        (int(8 * math.log10(number(rate)) / 3), int(8 * (number(queue) - 0.5) / 4))
        for rate, queue in (row.labels for row in plan.rows)
    }
    assert len(cells) == 64


@pytest.mark.parametrize("design", ["lhs", "sobol"])
def test_the_seed_decides_the_draw(design: str) -> None:
    first, again, other = (drawn(RATE, QUEUE, size=16, design=design, seed=each) for each in (3, 3, 4))
    assert first.rows == again.rows
    assert first.rows != other.rows


def test_a_key_that_takes_whole_numbers_gets_them_all_alike() -> None:
    counts = Counter(column(drawn("flow.a.count=lin(1..4)", RATE), "flow.a.count"))
    assert counts == {"1": 10, "2": 10, "3": 10, "4": 10}
    packets = column(drawn("link.0.queue=log(10..1000 packets)"), "link.0.queue")
    assert all(number(text).is_integer() and text.endswith(" packets") for text in packets)
    rates = column(drawn("link.0.rate=lin(1..9 Mbit/s)"), "link.0.rate")
    assert not any(number(text).is_integer() for text in rates)


def test_equal_points_are_one() -> None:
    assert [row.labels for row in drawn(CC).rows] in ([("cubic",), ("reno",)], [("reno",), ("cubic",)])


def test_a_small_or_a_large_number_has_no_exponent() -> None:
    texts = [*column(drawn("link.0.loss=log(1e-7..1e-6)"), "link.0.loss")]
    texts += column(drawn("link.0.rate=lin(1e8..2e9 bit/s)"), "link.0.rate")
    assert not any("e" in text.removesuffix("bit/s") for text in texts)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ("link.0.rate=log(0..9 Mbit/s)", "expected log(A..B UNIT) with A above 0, found 'log(0..9 Mbit/s)'"),
        ("link.0.rate=lin(9..1 Mbit/s)", "expected lin(A..B UNIT) with A below B"),
        ("link.0.rate=log(1-9 Mbit/s)", "expected log(A..B UNIT), as in log(1..1000 Mbit/s), found"),
        ("link.0.rate=log(1 kbit/s..9 Mbit/s)", "expected log(A..B UNIT), as in"),
        ("link.0.rate=9 Mbit/s", "--set sets a key to one value"),
        ("link.0.rate=uniform(1..9)", "expected lin(A..B UNIT), log(A..B UNIT) or choices"),
        ("link.0.rate+link.0.delay=lin(1..2 ms)", "expected one key with a range"),
        ("link.0.rate", "expected key=value"),
        ("flow.*.cc=cubic|cubic", "a value is repeated"),
    ],
)
def test_mistakes(over: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        drawn(over)
    assert str(error.value).startswith(f"--over {over}: ")
    assert message in str(error.value)


def test_what_does_not_fit_together() -> None:
    for arguments, message in [
        ((0, None, None), "--sample 0: expected 1 to 100000"),
        ((500, "sobol", None), "such as 256 or 512, found 500"),
        ((9, "random", None), "--design random: expected lhs or sobol"),
        ((None, "lhs", None), "--design lhs: expected --sample N with it"),
        ((None, None, 3), "--sample-seed 3: expected --sample N with it"),
        ((9, None, -1), "--sample-seed -1: expected a whole number from 0 on"),
    ]:
        with pytest.raises(InputError) as error:
            sampling(*arguments)
        assert message in str(error.value)
    with pytest.raises(InputError, match="repeated"):
        drawn(RATE, RATE)
    with pytest.raises(InputError, match="--sample 40: expected --over"):
        drawn()
    with pytest.raises(InputError, match="expected --sample N with a range"):
        plan_of([Over.parsed(RATE)], Scenario(SCENARIO.encode(), "test.toml"))


def test_a_unit_that_a_key_does_not_have_is_named_with_its_option() -> None:
    with pytest.raises(ScenarioError, match=r"over\['link.0.rate'\]: error: unknown unit `ms`"):
        cl.sweep(SCENARIO, {"link.0.rate": "lin(1..2 ms)"}, sample=4)


def swept(**changes: Any) -> Any:
    over = {"link.bottleneck.rate": "log(1..100 Mbit/s)", "flow.*.cc": ["cubic", "reno"]}
    return cl.sweep(SCENARIO, over, seeds=2, sample=8, **changes)


def test_its_command_repeats_it(tmp_path: Path, cwndlab: Command) -> None:
    made = swept(design="sobol", sample_seed=5)
    scenario = tmp_path / "two.toml"
    scenario.write_text(SCENARIO)
    words = [str(scenario) if word == "<text>" else word for word in shlex.split(made.command)[1:]]
    answer = cwndlab(*words, "--no-figure", "--out", "o")
    assert answer.returncode == 0, answer.stderr
    again = cl.load(tmp_path / "o")
    assert [settings for settings, _ in again.variants] == [settings for settings, _ in made.points]
    assert isinstance(again, cl.Sweep)
    assert again.table.equals(made.table)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    made = swept()
    made.save(tmp_path / "o")
    loaded = cl.load(tmp_path / "o")
    assert isinstance(loaded, cl.Sweep)
    assert (loaded.design, loaded.axes, loaded.command) == (made.design, made.axes, made.command)
    assert made.to_json()["design"] == {
        "method": "lhs",
        "over": ["link.bottleneck.rate=log(1..100 Mbit/s)", "flow.*.cc=cubic|reno"],
        "size": 8,
        "seed": 1,
    }
    figures = {path.name for path in (tmp_path / "o").glob("*.png")}
    assert figures == {
        "pareto.png",
        *(f"over-{key}-{total}.png" for key in ("link.bottleneck.rate", "flow.*.cc") for total in FILES),
    }
    report = (tmp_path / "o" / "report.html").read_text()
    assert "goodput over each key" in report
    assert "Over the grid" not in report


FILES = ("goodput", "queue-delay")


def test_a_total_over_each_key() -> None:
    made = swept()
    rate, cc = made.axes
    chart = over_key(made, rate, "goodput_mbps", Names())
    assert isinstance(chart, ScatterChart)
    assert (chart.log_x, chart.log_y, chart.x_unit, chart.y_unit) == (True, True, "Mbit/s", "Mbit/s")
    assert [point.x for point in chart.points] == [
        number(settings["link.bottleneck.rate"]) for settings, _ in made.points
    ]
    assert [point.y for point in chart.points] == made.table["goodput_mbps"].to_list()
    assert {point.series for point in chart.points} == {"cubic", "reno"}
    rows = over_key(made, cc, "queue_delay_ms", Names())
    assert isinstance(rows, RowChart)
    assert [row.label for row in rows.rows] == ["cubic (n = 4)", "reno (n = 4)"]
    with pytest.raises(InputError, match="expected a total"):
        made.plot("over-flow.*.cc", "colour")
    with pytest.raises(InputError, match="heat map"):
        made.plot("heatmap")


def test_as_labelled_arrays_the_points_have_one_dimension() -> None:
    made = swept()
    arrays = made.to_xarray("link")
    assert arrays["utilisation"].dims == ("point", "seed", "name")
    assert arrays["utilisation"].shape[:2] == (8, 2)
    rates = [settings["link.bottleneck.rate"] for settings, _ in made.points]
    assert arrays["link.bottleneck.rate"].values.tolist() == rates


def test_choices_of_a_sample_are_judged_over_conditions() -> None:
    made = swept(across={"link.bottleneck.loss": ["0", "0.01"]})
    assert len(made.points) == 16
    assert len(made.choices) == 8
    assert made.plot().axes


def test_a_sample_over_conditions_is_drawn(tmp_path: Path) -> None:
    over = {"link.bottleneck.queue": "lin(1..4 bdp)"}
    made = cl.sweep(SCENARIO, over, seeds=2, sample=4, across={"flow.a.cc": ["cubic", "reno"]})
    made.save(tmp_path / "o")
    assert (tmp_path / "o" / "report.html").exists()


def test_a_drawn_condition_of_a_link_has_no_winner() -> None:
    spread, why = swept().answer()
    assert spread.startswith("Over the 8 points, goodput is between ")
    assert why == (
        "No best point is named: link.bottleneck.rate is a condition of the link, not a choice. "
        "A sweep across conditions judges the choices."
    )
    limited = swept().answer(limits=["goodput > 10 Mbit/s"])
    assert " of 8 points keep goodput > 10 Mbit/s." in limited[0]
    assert limited[1].startswith("Over these, goodput is between ")
    # Somebody chooses a queue.
    queues = cl.sweep(SCENARIO, {"link.bottleneck.queue": "lin(1..4 bdp)"}, seeds=2, sample=4)
    assert "No best point is named" not in " ".join(queues.answer())


def test_drawn_numbers_have_few_digits_in_figures() -> None:
    made = swept()
    chart = tradeoff(made, Names())
    assert all(re.fullmatch(r"[0-9.]{1,4} Mbit/s, (cubic|reno)", point.label) for point in chart.points)
    drawn_values = [settings["link.bottleneck.rate"] for settings, _ in made.points]
    assert max(map(len, drawn_values)) > len("12.3 Mbit/s")


def test_an_axis_of_goodput_begins_at_zero_though_an_interval_does_not() -> None:
    made = [
        (
            {"flow.a.bytes": f"{size} MB"},
            result([outcome([flow("a", goodput)], [link("l")]) for goodput in (0.1, 2.0)]),
        )
        for size in (1, 2)
    ]
    axis = Axis("flow.a.bytes", ("1 MB", "2 MB"), drawn="lin(1..2 MB)")
    sweep = Sweep(made[0][1].scenario, [axis], made, "l", design=Design(Method.LHS, (), 2, 1))
    assert (sweep.totals[0].measures["goodput_mbps"].interval or (0, 0))[0] < 0
    for chart in (tradeoff(sweep, Names()), over_key(sweep, axis, "goodput_mbps", Names())):
        assert isinstance(chart, ScatterChart)
        assert chart.y_span is not None
        assert chart.y_span[0] == 0
