"""Sweeps over conditions: what varies and is not chosen."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import cwndlab as cl
from cwndlab.api.results import Sweep
from cwndlab.output.tables.conditions import choices_blocks
from cwndlab.results.wanted import Wanted
from cwndlab.scenarios.axis import Axis, parse_axis
from cwndlab.statistics.measure import measure
from tests.conftest import SCENARIO
from tests.samples import flow, link, outcome, result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Command

CELL = """\
duration = "3 s"

[[link]]
name = "cell"
trace = "synthetic:lte-down"
delay = "10 ms"
queue = "50 kB"

[link.back]
trace = "synthetic:lte-up"
queue = "50 kB"

[[flow]]
name = "a"
cc = "cubic"
path = ["cell"]
"""

# Goodput and queueing delay with each seed, by choice, in each of three conditions: `fast` has the most on
# average, `safe` in the worst case.
MADE = {
    "home": {"fast": [(30, 40), (32, 42)], "safe": [(20, 10), (20, 10)], "poor": [(9, 50), (9, 50)]},
    "train": {"fast": [(6, 90), (6, 90)], "safe": [(5, 20), (5, 21)], "poor": [(4, 95), (4, 95)]},
    "field": {"fast": [(1, 300), (1, 310)], "safe": [(2, 60), (2, 62)], "poor": [(1, 400), (1, 400)]},
}


pytestmark = pytest.mark.usefixtures("own_cache")


def by_hand() -> Sweep:
    """A sweep over three choices in three conditions."""
    points = []
    for place, choices in MADE.items():
        for choice, seeds in choices.items():
            outcomes = [outcome([flow("a", y)], [link("l", queue_delay_ms=x)]) for y, x in seeds]
            points.append(({"link.l.loss": place, "flow.a.cc": choice}, result(outcomes)))
    over, across = Axis("flow.a.cc", tuple(MADE["home"])), Axis("link.l.loss", tuple(MADE))
    return Sweep(points[0][1].scenario, [over], points, "l", across=[across])


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder of traces of both directions."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for name, step in {"monday": 2, "friday": 4}.items():
        for direction, factor in {"down": 1, "up": 3}.items():
            lines = "".join(f"{at}\n" for at in range(0, 3000, step * factor))
            (folder / f"{name}.{direction}").write_text(lines)
    (tmp_path / "cell.toml").write_text(CELL)
    return folder


def test_the_front_of_each_condition_is_its_own() -> None:
    swept = by_hand()
    assert swept.efficient == [True, True, False, True, True, False, False, True, False]
    names, parts = zip(*swept.conditions, strict=True)
    assert names == ("home", "train", "field")
    assert [part.efficient for part in parts] == [
        [True, True, False],
        [True, True, False],
        [False, True, False],
    ]
    assert [point.label for point in parts[0].tradeoffs] == ["fast", "safe", "poor"]


def test_means_worst_cases_and_ranks() -> None:
    fast, safe, poor = by_hand().choices
    mean = fast.mean("goodput_mbps")
    # Conditions are no random sample: they have a range and no interval.
    assert mean.mean == pytest.approx((31 + 6 + 1) / 3)
    assert (mean.low, mean.high, mean.n) == (1, 31, 3)
    # Over the seeds, of the mean of just these conditions.
    over_seeds = fast.mean_over_seeds("goodput_mbps")
    assert over_seeds == measure([37 / 3, 39 / 3])
    where, worst = fast.worst("queue_delay_ms") or ("", over_seeds)
    assert (where, worst.mean, worst.n) == ("field", 305, 2)
    assert [safe.worst("goodput_mbps"), safe.rank("goodput_mbps").mean] == [
        ("field", safe.totals["field"]["goodput_mbps"]),
        pytest.approx((2 + 2 + 1) / 3),
    ]
    # Equal means share their places: second and third in the field.
    assert [each.ranks["field"]["goodput_mbps"] for each in (fast, safe, poor)] == [2.5, 1, 2.5]
    assert [each.firsts["goodput_mbps"] for each in (fast, safe, poor)] == [2, 1, 0]
    beside = safe.beside(fast, "goodput_mbps")
    assert beside.mean == pytest.approx((-11 / 31 - 1 / 6 + 1 / 1) / 3)
    shares = [(-away / 31 - 1 / 6 + 1 / 1) / 3 for away in (30 - 20, 32 - 20)]
    assert beside == measure(shares)


def test_the_answer_is_over_all_conditions() -> None:
    first, behind, why, often, safest = by_hand().answer()
    assert first == (
        "fast has more goodput than poor on average over 3 conditions: 12.7 ± 4.2 Mbit/s, "
        "with a queue delay of 145 ± 25 ms."
    )
    # 22 of 31 Mbit/s, 2 of 6 and none.
    assert behind == "poor has 4.667 Mbit/s, 35 ± 14 % less, the mean of the shares in each condition."
    assert why.startswith("No difference is shown between fast and safe: the 95 % interval of the difference")
    assert often == (
        "The mean of fast is the best in 2 of 3 conditions (mean rank 1.5 of 3), and in its worst one it is "
        "1 Mbit/s with loss field."
    )
    assert safest == "The best mean in a worst condition is that of safe: 2 Mbit/s with loss field."


def test_a_limit_holds_in_every_condition() -> None:
    swept = by_hand()
    # On average, `fast` waits 145 ms; in the field, 305 ms.
    answer = swept.answer(limits=["queue delay < 200 ms"])
    assert answer[0].startswith(
        "safe has the most goodput on average over 3 conditions among the 1 of 3 choices with queue delay "
        "< 200 ms in every condition: "
    )
    assert answer[1] == "In its worst condition it has 2 Mbit/s with loss field."
    [none] = swept.answer(limits=["queue delay < 45 ms"])
    assert none == "No choice keeps queue delay < 45 ms in every condition; safe does in 2 of 3."
    [several] = swept.answer(limits=["goodput > 4.5 Mbit/s"])
    assert several == (
        "No choice keeps goodput > 4.500 Mbit/s in every condition; fast and safe each do in 2 of 3."
    )
    delays = swept.answer(best="queue delay")
    assert delays[-1] == "No other choice has a better mean in its own worst condition."


def test_a_folder_of_traces_is_a_benchmark(cwndlab: Command, traces: Path) -> None:
    pairs = f"link.cell.trace+link.cell.back.trace={traces}/*.down+{traces}/*.up"
    options = ["--over", "flow.*.cc=cubic,vegas", "--across", pairs, "--seeds", "2", "--out", "out"]
    done = cwndlab("sweep", "cell.toml", *options)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert " on average over 2 conditions: " in text
    assert "Over 2 conditions: the mean of their means, and the lowest and the highest of them" in text
    assert str(traces) not in done.stdout
    out = traces.parent / "out"
    for name in ("pareto.png", "pareto-monday.png", "pareto-friday.png", "heatmap-goodput.png"):
        assert (out / name).is_file(), name
    assert pl.read_csv(out / "runs.csv")[
        "link.cell.trace+link.cell.back.trace"
    ].unique().sort().to_list() == [
        "friday",
        "monday",
    ]
    document = json.loads((out / "result.json").read_text())
    [across] = document["across"]
    assert across["labels"] == ["friday", "monday"]
    assert across["values"][1] == f"{traces}/monday.down+{traces}/monday.up"
    assert [point["condition"] for point in document["points"]] == ["friday", "friday", "monday", "monday"]
    assert {choice["label"] for choice in document["choices"]} == {"cubic", "vegas"}
    mean = document["choices"][0]["mean"]["goodput_mbps"]
    assert mean["n"] == 2
    assert mean["lowest"] < mean["mean"] < mean["highest"]
    report = (out / "report.html").read_text()
    order = ("On average over the conditions", "The choices", "In each condition", "Every point")
    assert sorted(order, key=report.index) == list(order)
    loaded = cl.load(out)
    assert isinstance(loaded, cl.Sweep)
    assert loaded.to_json() == document
    assert [name for name, _ in loaded.conditions] == ["friday", "monday"]
    assert loaded.answer()[0] in text
    again = cwndlab("sweep", "cell.toml", *options[2:], "--out", "out", "--no-figure", "--replace")
    assert again.returncode == 0, again.stderr
    assert not list(out.glob("pareto*")), "figures of earlier results are gone"


def test_a_comparison_over_conditions_is_the_sweep_over_its_algorithms(
    cwndlab: Command, tmp_path: Path
) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    options = ["--across", "link.0.delay=5 ms,20 ms", "--seeds", "2", "--no-figure", "--json"]
    done = cwndlab("compare", "two.toml", "--cc", "cubic,reno", "--out", "one", *options)
    assert done.returncode == 0, done.stderr
    swept = cwndlab("sweep", "two.toml", "--over", "flow.*.cc=cubic,reno", "--out", "other", *options)
    assert json.loads(done.stdout) == json.loads(swept.stdout)
    some = cwndlab("compare", "two.toml", "--cc", "bbr3,vegas", "--flow", "a", "--flow", "b", *options)
    found = json.loads(some.stdout)
    assert [choice["label"] for choice in found["choices"]] == ["bbr3", "vegas"]
    assert {flow["cc"] for flow in found["points"][0]["flows"]} == {"bbr3"}
    wrong = cwndlab("compare", "two.toml", "--cc", "cubic", *options)
    assert (wrong.returncode, "expected two or more different algorithms" in wrong.stderr) == (2, True)


def test_python_compares_over_conditions_like_the_command(cwndlab: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    across = {"link.0.delay": ["5 ms", "20 ms"]}
    made = cl.compare(tmp_path / "two.toml", ["bbr3", "vegas"], [0, "b"], seeds=2, across=across)
    options = ["--cc", "bbr3,vegas", "--flow", "0", "--flow", "b", "--across", "link.0.delay=5 ms,20 ms"]
    done = cwndlab("compare", "two.toml", *options, "--seeds", "2", "--no-figure", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert made.to_json()["choices"] == told["choices"]
    assert [choice.label for choice in made.choices] == ["bbr3", "vegas"]
    with pytest.raises(cl.InputError, match="expected two or more different algorithms"):
        cl.compare(SCENARIO, ["cubic"], across=across)
    with pytest.raises(cl.InputError, match="unknown algorithm `cubik`; did you mean `cubic`"):
        cl.compare(SCENARIO, ["cubic", "cubik"], across=across)
    with pytest.raises(cl.InputError, match="record: expected no across with it, found one"):
        cl.compare(SCENARIO, ["cubic", "reno"], across=across, record="all")


def test_both_directions_of_a_pair_vary(traces: Path) -> None:
    across = {"link.cell.trace+link.cell.back.trace": f"{traces}/*.down+{traces}/*.up"}
    swept = cl.sweep(traces.parent / "cell.toml", across=across, seeds=1)
    used = [
        [each["trace"]["file"] for each in (link, link["back"])]
        for _, point in swept.points
        for link in point.scenario.resolved["link"]
    ]
    assert used == [[f"{traces}/{name}.{way}" for way in ("down", "up")] for name in ("friday", "monday")]
    monday, friday = (
        swept.at(**{"link.cell.trace+link.cell.back.trace": name}).flows["goodput_mbps"][0]
        for name in ("monday", "friday")
    )
    assert monday > 1.5 * friday
    # The command names what was run, so it runs the same.
    assert f"{traces}/monday.down+{traces}/monday.up" in swept.command


def test_any_keys_vary_together() -> None:
    over = {"link.0.rate+link.0.delay": [("10 Mbit/s", "5 ms"), ("2 Mbit/s", "50 ms")]}
    swept = cl.sweep(SCENARIO, over, seeds=1)
    links = [point.scenario.resolved["link"][0] for _, point in swept.points]
    assert [(each["rate"], each["delay"]) for each in links] == [("10 Mbit/s", "5 ms"), ("2 Mbit/s", "50 ms")]
    assert swept.table["link.0.rate+link.0.delay"].to_list() == ["10 Mbit/s + 5 ms", "2 Mbit/s + 50 ms"]
    assert swept.answer()[0].startswith(
        "One seed shows no order; in it, rate and delay 10 Mbit/s + 5 ms has the highest goodput: "
    )


def test_labels_are_as_short_as_they_stay_distinct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.down", "a/y.down", "b/x.down", "a/x.up", "b/x.up"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    assert parse_axis(f"k={tmp_path}/a/*.down").labels == ("x.down", "y.down")
    assert parse_axis("k=*/x.down").labels == ("a/x.down", "b/x.down")
    assert parse_axis("k=a/x.down,synthetic:lte-down").labels == ("x.down", "synthetic:lte-down")
    assert parse_axis("k+l=*/x.down+*/x.up").labels == ("a", "b")
    assert parse_axis("k+l=a/x.down+a/x.up,a/y.down+b/x.up").labels == ("x.down + a/x.up", "y.down + b/x.up")
    for number in (10, 9, 1):
        (tmp_path / f"t{number}").write_text("1\n")
    assert parse_axis("k=t*").labels == ("t1", "t9", "t10")
    # A rate is no path.
    assert parse_axis("k=1 Mbit/s,2 Mbit/s").labels == ("1 Mbit/s", "2 Mbit/s")


def test_files_may_have_any_name(traces: Path) -> None:
    for name in ("a,b+c [1]", "it's"):
        for direction in ("down", "up"):
            (traces / f"monday.{direction}").with_stem(name).write_bytes((traces / "monday.up").read_bytes())
    across = {"link.cell.trace+link.cell.back.trace": f"{traces}/*.down+{traces}/*.up"}
    swept = cl.sweep(traces.parent / "cell.toml", across=across, seeds=1)
    assert [name for name, _ in swept.conditions] == ["a,b+c [1]", "friday", "it's", "monday"]


def test_patterns_are_those_of_the_current_folder_or_the_scenario(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    swept = cl.sweep(traces.parent / "cell.toml", across={"link.cell.trace": "traces/*.down"}, seeds=1)
    assert [name for name, _ in swept.conditions] == ["friday.down", "monday.down"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--across", "link.cell.trace=nothing/*"],
            "expected files, found none that match 'nothing/*' in the ",
        ),
        (
            ["--across", "link.cell.trace=traces/monday.*n"],
            "--across link.cell.trace: expected two values or more, found one (traces/monday.down); --set ",
        ),
        (
            ["--across", "link.cell.trace+link.cell.back.trace=traces/*.down,traces/*.up"],
            "2 keys vary together; expected 2 values joined by +, found 'traces/*.down'",
        ),
        (
            ["--across", "link.cell.trace+link.cell.back.trace=traces/*.down+traces/m*.up"],
            "2 files match 'traces/*.down' and 1 match 'traces/m*.up'; expected pairs in which * stands for "
            "the same, found no 'traces/m*.up' for friday, monday of 'traces/*.down'",
        ),
        (
            ["--over", "flow.*.cc=cubic,reno", "--across", "flow.*.cc=reno,vegas"],
            "--across flow.*.cc: expected a key that --over does not vary, found it in both",
        ),
        (
            ["--over", "flow.*.cc=cubic,reno", "--across", "flow.a.cc=reno,vegas"],
            "--across flow.a.cc: expected values that make a difference, found the same scenario with all ",
        ),
        (["--across", "link.cell.speed=1,2"], "--across link.cell.speed: error: unknown key `speed`"),
        (
            ["--across", "link.cell.trace"],
            "--across link.cell.trace: expected key=value,value, for example link.",
        ),
        (["--across", "a+a=1+2,3+4"], "expected different keys joined by +, found 'a+a'"),
        ([], "sweep: expected --over or --across, found neither"),
    ],
)
def test_mistakes(cwndlab: Command, traces: Path, options: list[str], message: str) -> None:
    assert traces.is_dir()
    done = cwndlab("sweep", "cell.toml", *options)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_the_table_of_choices_is_ordered_and_marked() -> None:
    asked = replace(by_hand(), wanted=Wanted("queue delay"))
    judged, others = choices_blocks(asked, "queue_delay_ms")
    title = [column.title for column in judged.columns]
    assert title == ["queue delay", "lowest", "highest", "from the best", "mean rank", "best in"]
    assert [column.title for column in others.columns] == [
        *("goodput", "lowest", "highest"),
        *("delay p95", "lowest", "highest"),
    ]
    cells = [[row.labels[0], *(judged.cell(row, column) for column in judged.columns)] for row in judged.rows]
    # Within the conditions, `fast` waits 310, 339 and 400 % longer than `safe`.
    assert cells == [
        ["safe", "30.50", "10", "61", "0", "1", "3"],
        ["fast", "145.3", "41", "305", "+350 ± 60 *", "2", "0"],
        ["poor", "181.7", "50", "400", "+440 ± 17 *", "3", "0"],
    ]
