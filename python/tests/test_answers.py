"""The sentences that begin the output, and what `--best` and `--limit` ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import cwndlab as cl
from cwndlab.errors import InputError
from cwndlab.output.answers.choice import Candidate, Choice
from cwndlab.output.answers.goal import Goal, Limit, goal

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


def test_a_sweep_answers_first_and_keeps_the_question(cwndlab: Command, tmp_path: Path) -> None:
    file, out = tmp_path / "a-link.toml", tmp_path / "out"
    file.write_text(SWEPT)
    over = ["--over", "flow.a.cc=cubic,vegas", "--over", "link.cell.queue=1 bdp,4 bdp"]
    asked = ["--limit", "delay p95 < 100 ms"]
    answer = cwndlab("sweep", str(file), *over, *asked, "--seeds", "2", "--out", str(out), "--no-figure")
    first = " ".join(answer.stdout.split())
    assert first.startswith("vegas, queue "), first
    assert " has the most goodput among the 3 of 4 points with delay p95 < 100 ms: " in first
    report = (out / "report.html").read_text(encoding="utf-8")
    order = ("vegas, queue ", "Goodput against delay", "Repeat everything", "Every point")
    assert sorted(order, key=report.index) == list(order)
    loaded = cl.load(out)
    assert loaded.answer()[0] in first
    assert "--limit 'delay p95 < 100 ms'" in loaded.command
    assert loaded.answer(best="queue delay")[0].startswith("vegas, queue ")


def test_a_comparison_marks_what_is_shown(cwndlab: Command, tmp_path: Path) -> None:
    file = tmp_path / "a-link.toml"
    file.write_text(SWEPT)
    answer = cwndlab("compare", str(file), "--cc", "cubic,vegas", "--seeds", "3", "--no-figure")
    row = next(line for line in answer.stdout.splitlines() if line.startswith("vegas − cubic"))
    assert " * " in f"{row} "
    assert "* marks those whose interval" in answer.stdout
