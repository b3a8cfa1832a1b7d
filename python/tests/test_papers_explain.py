"""A paper whose number needs two answers at once: found, measured, reported."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cwndlab.papers import pages
from cwndlab.papers.explaining.design import Design
from cwndlab.papers.explaining.effects import Effect, Model, Shift
from cwndlab.papers.explaining.numbers import all_numbers, distance
from cwndlab.papers.explaining.pairs import pairs, suspicions
from cwndlab.papers.explaining.search import Bench, Measured
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.reading import library
from cwndlab.papers.report.reproduction import reproduction_page
from cwndlab.papers.reproducing.document import document
from cwndlab.papers.reproducing.reproduce import plan, reproduce
from cwndlab.papers.reproducing.reproduction import PaperReproduction, Reproduction
from tests.conftest import Command, paper_folder

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from cwndlab.papers.explaining.design import Combination

SCENARIO = """\
name = "two links in a row"
send_jitter = "0 s"
duration = "1 s"

[[link]]
name = "bottleneck"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "200 packets"
loss = 1e-4

[[link]]
name = "second"
rate = "10 Mbit/s"
delay = "1 ms"
queue = "200 packets"

[[flow]]
name = "a"
cc = "cubic"
path = ["bottleneck", "second"]
"""
PAPER = """\
id = "pair2026"
title = "A pair of answers"
authors = "Nobody"
year = 2026
venue = "Nowhere"
summary = "Its goodput needs two faster links."

[[experiment]]
id = "E1"
title = "One flow"
paper = "Fig. 1"
scenario = "experiments/one.toml"
variant = [
    { label = "cubic" },
    { label = "slow", set = { "link.0.rate" = "1 Mbit/s" } },
]

[[open]]
id = "O1"
point = "the rate"
default = "10 Mbit/s"
reason = "a guess"
alternative = [
    { label = "20 Mbit/s", set = { "link.0.rate" = "20 Mbit/s" }, telling = ["Q1"] },
    { label = "9 Mbit/s", set = { "link.0.rate" = "9 Mbit/s" }, telling = ["Q1"] },
]

[[open]]
id = "O2"
point = "the rate of the second link"
default = "10 Mbit/s"
reason = "a guess"
alternative = [{ label = "30 Mbit/s", set = { "link.1.rate" = "30 Mbit/s" } }]

[[open]]
id = "O3"
point = "the delay of the second link"
default = "1 ms"
reason = "a guess"
alternative = [{ label = "5 ms", set = { "link.1.delay" = "5 ms" } }]

[[open]]
id = "O4"
point = "a rate of another source"
default = "10 Mbit/s"
reason = "a guess"
alternative = [
    { label = "8 Mbit/s", set = { "link.0.rate" = "8 Mbit/s" } },
    { label = "unknown", unavailable = "not said" },
]
"""
CLAIMS = """\
[[baseline]]
text = "the RTT"
experiment = "E1"
effect = 'rtt_min("cubic", "a")'
paper = 32.4
tolerance = 2.0
why = "Table 1"
unit = "ms"

[[claim]]
id = "Q1"
text = "It uses more than 15 Mbit/s"
quote = "sec. 2"
[[claim.part]]
text = "the goodput"
experiment = "E1"
effect = 'goodput("cubic")'
expect = "at least"
value = 15
unit = "Mbit/s"
"""
TARGETS = """\
id,place,experiment,variant,flow,metric,value,unit,kind,statistic,notes
t-1,Table 1,E1,cubic,,goodput,17,Mbps,measured,"goodput(""cubic"")",
t-2,Table 1,E1,cubic,,the same,17,Mbps,measured,"goodput(""cubic"")",
t-4,Table 1,E1,cubic,,rtt,32.4,ms,measured,"rtt_min(""cubic"", ""a"")",
t-3,Table 1,E1,cubic,,nothing,0,Mbps,measured,"goodput(""cubic"") - goodput(""cubic"")",
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of papers with this one in it."""
    files = {
        "experiments/one.toml": SCENARIO,
        "paper.toml": PAPER,
        "claims.toml": CLAIMS,
        "targets.csv": TARGETS,
    }
    return paper_folder(tmp_path, monkeypatch, "pair2026", files)


@pytest.fixture
def explained(folder: Path) -> Reproduction:
    assert folder.exists()
    seeds = range(1, 11)
    return reproduce(plan([], seeds, quick=False, full=False), seeds, explained=True)


@pytest.fixture
def paper(explained: Reproduction) -> PaperReproduction:
    return explained.papers[0]


def test_the_closest_reading_needs_both_answers(paper: PaperReproduction) -> None:
    known = paper.explanation
    assert known is not None
    found = known.charitable
    assert [str(answer) for answer in found.measured.answers] == [
        "O1: 20 Mbit/s",
        "O2: 30 Mbit/s",
        "O3: 5 ms",
    ]
    assert found.distance < found.of_defaults / 2
    # It is judged like the others, and marked.
    last = paper.alternatives[-1]
    assert last.reading.fitted
    assert last.reading.option == "O1 + O2 + O3"
    assert paper.claims[0].readings[-1].answer == "O1: 20 Mbit/s and O2: 30 Mbit/s and O3: 5 ms"
    assert not any(each.reading.fitted for each in paper.readings[:-1])


def test_the_set_up_is_found_by_the_baselines_alone(paper: PaperReproduction) -> None:
    known = paper.explanation
    assert known is not None
    assert [str(answer) for answer in known.set_up.measured.answers] == ["O3: 5 ms"]
    assert known.set_up.distance < 0.05 < known.set_up.of_defaults
    *_, found, charitable = paper.readings
    assert (found.reading.option, found.reading.fitted, found.gate.passes) == ("O3", False, True)
    assert charitable.gate.passes
    assert not paper.defaults.gate.passes
    # So the claim fails in the only reading that passes without being fitted, and holds in the fitted one.
    assert paper.claims[0].verdict is Verdict.DEPENDS


def test_the_pair_is_measured_and_stands_out(paper: PaperReproduction) -> None:
    known = paper.explanation
    assert known is not None
    # Either answer alone leaves the other as the bound; "9 Mbit/s" is a bound whatever the second link.
    strongest = known.pairs[0]
    assert {str(strongest.first), str(strongest.second)} == {"O1: 20 Mbit/s", "O2: 30 Mbit/s"}
    assert strongest.number.id == "t-1"
    assert strongest.both == pytest.approx(
        strongest.first_alone + strongest.second_alone + strongest.interaction.value
    )
    assert strongest.interaction.low is not None
    assert strongest.interaction.low > 2
    # Four of the ten seeds chose the pair; the others test it.
    assert strongest.interaction.n == 6


class Planted(Bench):
    """A bench whose first number is 10, and 15 if two answers are given together."""

    def __init__(self, design: Design) -> None:
        super().__init__(design, range(1, 21), lambda _: [])
        self.asked: list[Sequence[int]] = []

    def measured(
        self, combinations: Sequence[Combination], seeds: Sequence[Sequence[int]], cells: Container[str]
    ) -> list[Measured]:
        assert cells == {"E1/cubic"}
        self.asked += seeds
        found = []
        for answers, own in zip(combinations, seeds, strict=True):
            base = 15 if {"O1: 9 Mbit/s", "O3: 5 ms"} <= set(map(str, answers)) else 10
            values = [base + 0.1 * seed + 0.01 * len(answers) * (seed % 3) for seed in own]
            found.append(Measured(answers, {self.numbers[0].key: values}))
        return found


def test_a_pair_outside_the_closest_reading_is_found(folder: Path) -> None:
    """One of its answers moves a number alone; the pair is tested with seeds that did not choose it."""
    assert folder.exists()
    design = Design(library.read("pair2026"))
    bench = Planted(design)
    [number, _] = bench.numbers
    first = next(answer for answer in design.answers if str(answer) == "O1: 9 Mbit/s")
    moved = [Effect(number, first.point, 0.5, 1e-6, [Shift("9 Mbit/s", -1.0, -1.2, -0.8)])]
    found = suspicions(bench, [number], moved, near=())
    assert [str(each.second) for each in found] == ["O3: 5 ms"]
    assert found[0].size == pytest.approx(5 / 17)
    ranking = {seed for seeds in bench.asked for seed in seeds}
    bench.asked.clear()
    [pair] = pairs(bench, found)
    assert (str(pair.first), str(pair.second)) == ("O1: 9 Mbit/s", "O3: 5 ms")
    assert pair.interaction.value == pytest.approx(5)
    assert pair.p < 1e-6
    assert not ranking & {seed for seeds in bench.asked for seed in seeds}
    assert suspicions(bench, [number], [], near=()) == []


def test_the_points_that_move_the_number_are_named(paper: PaperReproduction) -> None:
    known = paper.explanation
    assert known is not None
    delay = known.effects[0]
    assert (delay.number.id, delay.point.id) == ("t-4", "O3")
    assert delay.share > 0.9
    assert delay.p < 1e-6
    # 4 ms more in each direction.
    [longer] = delay.shifts
    assert longer.value == "5 ms"
    assert longer.low < 8 < longer.high
    assert longer.mean == pytest.approx(8, abs=0.2)
    assert "O3" not in {effect.point.id for effect in known.effects if effect.number.id == "t-1"}


def test_after_an_interruption_in_the_search_it_goes_on(folder: Path) -> None:
    scenario = folder / "experiments" / "one.toml"
    scenario.write_text(SCENARIO.replace('"1 s"', '"900 s"'))
    seeds = range(1, 6)
    planned = plan([], seeds, quick=False, full=False)
    usual = reproduce(planned, seeds)
    shares: list[float] = []

    def interrupt(share: float) -> None:
        shares.append(share)
        # The usual runs are known, so that the first one that takes time belongs to the search.
        if len(shares) > 1 and share > shares[0] > 0:
            raise KeyboardInterrupt

    cut = reproduce(planned, seeds, explained=True, threads=1, watch=interrupt)
    assert cut.interrupted
    assert cut.papers[0].explanation is None
    assert [each.reading.value for each in cut.papers[0].readings] == [
        each.reading.value for each in usual.papers[0].readings
    ]


def test_the_report_and_the_page_tell_it(explained: Reproduction, tmp_path: Path) -> None:
    page = reproduction_page(explained)
    [section] = [each for each in page.sections if each.anchor == "pair2026-explanation"]
    assert section.intro is not None
    assert "combinations of answers" in section.intro
    assert explained.command.endswith("--explain")
    file = tmp_path / "reproduction.json"
    file.write_text(json.dumps(document(explained)))
    text = tmp_path / "page.md"
    text.write_text("<!-- verdicts: pair2026 -->\n<!-- end of verdicts -->\n")
    pages.main([str(file), str(text)])
    filled = text.read_text()
    assert "`cwndlab reproduce pair2026 --seeds 1-10 --explain`" in filled
    assert "O1: 20 Mbit/s with O2: 30 Mbit/s with O3: 5 ms (fitted)" in filled
    assert "| all numbers of the paper (fitted) | O1: 20 Mbit/s; O2: 30 Mbit/s; O3: 5 ms | 0.0" in filled
    assert "O1: 20 Mbit/s and O2: 30 Mbit/s | +" in filled


def test_a_page_keeps_the_search_and_the_papers_that_a_document_lacks(paper: PaperReproduction) -> None:
    today = datetime.date(2026, 11, 25)
    found = document(Reproduction([paper], [1], interrupted=False, explained=True))
    alone = document(Reproduction([replace(paper, explanation=None)], [1], interrupted=False))
    own = "<!-- verdicts: pair2026 -->\n<!-- end of verdicts -->"
    explained = pages.filled(own, found, today)
    search = explained[explained.index("**Why?**") : explained.index(pages.PARTS)]
    assert "closest" in search
    assert search in pages.filled(explained, alone, today)
    other = "| [other](papers/other/README.md) | It helps | **refuted** | 0 of 1 |"
    table = pages.filled("<!-- verdicts -->\n<!-- end of verdicts -->", alone, today)
    by_hand = table.replace("\n\n<!-- end", f"\n{other}\n\n<!-- end").replace("`cwndlab", "By hand: `cwndlab")
    assert pages.filled(by_hand, alone, today) == by_hand


def test_every_point_keeps_its_default_in_half_of_the_spread(folder: Path) -> None:
    assert folder.exists()
    design = Design(library.read("pair2026"))
    assert [str(answer) for answer in design.answers] == [
        "O1: 20 Mbit/s",
        "O1: 9 Mbit/s",
        "O2: 30 Mbit/s",
        "O3: 5 ms",
        "O4: 8 Mbit/s",
    ]
    spread = design.spread(64)
    assert spread == design.spread(64)
    assert len(spread) == 64
    for point in ("O1", "O2", "O3"):
        changed = sum(any(answer.point.id == point for answer in each) for each in spread)
        assert changed == 32, point
    # O4 contradicts every other answer to O1.
    both = [{answer.point.id for answer in each} >= {"O1", "O4"} for each in spread]
    assert not any(both)


def test_answers_that_always_come_together_share_a_column(folder: Path) -> None:
    """Their effects cannot be told apart, and a singular model would give them arbitrary ones."""
    assert folder.exists()
    rate, _, second, delay, _ = Design(library.read("pair2026")).answers
    combinations = [(), (), (rate, second), (rate, second), (rate, second, delay), (delay,)]
    model = Model([Measured(each, {}) for each in combinations])
    assert [str(answer) for answer in model.answers] == ["O1: 20 Mbit/s", "O3: 5 ms"]
    assert model.matrix.shape == (6, 3)


def test_the_distance_is_relative_and_counts_what_is_missing(folder: Path) -> None:
    assert folder.exists()
    numbers = all_numbers(library.read("pair2026"))
    # The same quantity counts once, and there is no distance from 0.
    assert [number.id for number in numbers] == ["t-1", "t-4"]
    number = numbers[0]
    other = numbers[1]
    assert distance([number], {number.key: [17.0]}) == 0
    assert distance([number], {number.key: [33.0, 35.0]}) == pytest.approx(1 / 3)
    assert distance([number, other], {number.key: [34.0]}) == pytest.approx((1 / 3 + 1) / 2)


def test_with_the_defaults_alone_the_same_is_found(paper: PaperReproduction) -> None:
    seeds = range(1, 11)
    planned = plan([], seeds, quick=False, full=False, defaults_only=True)
    again = reproduce(planned, seeds, defaults_only=True, explained=True)
    [alone] = again.papers
    assert alone.explanation is not None
    assert paper.explanation is not None
    assert alone.explanation.to_json() == paper.explanation.to_json()
    judged = [each.reading.value for each in alone.readings]
    assert judged == ["default", "5 ms", "20 Mbit/s + 30 Mbit/s + 5 ms"]
    assert again.command.endswith("--explain --defaults")


def test_quick_and_explain_exclude_each_other(folder: Path, cwndlab: Command) -> None:
    assert folder.exists()
    answer = cwndlab("reproduce", "--quick", "--explain")
    assert answer.returncode == 2
    assert "--quick cannot be combined with --full or --explain" in answer.stderr
