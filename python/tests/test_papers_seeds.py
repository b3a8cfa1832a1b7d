"""Which seeds the cells of a paper have: those that nothing reads have few."""

from __future__ import annotations

from pathlib import Path

import pytest

from cwndlab.output.html import RowChart, Text
from cwndlab.papers.contents.readings import Reading
from cwndlab.papers.judging.figure_values import drawn_figures
from cwndlab.papers.judging.verdict import Outcome
from cwndlab.papers.language.parsing import parse
from cwndlab.papers.language.quantities import QUANTITIES
from cwndlab.papers.report.experiments import experiment_section
from cwndlab.papers.report.figures import figure_sections
from cwndlab.papers.reproducing.reproduce import plan, reproduce
from tests.conftest import Command
from tests.test_papers_figures import FIGURES
from tests.test_papers_reproduction import CLAIMS, PAPER, papers

__all__ = ["papers"]

UNREAD = "E1/C = 1.2"


def planned(*, quick: bool = False, full: bool = False) -> Reading:
    """The defaults of the only paper."""
    [[defaults, *_]] = plan([], range(1, 9), quick=quick, full=full)
    return defaults


def test_a_cell_that_nothing_reads_has_the_first_few_seeds(papers: Path) -> None:
    assert papers.exists()
    seeds = range(1, 9)
    [paper] = reproduce(plan([], seeds, quick=False, full=False), seeds).papers
    assert paper.defaults.counts[UNREAD] == 5


def test_quick_leaves_the_cell_out(papers: Path) -> None:
    assert papers.exists()
    assert set(planned(quick=True).cells) == {"E1/short", "E1/long", "E1/magic"}


@pytest.mark.parametrize(
    ("file", "more", "used"),
    [
        ("claims.toml", CLAIMS[: CLAIMS.index("[[claim]]", 9)].replace("claim", "finding"), False),
        (
            "targets.csv",
            't-9,Table 1,E1,C = 1.2,,avg_throughput,9,Mbps,measured,"goodput(""long"")",\n',
            True,
        ),
    ],
)
def test_quick_makes_the_runs_of_numbers_but_not_of_findings(
    papers: Path, file: str, more: str, *, used: bool
) -> None:
    read = more.replace('"long"', '"C = 1.2"').replace("E1/long", UNREAD)
    with (papers / file).open("a") as written:
        written.write(read)
    assert (UNREAD in planned(quick=True).cells) is used
    [paper] = reproduce(plan([], [1], quick=True, full=False), [1], quick=True).papers
    assert [finding.outcome for finding in paper.findings] == ([] if used else [Outcome.MISSING])
    assert paper.findings_made == []


def test_an_effect_is_estimated_from_the_seeds_that_all_its_cells_have(papers: Path) -> None:
    unclear = CLAIMS.replace(
        'goodput("magic") - goodput("long")', 'goodput("long", "a") - goodput("long", "b")'
    )
    (papers / "claims.toml").write_text(unclear)
    seeds = range(1, 9)
    [paper] = reproduce(plan([], seeds, quick=False, full=False), seeds).papers
    assert len(paper.defaults.values(parse('goodput("long")', QUANTITIES, "E1"))) == 8
    both = 'goodput("long") - goodput("C = 1.2")'
    assert len(paper.defaults.values(parse(both, QUANTITIES, "E1"))) == 5


def test_the_report_of_a_look_tells_what_was_left_out(papers: Path) -> None:
    assert papers.exists()
    [paper] = reproduce(plan([], [1], quick=True, full=False), [1], quick=True).papers
    told = [
        each
        for each in experiment_section(paper, paper.paper.experiments[0]).blocks
        if isinstance(each, Text)
    ]
    assert told[0].paragraphs[-1] == ("Left out by --quick, because no claim or number uses them: C = 1.2.")


def test_a_quick_figure_says_which_lines_it_leaves_out(papers: Path) -> None:
    (papers / "paper.toml").write_text(PAPER + FIGURES)
    [paper] = reproduce(plan([], [1], quick=True, full=False), [1], quick=True).papers
    assert UNREAD not in paper.defaults.reading.cells
    missing = [reason for figure in drawn_figures(paper.defaults) for reason in figure.missing]
    assert missing[0] == "a, C: left out, because no claim or number needs it"


def test_a_quick_figure_without_lines_is_not_drawn(papers: Path) -> None:
    figures = FIGURES.replace("E1/long", UNREAD).replace('"E1/{at}"', f'"{UNREAD}"')
    (papers / "paper.toml").write_text(PAPER + figures.replace("rtt_peak_ratio", "k_s"))
    [paper] = reproduce(plan([], [1], quick=True, full=False), [1], quick=True).papers
    assert [drawn.has_lines for drawn in paper.figures] == [False, False]
    for section in figure_sections(paper, []):
        [reason] = section.blocks
        assert isinstance(reason, Text)
        assert reason.paragraphs[0].startswith("Not drawn. ")


def test_the_report_shows_every_seed_of_the_papers_variants_apart_from_the_controls(papers: Path) -> None:
    assert papers.exists()
    seeds = range(1, 7)
    [paper] = reproduce(plan([], seeds, quick=False, full=False), seeds).papers
    blocks = experiment_section(paper, paper.paper.experiments[0]).blocks
    own, controls = [block for block in blocks if isinstance(block, RowChart)]
    assert "variants of the paper, one point per seed" in own.title
    assert "n = 5" in own.note
    assert not any("control" in row.label for row in own.rows)
    assert any("C = 1.2" in row.label for row in controls.rows)
    assert "n = 5" in controls.note


def test_the_command_counts_them(papers: Path, cwndlab: Command) -> None:
    assert papers.exists()
    answer = cwndlab("reproduce", "tiny2026", "--seeds", "6")
    # Five cells with five seeds, three of them under the defaults; everything is clear after these.
    assert "25 new runs, 0 reused" in answer.stderr
