"""The sentences that begin the output, and what `--best` and `--limit` ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.output.answers.choice import Candidate, Choice
from cwndlab.output.answers.goal import Goal, Limit, goal, require_totals
from cwndlab.output.answers.order import headline
from cwndlab.output.answers.run import of_run
from cwndlab.output.answers.sentences import of_comparison
from cwndlab.results.comparison import Comparison
from cwndlab.results.wanted import Wanted
from cwndlab.scenarios.scenario import Scenario
from cwndlab.statistics.measure import Measure
from tests.samples import flow, link, outcome, result

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Command

SWEPT = """\
name = "a link"
duration = "5 s"

[[link]]
name = "cell"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "1 bdp"

[[flow]]
name = "a"
cc = "cubic"
path = ["cell"]
"""


def made(label: str, goodputs: list[float], delays: list[float]) -> Candidate:
    """A variant with these totals, one for each seed."""
    rows = zip(goodputs, delays, strict=True)
    return Candidate(
        label,
        {
            seed: {"goodput_mbps": goodput, "queue_delay_ms": delay, "queue_delay_p95_ms": 2 * delay}
            for seed, (goodput, delay) in enumerate(rows)
        },
    )


FAST = made("fast", [10.0, 10.2, 10.1], [80.0, 84.0, 82.0])
CLOSE = made("close", [9.9, 10.3, 9.9], [90.0, 91.0, 92.0])
SHORT = made("short", [9.6, 9.7, 9.8], [10.0, 11.0, 12.0])
SLOW = made("slow", [5.0, 5.1, 5.2], [1.0, 1.1, 1.2])
ALL = [FAST, CLOSE, SHORT, SLOW]


def labels(candidates: list[Candidate]) -> list[str]:
    return [each.label for each in candidates]


def test_the_best_is_told_from_the_others_by_seed() -> None:
    choice = Choice(Goal(), ALL)
    assert choice.best is FAST
    # 10.03 on average against 10.1, and the differences of the seeds go both ways.
    assert labels(choice.as_good) == ["close"]
    # 96 % of the goodput at an eighth of the delay; half of the goodput would be too little.
    assert choice.cheaper is SHORT


def test_the_headline_tells_the_order_that_intervals_show() -> None:
    def told(*candidates: Candidate) -> list[str]:
        choice = Choice(Goal(), candidates)
        assert choice.best is FAST
        return list(headline(choice, FAST, "", "V"))

    assert told(FAST, SLOW) == [
        "fast has the most goodput: V.",
        "slow has 5.10 ± 0.25 Mbit/s, 49.5 ± 2.5 % less.",
    ]
    unshown = (
        "is shown between fast and close: the 95 % interval of the difference, paired by seed, contains zero."
    )
    assert told(FAST, CLOSE, SHORT, SLOW) == [
        "fast has more goodput than short and slow: V.",
        "Closest behind is short: 9.70 ± 0.25 Mbit/s, 4.0 ± 2.5 % less.",
        f"No difference {unshown}",
    ]
    assert told(FAST, CLOSE) == [
        f"No difference in goodput {unshown}",
        "fast has the highest mean: V.",
    ]


def test_what_is_within_one_percent_is_told_apart_by_its_delay() -> None:
    """The difference is shown, but nobody would choose by it."""
    best = made("best", [100.0, 100.2, 100.4], [80.0, 84.0, 82.0])
    hair = made("hair", [99.9, 100.1, 100.3], [4.0, 4.2, 4.1])
    same = made("same", [100.0, 100.2, 100.4], [85.0, 86.0, 87.0])
    less = made("less", [98.0, 98.2, 98.4], [1.0, 1.1, 1.2])

    def told(*candidates: Candidate) -> list[str]:
        choice = Choice(Goal(), candidates)
        assert choice.best is best
        return list(headline(choice, best, "", "V"))

    assert best.less(hair, "goodput_mbps").excludes_zero
    assert told(best, hair, same) == [
        "best, same and hair are within 1 % in goodput: best 100.20 ± 0.50, same 100.20 ± 0.50, "
        "hair 100.10 ± 0.50 Mbit/s.",
        "They differ in queue delay: 4.10 ± 0.25 ms with hair, 82.0 ± 5.0 ms with best, "
        "86.0 ± 2.5 ms with same.",
    ]
    assert told(best, hair, less) == [
        "best has more goodput than less: V.",
        "less has 98.20 ± 0.50 Mbit/s, 1.996 % less.",
        "hair is within 1 % of best: 100.10 ± 0.50 Mbit/s.",
        "They differ in queue delay: 4.10 ± 0.25 ms with hair, 82.0 ± 5.0 ms with best.",
    ]
    # 0.1 % on average, but the interval allows for 3 %.
    noisy = made("noisy", [99.0, 101.0, 100.3], [4.0, 4.2, 4.1])
    assert told(best, noisy)[0].startswith("No difference in goodput is shown between best and noisy: ")


def test_a_limit_is_told_of_those_within_one_percent() -> None:
    best, same = (made(name, [10.0, 10.2], [80.0, 84.0]) for name in ("best", "same"))
    choice = Choice(goal(None, ["delay p95 < 1 s"]), [best, same])
    assert list(headline(choice, best, " among", "V")) == [
        "best and same are within 1 % in goodput among: 10.1 ± 1.3 Mbit/s each.",
        "best has the highest mean: V.",
    ]


def test_one_seed_shows_no_order() -> None:
    choice = Choice(Goal(), [made("a", [2.0], [1.0]), made("b", [1.0], [1.0])])
    assert choice.best is not None
    [told] = headline(choice, choice.best, "", "V")
    assert told == "One seed shows no order; in it, a has the highest goodput: V."


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        (
            {"a": [1.0, 1.1, 1.2], "b": [2.0, 2.1, 2.2], "c": [4.0, 4.1, 4.2]},
            "a takes the least from the other flow: 11.0 ± 2.5 % of the goodput; "
            "c takes the most: 41.0 ± 2.5 %.",
        ),
        (
            {"a": [1.0, 1.1, 1.2], "b": [1.2, 1.1, 1.1], "c": [4.0, 4.1, 4.2]},
            "a takes less from the other flow than c: 11.0 ± 2.5 % of the goodput. "
            "No difference is shown between a and b.",
        ),
        (
            {"a": [1.0, 1.1, 1.2], "b": [1.2, 1.1, 1.1]},
            "No difference is shown between what a and b take from the other flow: "
            "a takes 11.0 ± 2.5 % of the goodput.",
        ),
        ({"a": [1.0, 1.1, 1.2]}, "a takes 11.0 ± 2.5 % of the goodput from the other flow."),
        (
            {"a": [1.0], "b": [3.0]},
            "One seed shows no order of harm. a takes 10 % of the goodput from the other flow.",
        ),
    ],
)
def test_harm_tells_the_order_that_intervals_show(losses: dict[str, list[float]], told: str) -> None:
    """The other flow gets 10 Mbit/s alone, and so much less beside each algorithm."""
    beside = [
        result([outcome([flow("other", 10 - each), flow("own", 5)], [link("l")]) for each in losses_of])
        for losses_of in losses.values()
    ]
    seeds = len(next(iter(losses.values())))
    alone = result([outcome([flow("other", 10)], [link("l")]) for _ in range(seeds)])
    compared = Comparison(beside[0].scenario, tuple(losses), ("own",), beside, alone, "l")
    assert of_comparison(compared)[0] == told


def test_many_flows_are_told_apart_within_a_seed() -> None:
    """The means over both seeds are 3 Mbit/s for every flow but one."""
    seeds = [
        outcome([flow("a", 0), flow("b", 6), flow("c", 3), flow("d", 8)]),
        outcome([flow("a", 6), flow("b", 0), flow("c", 3), flow("d", 8)]),
    ]
    assert of_run(result(seeds)) == [
        "4 flows get 17 Mbit/s together. Within a seed, the slowest gets 0 and the fastest 8 Mbit/s; "
        "1 of them gets nothing."
    ]
    assert of_run(result(seeds[:1])) == [
        "4 flows get 17 Mbit/s together, from 0 to 8 Mbit/s each; 1 of them gets nothing."
    ]
    assert of_run(result([outcome([flow(name, 2) for name in "abcd"])])) == [
        "4 flows get 8 Mbit/s together, 2 Mbit/s each."
    ]


def test_a_flow_of_a_given_size_is_done() -> None:
    seeds = [
        outcome([flow("f", 0, completion_s=0.9), flow("g", 8, completion_s=9.0), flow("h", 3)]),
        outcome([flow("f", 0, completion_s=1.1), flow("g", 8), flow("h", 3)]),
    ]
    assert of_run(result(seeds)) == [
        "f (cubic) is done in 1.0 ± 1.3 s, g (cubic) is done in 9 s in 1 of 2 seeds and gets 8 Mbit/s, "
        "h (cubic) gets 3 Mbit/s.",
        "f ended in the warm-up, so its goodput was not measured.",
    ]


def test_a_goodput_that_was_not_measured_in_some_seeds_counts_in_the_others() -> None:
    seeds = [
        outcome([flow("f", 4, completion_s=9.0)]),
        outcome([flow("f", 6, completion_s=9.0)]),
        outcome([flow("f", 0, completion_s=1.0)]),
    ]
    told, warning = of_run(result(seeds))
    assert " and gets 5 ± 13 Mbit/s in 2 of 3 seeds." in told
    assert warning == "f ended in the warm-up in 1 of 3 seeds, so its goodput was not measured."


def test_many_flows_that_ended_in_the_warmup_do_not_starve() -> None:
    flows = [flow("a", 0, completion_s=1.0), flow("b", 4, completion_s=9.0), flow("c", 2), flow("d", 0)]
    assert of_run(result([outcome(flows)])) == [
        "2 of 4 flows are done; the longest took 9 s. While they run, the one with the lowest goodput gets "
        "0, the one with the highest 4 Mbit/s; 1 of them gets nothing.",
        "a ended in the warm-up, so its goodput was not measured.",
    ]


def test_transfers_are_told_by_group() -> None:
    made_of = outcome([flow("a", 1)])
    made_of["groups"] = [
        {"name": name, "cc": "cubic", "completion_p50_ms": 60.0, "completion_p95_ms": 90.0}
        for name in ("web", "mail")
    ]
    assert of_run(result([made_of]))[1] == (
        "Half of the web transfers finish within 60 ms, 95 % of them within 90 ms. "
        "Half of the mail transfers finish within 60 ms, 95 % of them within 90 ms."
    )


@pytest.mark.parametrize(
    ("best", "told"),
    [
        ("utilisation", "a has the highest utilisation: "),
        ("Jain", "a has the highest Jain index: "),
        ("retrans", "b has the lowest retransmission count: "),
        ("queue delay", "b has the lowest queue delay: "),
    ],
)
def test_each_total_has_a_noun(best: str, told: str) -> None:
    wanted = goal(best, [])
    rows = {"a": 0.9, "b": 0.5}
    candidates = [
        Candidate(name, {seed: {wanted.best: value + seed / 100} for seed in range(3)})
        for name, value in rows.items()
    ]
    choice = Choice(wanted, candidates)
    assert choice.best is not None
    assert next(iter(headline(choice, choice.best, "", "V"))).startswith(told)


def test_an_interrupted_study_says_so_first() -> None:
    two = [outcome([flow("a", 1)]), outcome([flow("a", 1)])]
    whole = replace(result(two), asked=2)
    cut = replace(whole, interrupted=True, asked=80)
    assert not of_run(whole)[0].startswith("Interrupted")
    assert of_run(cut)[0] == "Interrupted: 2 of 80 runs are done."
    # `runs.json` does not keep how many were asked for.
    assert of_run(replace(cut, asked=None))[0] == "Interrupted: only 2 runs are done."
    compared = Comparison(cut.scenario, ("a", "b"), (), [cut, cut], None, "l")
    assert of_comparison(compared)[0] == "Interrupted: 4 of 160 runs are done."


def test_a_single_variant_has_not_the_most() -> None:
    choice = Choice(Goal(), [FAST])
    assert list(headline(choice, FAST, "", "V")) == ["fast has a goodput of V."]


def test_limits_leave_the_others() -> None:
    choice = Choice(goal(None, ["delay p95 < 100 ms", "goodput > 5.5 Mbit/s"]), ALL)
    assert labels(choice.eligible) == ["short"]
    assert choice.cheaper is None
    nothing = Choice(goal(None, ["queue delay < 500 us"]), ALL)
    assert (nothing.best, nothing.eligible) == (None, [])
    least = Choice(goal("queue delay", []), ALL)
    assert least.best is SLOW


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("delay p95 < 100 ms", Limit("queue_delay_p95_ms", 100, is_upper=True)),
        ("queue_delay_p95_ms<=0.1 s", Limit("queue_delay_p95_ms", 100, is_upper=True)),
        ("goodput > 1.5 Gbit/s", Limit("goodput_mbps", 1500, is_upper=False)),
        ("Jain >= 0.9", Limit("jain", 0.9, is_upper=False)),
        ("retrans < 10 packets", Limit("retransmitted_packets", 10, is_upper=True)),
    ],
)
def test_a_limit_names_a_total_as_the_tables_do(text: str, limit: Limit) -> None:
    [found] = goal(None, [text]).limits
    assert (found.key, found.is_upper) == (limit.key, limit.is_upper)
    assert found.bound == pytest.approx(limit.bound)


def test_a_limit_is_in_the_unit_of_the_tables() -> None:
    # Utilisation is measured as a share and shown in percent.
    [limit] = goal(None, ["utilisation > 50 %"]).limits
    assert [limit.admits(Measure(share, None, 1)) for share in (0.4, 0.6)] == [False, True]
    assert str(limit) == "used > 50 %"


@pytest.mark.parametrize(
    ("best", "limits", "message"),
    [
        ("speed", [], "--best speed: expected one of goodput, RTT, .*; found speed"),
        (None, ["delay p95"], 'expected a measure and a bound, as in "delay p95 < 100 ms"'),
        (None, ["delay p95 < 1e ms"], "found the bound '1e'"),
        (None, ["delay p95 < 100"], "expected ms, us, s, found no unit"),
        (None, ["goodput < 3 ms"], "expected Mbit/s, kbit/s, Gbit/s, found ms"),
    ],
)
def test_what_cannot_be_asked_is_an_error(best: str | None, limits: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        goal(best, limits)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["compare", "--cc", "cubic,reno", "--best", "done p95"],
            "--best done p95: expected a scenario with a group (a flow with arrivals), found none",
        ),
        (
            ["compare", "--cc", "cubic,reno", "--limit", "Jain > 0.5"],
            "--limit Jain > 0.5: expected a scenario with two flows or more, found 1",
        ),
        (
            ["sweep", "--over", "link.cell.rate=1 Mbit/s,2 Mbit/s", "--until", "jain ±1 %"],
            "--until Jain ±1 %: expected a scenario with two flows or more, found 1",
        ),
        (
            ["sweep", "--over", "link.cell.delay=lin(1..9 ms)", "--sample", "8", "--sensitivity", "jain"],
            "--sensitivity Jain: expected a scenario with two flows or more, found 1",
        ),
    ],
)
def test_a_total_that_no_run_has_is_refused(
    cwndlab: Command, tmp_path: Path, command: list[str], message: str
) -> None:
    (tmp_path / "a-link.toml").write_text(SWEPT)
    answer = cwndlab(command[0], "a-link.toml", *command[1:])
    assert answer.returncode == 2
    assert answer.stderr == f"error: {message}\n"
    assert not (tmp_path / "out").exists()


def test_the_total_of_a_group_and_of_flows_that_arrive() -> None:
    arriving = SWEPT + '\narrivals = { parallel = 2, size = "10 kB" }\n'
    scenario = Scenario(arriving.encode(), "x.toml")
    require_totals(Wanted("done p95", ("goodput > 1 Mbit/s",)), None, [scenario])
    with pytest.raises(InputError, match="--best RTT: expected a scenario with a flow that has no arrivals"):
        require_totals(Wanted("RTT"), None, [scenario])


def test_a_sweep_answers_first_and_keeps_the_question(cwndlab: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "a-link.toml", tmp_path / "out"
    file.write_text(SWEPT)
    over = ["--over", "flow.a.cc=cubic,vegas", "--over", "link.cell.queue=1 bdp,4 bdp"]
    asked = ["--limit", "delay p95 < 100 ms"]
    answer = cwndlab("sweep", str(file), *over, *asked, "--seeds", "2", "--out", str(out), "--no-figure")
    first = " ".join(answer.stdout.split())
    # All three get the same.
    assert first.startswith("vegas, queue 1 bdp; cubic, queue 1 bdp and vegas, queue 4 bdp are within 1 %"), (
        first
    )
    assert " among the 3 of 4 points with delay p95 < 100 ms: " in first
    report = (out / "report.html").read_text(encoding="utf-8")
    order = ("are within 1 % in goodput", "Goodput against delay", "Repeat everything", "Every point")
    assert sorted(order, key=report.index) == list(order)
    loaded = cl.load(out)
    assert loaded.answer()[0] in first
    assert "--limit 'delay p95 < 100 ms'" in loaded.command
    assert loaded.answer(best="queue delay")[0].startswith("vegas, queue 1 bdp has the lowest queue delay: ")


def test_a_comparison_marks_what_is_shown(cwndlab: Command, tmp_path: Path) -> None:
    file = tmp_path / "a-link.toml"
    file.write_text(SWEPT)
    answer = cwndlab("compare", str(file), "--cc", "cubic,vegas", "--seeds", "3", "--no-figure")
    row = next(line for line in answer.stdout.splitlines() if line.startswith("vegas − cubic"))
    assert " * " in f"{row} "
    assert "* marks those whose interval" in answer.stdout
