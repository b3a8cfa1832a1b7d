"""A small paper of our own: read, run, judged, reported."""

from __future__ import annotations

import datetime
import itertools
import json
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from cwndlab.errors import InputError
from cwndlab.output.html import Table
from cwndlab.papers import pages
from cwndlab.papers.contents import cells
from cwndlab.papers.judging.across import Verdict
from cwndlab.papers.judging.closeness import closeness
from cwndlab.papers.judging.evaluation import Evaluated
from cwndlab.papers.judging.verdict import CUT, Lean, Outcome
from cwndlab.papers.reading import library
from cwndlab.papers.report.forest import forest
from cwndlab.papers.report.in_linux import linux_section
from cwndlab.papers.reproducing.document import document
from cwndlab.papers.reproducing.reproduce import plan, reproduce
from cwndlab.papers.reproducing.reproduction import Reproduction
from cwndlab.papers.sensitivity import page
from cwndlab.papers.table import conditions
from tests.conftest import SCENARIO, Command, paper_folder
from tests.test_executors import Inline

PAPER = """\
id = "tiny2026"
title = "A tiny paper"
authors = "Nobody"
year = 2026
venue = "Nowhere"
summary = "It claims that longer queues delay more."
units = ["laughs"]

[[experiment]]
id = "E1"
title = "Two flows"
paper = "Fig. 1"
scenario = "experiments/two.toml"
variant = [
    { label = "short", set = { "link.0.queue" = "0.5 bdp" } },
    { label = "long", set = { "link.0.queue" = "4 bdp" } },
    { label = "magic", set = { "flow.a.cc" = "magic" } },
    { label = "C = 1.2", set = { "flow.a.cc" = "{ name = 'cubic', C = 1.2 }" }, control = true },
]

[[experiment]]
id = "E2"
title = "Not yet"
paper = "Fig. 2"
scenario = "experiments/two.toml"
unavailable = "comes later"
variant = [{ label = "x" }]

[[open]]
id = "O1"
point = "losses"
default = "one in a thousand"
reason = "a guess"
alternative = [
    { label = "none", set = { "link.0.loss" = "0" }, telling = ["Q1", "Q2", "Q3"] },
    { label = "odd", unavailable = "cannot be", telling = ["Q1"] },
]

[[erratum]]
where = "sec. 1"
text = "A slip."
"""
CLAIMS = """\
[[claim]]
id = "Q1"
text = "Longer queues delay more"
quote = "sec. 2"
[[claim.part]]
text = "by the mean"
experiment = "E1"
effect = 'queue_delay("long", "bottleneck") - queue_delay("short", "bottleneck")'
expect = "positive"
unit = "ms"
paper = 1000.0

[[claim]]
id = "Q2"
text = "Longer queues delay less"
quote = "sec. 3"
[[claim.part]]
text = "by the mean"
experiment = "E1"
effect = 'queue_delay("E1/long", "bottleneck") - queue_delay("E1/short", "bottleneck")'
expect = "negative"

[[claim]]
id = "Q3"
text = "Magic helps"
quote = "sec. 4"
[[claim.part]]
text = "alone"
experiment = "E1"
effect = 'goodput("magic") - goodput("long")'
"""
BASELINE = """
[[baseline]]
text = "the goodput of the long queue"
experiment = "E1"
effect = 'goodput("long")'
paper = {paper}
tolerance = 1
why = "a tenth of the link"
unit = "Mbit/s"

"""
TARGETS = """\
id,place,experiment,variant,flow,metric,value,unit,kind,statistic,notes
t-1,Table 1,E1,long,,avg_throughput,9,Mbps,measured,"goodput(""long"")",
t-2,Table 1,E1,magic,,avg_throughput,11,Mbps,measured,"goodput(""magic"")",
t-3,Table 1,E1,long,,joy,11,laughs,measured,,not measured: no such thing
t-4,Table 0,E1,,,param.rate,10,Mbps,setting,link.bottleneck.rate,
"""


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of papers with one in it."""
    files = {
        "experiments/two.toml": SCENARIO,
        "paper.toml": PAPER,
        "claims.toml": CLAIMS,
        "targets.csv": TARGETS,
    }
    return paper_folder(tmp_path, monkeypatch, "tiny2026", files)


def run(seeds: int = 4, *, quick: bool = False, full: bool = False) -> Reproduction:
    chosen = range(1, seeds + 1)
    return reproduce(plan([], chosen, quick=quick, full=full), chosen, quick=quick, full=full)


def test_verdicts(papers: Path) -> None:
    [paper] = run().papers
    assert paper.paper.folder == papers
    verdicts = {claim.claim.id: claim.verdict for claim in paper.claims}
    assert verdicts == {"Q1": Verdict.SUPPORTED, "Q2": Verdict.REFUTED, "Q3": Verdict.UNAVAILABLE}
    [magic] = paper.claims[2].defaults.judged.parts
    assert magic.reason == "needs the algorithm magic, which is not implemented"


def test_numbers(papers: Path) -> None:
    [paper] = run().papers
    assert papers.exists()
    ours = {row.target.id: row for row in paper.rows}
    assert set(ours) == {"t-1", "t-2", "t-3"}
    long = ours["t-1"].ours
    assert long is not None
    assert long.n == 4
    result = paper.defaults.results["E1/long"]
    assert long.value == pytest.approx(result.flows["goodput_mbps"].sum() / 4)
    assert ours["t-2"].missing == "needs the algorithm magic, which is not implemented"
    assert ours["t-3"].missing == "not measured: no such thing"


def test_sensitivity(papers: Path) -> None:
    assert papers.exists()
    [paper] = run().papers
    none, odd = paper.alternatives
    assert none.reading.value == "none"
    assert none.claims[0].outcome in (Outcome.HOLDS, Outcome.AGREES)
    assert {claim.outcome for claim in odd.claims} == {Outcome.MISSING}
    assert odd.claims[0].parts[0].reason == "cannot be"
    changed = paper.alternatives[0].results["E1/long"].scenario.resolved["link"][0]["loss"]
    assert changed == 0


def test_an_alternative_is_judged_by_whole_runs_then_forgets_them(papers: Path) -> None:
    windows = CLAIMS.replace("queue_delay(", "cwnd(").replace('"bottleneck"', '"a", start=1')
    windows = windows.replace('unit = "ms"', 'unit = "segments"')
    (papers / "claims.toml").write_text(windows)
    [paper] = run().papers
    details = [result.runs[0].detail for result in paper.alternatives[0].results.values()]
    assert all(len(detail.end_s) == 0 for detail in details)
    assert len(paper.defaults.results["E1/long"].runs[0].detail.end_s) > 0
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(scenario.read_text().replace("loss = 1e-3", "loss = 0"))
    [without_loss] = run().papers
    evidence = paper.alternatives[0].claims[0].parts[0]
    assert evidence.estimate is not None
    assert evidence == without_loss.defaults.claims[0].parts[0]


def test_a_missing_seed_makes_a_claim_unavailable(papers: Path) -> None:
    assert papers.exists()
    [paper] = run().papers
    paper.defaults.results["E1/long"].runs.pop(2)
    paper.defaults.settled.clear()
    judged = paper.defaults.claims
    assert judged[0].outcome is Outcome.MISSING
    assert judged[0].parts[0].reason == "seed 3 of E1/long is missing"


def test_after_an_interruption_it_goes_on(papers: Path) -> None:
    assert papers.exists()
    chosen = range(1, 5)
    shares: list[float] = []

    def interrupt(share: float) -> None:
        shares.append(share)
        if share > 0:
            raise KeyboardInterrupt

    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(SCENARIO.replace('"2 s"', '"900 s"'))
    planned = plan([], chosen, quick=False, full=False)
    cut = reproduce(planned, chosen, threads=1, watch=interrupt)
    assert cut.interrupted
    verdicts = {claim.verdict for claim in cut.papers[0].claims}
    assert verdicts == {Verdict.UNAVAILABLE}
    assert "is missing" in str(cut.papers[0].defaults.claims[0].parts[0].reason)
    whole = reproduce(planned, chosen)
    assert not whole.interrupted
    assert whole.papers[0].claims[1].verdict is Verdict.REFUTED
    assert [run.reused for result in whole.results for run in result.runs].count(True) >= sum(
        len(result.runs) for result in cut.results
    )


def test_an_executor_runs_readings_side_by_side_with_the_same_end(
    papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = document(run(full=True))
    monkeypatch.setenv("CWNDLAB_CACHE", str(papers / "another-cache"))
    chosen = range(1, 5)
    planned = plan([], chosen, quick=False, full=True)
    assert len(planned[0]) > 1
    shares: list[float] = []
    executor = Inline()
    there = reproduce(planned, chosen, full=True, executor=executor, watch=shares.append)
    assert executor.submitted >= sum(len(result.runs) for result in there.results)
    assert shares[-1] == pytest.approx(1)
    assert document(there) == here


def test_an_interruption_ends_all_readings(papers: Path) -> None:
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(SCENARIO.replace('"2 s"', '"200 s"'))
    chosen = range(1, 5)
    planned = plan([], chosen, quick=False, full=True)

    reports = itertools.count()

    def interrupt(share: float) -> None:
        # Several threads report; a second Ctrl-C would end it at once.
        if share > 0 and next(reports) == 0:
            signal.raise_signal(signal.SIGINT)

    cut = reproduce(planned, chosen, full=True, executor=Inline(), watch=interrupt)
    assert cut.interrupted
    made = [run for result in cut.results for run in result.runs]
    assert 0 < len(made) < sum(reading.most_runs for reading in planned[0])
    assert {claim.verdict for claim in cut.papers[0].claims} == {Verdict.UNAVAILABLE}


@pytest.mark.parametrize(("only", "loss"), [('"E2"', 0.001), ('["E2"]', 0.001), ('["E2", "E1"]', 0)])
def test_an_alternative_may_change_some_experiments_only(papers: Path, only: str, loss: float) -> None:
    text = PAPER.replace('label = "none",', f'label = "none", only = {only},')
    (papers / "paper.toml").write_text(text)
    [[_, none, _]] = plan([], [1], quick=False, full=False)
    made = none.cells["E1/long"].scenario
    assert made is not None
    resolved = made.resolved["link"][0]["loss"]
    assert (resolved["rate"] if resolved else 0) == loss


def test_an_alternative_has_the_last_word_and_stops_when_it_misses_the_gate(papers: Path) -> None:
    text = PAPER.replace('set = { "link.0.loss" = "0" }', 'set = { "link.0.queue" = "7 packets" }')
    (papers / "paper.toml").write_text(text)
    [[defaults, other, _]] = plan([], range(1, 21), quick=False, full=False)
    assert (len(defaults.seeds), len(other.seeds), other.missing_seeds) == (20, 20, 10)
    made = [cell.scenario for cell in other.runnable]
    assert {each.resolved["link"][0]["queue"]["size"] for each in made if each} == {"7 packets"}
    [[_, everywhere, _]] = plan([], range(1, 21), quick=False, full=True)
    assert everywhere.missing_seeds == 20


def test_alternatives_may_have_fewer_seeds_than_the_defaults(papers: Path) -> None:
    assert papers.exists()
    [[defaults, other, _]] = plan([], range(1, 21), quick=False, full=True, alternative_seeds=10)
    # The defaults of a full run are judged once, with all seeds.
    assert (defaults.looks, other.looks, other.missing_seeds) == ((20,), (5, 10), 10)
    planned = plan([], [1, 2, 3], quick=False, full=True, alternative_seeds=2)
    ran = reproduce(planned, [1, 2, 3], full=True, alternative_seeds=2)
    [paper] = ran.papers
    assert [{len(result.runs) for result in one.results.values()} for one in paper.readings[:2]] == [{3}, {2}]
    assert ran.command.endswith("--seeds 1-3 --full --alternative-seeds 2")
    made = document(ran)
    block = "<!-- verdicts: tiny2026 -->\n<!-- end of verdicts -->"
    filled = pages.filled(block, made, datetime.date(2026, 11, 24))
    assert "`cwndlab reproduce tiny2026 --seeds 1-3 --full --alternative-seeds 2` on 2026-11-24" in filled
    assert "at most 3 seeds, 2 for alternatives:" in filled
    assert "\n3 seeds (2 for alternatives), version" in page([made])


def test_an_answer_can_be_asked_for(papers: Path) -> None:
    text = PAPER.replace('"cannot be", telling = ["Q1"]', '"cannot be"')
    (papers / "paper.toml").write_text(text)

    def tried(*asked: str, defaults_only: bool = False) -> list[tuple[str, list[str]]]:
        [[_, *others]] = plan([], [1], quick=False, full=False, defaults_only=defaults_only, asked=asked)
        return [(str(each.answers[0]), list(each.only)) for each in others]

    # It is tried for all claims, and not once more for those that it decides.
    none = ("O1: none", ["Q1", "Q2", "Q3"])
    assert tried() == [none]
    assert tried("O1: odd") == [none, ("O1: odd", [])]
    assert tried("O1") == tried("O1", defaults_only=True) == [("O1: none", []), ("O1: odd", [])]
    assert tried("O1: odd", defaults_only=True) == [("O1: odd", [])]
    planned = plan([], [1, 2], quick=False, full=False, defaults_only=True, asked=["O1: none"])
    ran = reproduce(planned, [1, 2], defaults_only=True, asked=["O1: none"])
    assert ran.command == "cwndlab reproduce tiny2026 --seeds 1-2 --defaults --try 'O1: none'"
    block = "<!-- verdicts: tiny2026 -->\n<!-- end of verdicts -->"
    filled = pages.filled(block, document(ran), datetime.date(2026, 11, 29))
    assert "`cwndlab reproduce tiny2026 --seeds 1-2 --defaults --try 'O1: none'` on 2026-11-29" in filled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--try", "O1: non"], '"O1: non" names no alternative answer of tiny2026; did you mean "O1: none"'),
        (["--try", "Z9"], "expected an answer or one of the points O1"),
        (["--try", ""], '--try: "" names no alternative answer of tiny2026'),
        (["--try", "O1", "--full"], "--try cannot be combined with --quick"),
        (["--try", "O1", "--quick"], "--try cannot be combined with --quick"),
    ],
)
def test_what_is_asked_for_must_be_there(
    papers: Path, cwndlab: Command, options: list[str], message: str
) -> None:
    assert papers.exists()
    answer = cwndlab("reproduce", *options)
    assert (answer.returncode, message in answer.stderr) == (2, True), answer.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quick"], "cannot be combined with --quick or --defaults"),
        (["--defaults"], "cannot be combined with --quick or --defaults"),
        (["--seeds", "5"], "--alternative-seeds: expected at most 5 seeds, as the defaults have, found 10"),
    ],
)
def test_fewer_seeds_need_alternatives(
    papers: Path, cwndlab: Command, options: list[str], message: str
) -> None:
    assert papers.exists()
    answer = cwndlab("reproduce", "--alternative-seeds", "10", *options)
    assert (answer.returncode, message in answer.stderr) == (2, True)


def test_a_usual_run_tries_the_telling_answers_alone(papers: Path) -> None:
    (papers / "paper.toml").write_text(PAPER.replace('"cannot be", telling = ["Q1"]', '"cannot be"'))
    [usual], [full] = (plan([], [1], quick=False, full=full) for full in (False, True))
    assert [str(answer) for each in usual for answer in each.answers] == ["O1: none"]
    assert [str(answer) for each in full for answer in each.answers] == ["O1: none", "O1: odd"]


def test_a_combination_is_tried_with_all_answers_and_marked_as_fitted(papers: Path) -> None:
    second = """[[open]]
id = "O2"
point = "the queue"
default = "as it is"
reason = "a guess"
alternative = [{ label = "short", set = { "link.0.queue" = "7 packets" } }]

[[combination]]
answers = ["O1: none", "O2: short"]
fitted = "by a search"
"""
    (papers / "paper.toml").write_text(PAPER.replace("[[erratum]]", f"{second}\n[[erratum]]"))
    [usual], [full] = (plan([], [1], quick=False, full=full) for full in (False, True))
    assert not any(each.fitted for each in usual)
    assert [(each.option, each.fitted) for each in full[-2:]] == [("O2", False), ("O1 + O2", True)]
    made = full[-1].cells["E1/long"].scenario
    assert made is not None
    link = made.resolved["link"][0]
    assert (link["queue"]["size"], link["loss"]) == ("7 packets", 0)
    ran = reproduce([full], [1], full=True)
    assert document(ran)["papers"][0]["readings"][-1]["fitted"]
    [few] = plan([], range(1, 21), quick=False, full=True, alternative_seeds=10)
    assert [len(each.seeds) for each in few] == [20, 10, 10, 10, 20], (
        "the defaults, the answers, the combination"
    )
    # A default run tries it for the claims that it tells about.
    text = (papers / "paper.toml").read_text()
    (papers / "paper.toml").write_text(text.replace('"by a search"', '"by a search"\ntelling = ["Q1"]'))
    [[*_, told]] = plan([], [1], quick=False, full=False)
    assert (told.option, told.fitted, list(told.only)) == ("O1 + O2", True, ["Q1"])


def test_an_alternative_may_be_a_parameter_of_an_algorithm(papers: Path) -> None:
    text = PAPER.replace(
        '{ label = "none", set = { "link.0.loss" = "0" },',
        '{ label = "none", algorithms = ["cubic"], set = { beta = "0.5" },',
    )
    (papers / "paper.toml").write_text(text)
    (papers / "claims.toml").write_text(CLAIMS.replace('goodput("long")', 'goodput("C = 1.2")'))
    [[_, other, _]] = plan([], [1], quick=False, full=False)
    made = {
        key: cell.scenario.resolved["flow"][0]["cc"] for key, cell in other.cells.items() if cell.scenario
    }
    assert (made["E1/C = 1.2"]["C"], made["E1/C = 1.2"]["beta"]) == (1.2, 0.5)
    assert made["E1/long"]["beta"] == 0.7


def test_findings_are_tested_apart_from_the_claims(papers: Path) -> None:
    claims = (papers / "claims.toml").read_text()
    (papers / "claims.toml").write_text(
        claims + CLAIMS[: CLAIMS.index("[[claim]]", 9)].replace("claim", "finding").replace("Q1", "F1")
    )
    [paper] = run().papers
    assert [(finding.claim.id, finding.outcome) for finding in paper.findings] == [("F1", Outcome.HOLDS)]
    assert [claim.claim.id for claim in paper.claims] == ["Q1", "Q2", "Q3"]


def test_closeness_is_by_the_plain_numbers(papers: Path) -> None:
    more = """\
t-5,Table 1,E1,short,,avg_throughput,5,Mbps,measured,"goodput(""short"")",
t-6,Table 1,E1,,,gap,1,Mbps,measured,"goodput(""short"") - goodput(""long"")",
t-7,Table 1,E1,long,,delay,5,ms,measured,"queue_delay(""long"", ""bottleneck"")",
"""
    (papers / "targets.csv").write_text(TARGETS + more)
    [paper] = run(full=True).papers
    known = closeness([paper.defaults, *paper.alternatives])
    assert [each.reading.value for each in known] == ["default", "none"]
    for each in known:
        assert [row.target.id for row in each.rows] == ["t-1", "t-5"]
        gaps = [row.ours.value - (row.target.number or 0) for row in each.rows if row.ours]
        assert each.distance == pytest.approx(((gaps[0] ** 2 + gaps[1] ** 2) / 2) ** 0.5)
        assert each.unit == "Mbps"


def test_quick_cuts_long_runs_and_says_so(papers: Path) -> None:
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(SCENARIO.replace('"2 s"', '"61 s"').replace("10 Mbit/s", "10 Gbit/s"))
    (papers / "claims.toml").write_text(CLAIMS.replace('goodput("long")', 'goodput("C = 1.2")'))
    [[reading]] = plan([], [1], quick=True, full=False)
    assert reading.cells["E1/long"].title == "long (cut to 60 s)"
    assert reading.cells["E1/C = 1.2"].title == "C = 1.2 (control, cut to 60 s)"
    made = reading.cells["E1/long"].scenario
    assert made is not None
    assert made.resolved["duration"] == "60 s"


def test_quick_does_not_cut_runs_of_few_packets(papers: Path) -> None:
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(SCENARIO.replace('"2 s"', '"61 s"'))
    [[reading]] = plan([], [1], quick=True, full=False)
    assert not any(cell.is_cut for cell in reading.cells.values())


def test_runs_that_were_cut_lean_to_nothing(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They measure something else: the first 2 of 3 s."""
    monkeypatch.setattr(cells, "QUICK_PACKETS", 0)
    monkeypatch.setattr(cells, "QUICK_S", 2)
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(SCENARIO.replace('"2 s"', '"3 s"'))
    (papers / "claims.toml").write_text(BASELINE.format(paper=9) + CLAIMS)
    [paper] = run(6, quick=True).papers
    assert [claim.lean for claim in paper.claims] == [Lean.NEITHER] * 3
    assert paper.claims[0].no_lean_because == CUT
    assert not paper.defaults.gate.passes
    assert paper.defaults.claims[0].parts[0].estimate is not None


def test_a_quick_look_leans_and_gives_no_verdict(papers: Path, cwndlab: Command) -> None:
    assert papers.exists()
    answer = cwndlab("reproduce", "--quick", "--seeds", "6")
    assert "3 claims: 1 leans for, 1 leans against, 1 no lean" in answer.stdout
    assert "cwndlab reproduce tiny2026" in answer.stdout
    assert "parts hold" not in answer.stdout
    assert "Holm" not in answer.stdout
    words = [verdict.value for verdict in Verdict if verdict.value != "undecided"]
    page = (cwndlab.folder / "out" / "reproduce" / "report.html").read_text()
    before_rules = page[: page.index("How verdicts are reached")]
    assert not [word for word in words if f">{word}<" in before_rules or f" {word}" in answer.stdout]
    document = json.loads(cwndlab("reproduce", "--quick", "--json").stdout)
    claims = document["papers"][0]["claims"]
    assert not any("verdict" in claim or "parts_holding" in claim for claim in claims)
    assert [claim["no_lean_because"] for claim in claims if claim["lean"] == "no lean"] == [
        "not everything was run"
    ]


def test_unknown_papers(papers: Path) -> None:
    assert papers.exists()
    with pytest.raises(InputError, match="did you mean tiny2026"):
        library.read("tiny2025")


def test_command(papers: Path, cwndlab: Command) -> None:
    answer = cwndlab("reproduce", "tiny2026", "--seeds", "4")
    assert answer.returncode == 0, answer.stderr
    assert "3 claims: 1 supported, 1 refuted, 1 unavailable" in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
    # Four cells with four seeds; of two of them the claims need the alternative too.
    assert "20 new runs, 0 reused" in answer.stderr
    again = cwndlab("reproduce", "tiny2026", "--seeds", "4", "--json")
    assert "0 new runs, 20 reused" in again.stderr
    document = json.loads(again.stdout)
    [told] = document["papers"]
    assert told["id"] == papers.name
    assert [claim["verdict"] for claim in told["claims"]] == ["supported", "refuted", "unavailable"]
    assert [each["option"] for each in told["claims"][0]["readings"]] == ["", "O1", "O1"]
    assert told["rows"][0]["paper"] == 9
    folder = cwndlab.folder / "out" / "reproduce"
    names = {path.name for path in folder.iterdir()}
    assert {"report.html", "reproduction.json", "numbers.csv", "verdicts.parquet", "runs.parquet"} <= names
    page = (folder / "report.html").read_text()
    for text in (
        "A tiny paper",
        "refuted",
        "Longer queues delay less",
        "not measured: no such thing",
        "A slip.",
        "Our effect divided by the paper",
    ):
        assert text in page


def test_the_page_of_sensitivities_tells_what_made_each_table(papers: Path) -> None:
    assert papers.exists()
    made = document(run())
    other = {**made, "seeds": [1, 2], "manifest": {**made["manifest"], "commit": "another"}}
    text = page([made, other])
    assert text.count("## tiny2026") == 2
    first, second = text.split("## tiny2026")[1:]
    assert first.lstrip().startswith("4 seeds, version ")
    assert second.lstrip().startswith("2 seeds, version ")
    assert "commit another" in second
    assert "| O1 | none |" in first
    assert "1 alternative could not be tried." in first


def test_the_page_of_sensitivities_brackets_each_claim_by_its_own_gate(papers: Path) -> None:
    assert papers.exists()
    made = document(run())
    first, second, *_ = made["papers"][0]["claims"]
    assert "(" not in page([made]).split("| O1 | none |")[1].splitlines()[0]
    second["readings"][1]["passes_gate"] = False
    row = page([made]).split("| O1 | none |")[1].splitlines()[0]
    outcomes = [first["readings"][1]["outcome"], f"({second['readings'][1]['outcome']})"]
    assert [cell.strip() for cell in row.split("|")[:2]] == outcomes


def test_many_readings_are_described_by_the_shorter_list() -> None:
    def described(holding: int, others: int) -> str:
        outcomes = ["holds"] * holding + ["open"] * others
        answers = [{"answers": [f"A{number}"], "fitted": False} for number, _ in enumerate(outcomes)]
        claim = {
            "verdict": "undecided",
            "readings": [{"outcome": outcome, "passes_gate": True} for outcome in outcomes],
        }
        return pages._conditions({"readings": answers, "untried": 0}, claim)[0]

    assert described(3, 1) == "A0; A1; A2"
    assert described(9, 2) == "9 of 11 readings, not with A9; A10"
    assert described(9, 10) == "; ".join(f"A{number}" for number in range(9))
    assert described(9, 0) == "all 9 readings"


def test_the_forest_has_a_line_for_each_part_with_a_number(papers: Path) -> None:
    assert papers.exists()
    ran = run().papers[0]
    (plot,) = forest(ran)
    assert [line.label for line in plot.lines] == ["Q1: by the mean"]
    hidden = sum(len(claim.defaults.judged.parts) for claim in ran.claims) - 1
    assert f"Not shown: {hidden} part" in plot.caption


def test_a_page_shows_the_verdicts_of_its_paper(papers: Path, tmp_path: Path) -> None:
    assert papers.exists()
    file = tmp_path / "reproduction.json"
    file.write_text(json.dumps(document(run())))
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- verdicts: tiny2026 -->\nstale\n<!-- end of verdicts -->\nbetween\n"
        "<!-- verdicts: other2026 -->\nkept\n<!-- end of verdicts -->\n"
        "<!-- verdicts -->\n<!-- end of verdicts -->\nafter\n"
    )
    pages.main([str(file), str(page)])
    text = page.read_text()
    one, rest = text.split("\nbetween\n")
    assert one.startswith("before\n<!-- verdicts: tiny2026 -->\n")
    assert "stale" not in one
    assert "| Q2 | Longer queues delay less | **refuted** |  | all 2 readings | 0 of 1 | 4 |" in one
    assert "| Q1 | by the mean | 1000 ms | " in one
    assert "\nkept\n" in rest
    assert "](papers/tiny2026/README.md) | Longer queues delay less | **refuted** | 0 of 1 |" in rest
    assert rest.endswith("<!-- end of verdicts -->\nafter\n")
    pages.main([str(file), str(page)])
    assert page.read_text() == text
    page.write_text("no block\n")
    with pytest.raises(InputError, match="expected a line '<!-- verdicts: PAPER -->', found none"):
        pages.main([str(file), str(page)])


def test_a_page_shows_what_became_of_a_claim_in_linux(papers: Path, tmp_path: Path) -> None:
    assert papers.exists()
    ran = run()
    # What ran here stands in for Linux; its words are made different.
    there = ran.papers[0]
    both = document(replace(ran, papers=[replace(ran.papers[0], in_linux=there)]))
    both["backend"] = "both"
    both["papers"][0]["in_linux"]["claims"][1]["verdict"] = "depends"
    file, page = tmp_path / "reproduction.json", tmp_path / "page.md"
    page.write_text(
        "<!-- verdicts: tiny2026 -->\n<!-- end of verdicts -->\n"
        "<!-- in Linux: tiny2026 -->\n<!-- end of in Linux -->\n"
        "<!-- verdicts -->\n<!-- end of verdicts -->\n"
    )
    file.write_text(json.dumps(document(ran)))
    pages.main([str(file), str(page)])
    before = page.read_text()
    assert "in Linux |" not in before
    file.write_text(json.dumps(both))
    pages.main([str(file), str(page)])
    text = page.read_text()
    assert "| Q2 | Longer queues delay less | **refuted** | depends (0 of 1) |" in text
    assert "README.md) | Longer queues delay less | **refuted** | depends (0 of 1) | 0 of 1 |" in text
    assert "`cwndlab reproduce tiny2026 --seeds 1-4 --backend both`" in text
    assert re.search(r"\| Q1 \| by the mean \| ms \| 1000 \| .*, holds \| .*, holds \| 0 \|", text)
    assert "| answers in Linux | Q1 | Q2 | Q3 |" in text
    assert "| the defaults | holds | fails |  |" in text
    # The simulator's verdicts are written again, and what is known of Linux stays.
    file.write_text(json.dumps(document(ran)))
    pages.main([str(file), str(page)])
    assert page.read_text() == text


def test_quick_and_full_exclude_each_other(papers: Path, cwndlab: Command) -> None:
    assert papers.exists()
    answer = cwndlab("reproduce", "--quick", "--full")
    assert answer.returncode == 2
    assert "cannot be combined" in answer.stderr


def test_an_answer_without_its_runs_was_not_tried(papers: Path) -> None:
    """After Ctrl-C, a claim that fails under the defaults is not refuted."""
    (papers / "paper.toml").write_text(PAPER.replace('"cannot be", telling = ["Q1"]', '"cannot be"'))
    [paper] = run(full=True).papers
    assert paper.claims[1].verdict is Verdict.REFUTED
    lacking = Evaluated(paper.alternatives[0].reading, {}, {})
    [cut] = [replace(paper, alternatives=[lacking, *paper.alternatives[1:]])]
    assert (cut.claims[1].verdict, cut.claims[1].unjudged) == (Verdict.UNDECIDED, 1)
    assert conditions(cut.claims[1]) == [
        "fails in every reading tried that passes the gate (1); not judged under 1 answer"
    ]


def test_the_report_shows_the_answers_tried_in_linux(papers: Path) -> None:
    assert papers.exists()
    here = run().papers[0]
    [section] = linux_section(replace(here, in_linux=here))
    titles = [each.caption for each in section.blocks if isinstance(each, Table)]
    assert "Each claim under the answers tried in Linux" in titles
    alone = replace(here, alternatives=[])
    [section] = linux_section(replace(alone, in_linux=alone))
    titles = [each.caption for each in section.blocks if isinstance(each, Table)]
    assert titles
    assert "Each claim under the answers tried in Linux" not in titles
