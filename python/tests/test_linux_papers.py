"""The papers' experiments on the Linux backend."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cwndlab.papers.contents.backends import NOT_NEEDED, cost, on_backend
from cwndlab.papers.contents.readings import claimed_cells, readings
from cwndlab.papers.reading import library
from cwndlab.papers.reproducing.reproduce import plan

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command


@pytest.mark.parametrize("name", library.names())
def test_a_papers_networks_and_packets_are_the_same_in_linux(linux_kernel: Kernel, name: str) -> None:
    assert linux_kernel.image.exists()
    paper = library.read(name)
    [simulated] = readings(paper, [1], quick=True)
    [inside], needed = on_backend([simulated], "linux", own_options=False), claimed_cells(paper)
    assert needed
    for key, cell in simulated.cells.items():
        there = inside.cells[key]
        assert cell.scenario is not None
        if key not in needed:
            assert there.missing == NOT_NEEDED
            continue
        assert there.scenario is not None, there.missing
        here, linux = cell.scenario.resolved, there.scenario.resolved
        assert linux["profile"] == "linux"
        assert here["link"] == linux["link"]
        assert [flow["cc"]["name"] for flow in here["flow"]] == [flow["cc"]["name"] for flow in linux["flow"]]
        sizes = [scenario["tcp"]["mss"] + scenario["tcp"]["header"] for scenario in (here, linux)]
        assert sizes[0] == sizes[1]


def test_readings_that_differ_only_in_what_linux_always_does_share_their_runs(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    paper = library.read("han2024")
    planned = on_backend(readings(paper, [1]), "linux", own_options=True)
    lia = {reading.option: reading.cells["E001-1/lia"].scenario for reading in planned if reading.answers}
    fitted, pushed = lia["B12"], lia["B12 + B17"]
    assert fitted is not None
    assert pushed is not None
    assert fitted.canonical == pushed.canonical
    for warning in pushed.problems():
        assert "push_bursts" not in warning.key
    every = [
        each
        for each in on_backend(readings(paper, [1], full=True), "linux", own_options=True)
        if each.option == "B12 + B17"
    ]
    scenarios = {each.value: each.cells["E001-1/lia"].scenario for each in every}
    runs = {value: scenario.canonical for value, scenario in scenarios.items() if scenario}
    assert len(runs) == 4
    assert len(set(runs.values())) == 2, "the fitted ssthresh and the cache, each with two answers to B17"


def test_the_cost_counts_shared_runs_once_and_an_answers_baselines_at_least(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    paper = library.read("han2024")
    defaults, fitted, pushed, _ = on_backend(readings(paper, range(1, 6)), "linux", own_options=True)
    assert cost([defaults]).startswith("han2024 in Linux: 30 runs, about 125.1 min ")
    # LIA under B12; then DBAC and CUBIC on the long path, both beside a single-path CUBIC.
    assert cost([defaults, fitted]).startswith("han2024 in Linux: 35 to 45 runs, about ")
    # Its LIA is that of the answer before; DBAC has three virtual windows.
    assert cost([defaults, fitted, pushed]).startswith("han2024 in Linux: 35 to 60 runs, about ")


def test_linux_is_tried_with_the_papers_own_options_too(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    paper = library.read("lim2004")
    planned = on_backend(readings(paper, [1]), "linux", own_options=True)
    defaults, own = planned[0], planned[-1]
    assert str(own.answers[0]) == "Linux: the paper's, as far as Linux has settings for them"
    compared = 0
    for key in claimed_cells(paper):
        today, then = defaults.cells[key].scenario, own.cells[key].scenario
        if today is None or then is None:
            assert defaults.cells[key].missing == own.cells[key].missing, key
            continue
        compared += 1
        options = [each.resolved["tcp"] for each in (today, then)]
        assert [tcp["sack"] for tcp in options] == [True, False]
        assert [tcp["timestamps"] for tcp in options] == [True, False]
        assert [tcp["initial_window"] for tcp in options] == [10, 2]
        assert options[0]["mss"] + options[0]["header"] == options[1]["mss"] + options[1]["header"]
    assert compared >= 10
    # Linux is what han2024 ran on.
    han = readings(library.read("han2024"), [1])
    assert len(on_backend(han, "linux", own_options=True)) == len(han)


def test_with_only_the_defaults_linux_is_not_tried_with_the_papers_own_options(linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()

    def tried(*, asked: list[str], defaults_only: bool) -> list[str]:
        extent = {"quick": False, "full": False, "defaults_only": defaults_only}
        [planned] = plan(["lim2004"], [1], **extent, asked=asked, backend="linux")
        return [each.option for each in planned]

    assert tried(asked=[], defaults_only=True) == [""]
    assert tried(asked=["C8"], defaults_only=True) == ["", "C8", "C8"]
    assert tried(asked=["C8"], defaults_only=False)[-1] == "Linux"


@pytest.mark.parametrize(
    ("name", "forms"), [("seo2024", "form"), ("cho2024", "min_rtt_refresh"), ("lim2004", "counting")]
)
def test_with_the_papers_own_options_algorithms_have_the_papers_forms(
    linux_kernel: Kernel, name: str, forms: str
) -> None:
    assert linux_kernel.image.exists()
    paper = library.read(name)
    simulated = readings(paper, [1])
    planned = on_backend(simulated, "linux", own_options=True)
    here, today, own = simulated[0], planned[0], planned[-1]
    differ = set()
    for key in claimed_cells(paper):
        scenarios = [reading.cells[key].scenario for reading in (here, today, own)]
        if None in scenarios:
            continue
        flows = zip(*(each.resolved["flow"] for each in scenarios if each), strict=True)
        for papers, linuxs, owns in flows:
            assert owns["cc"] == papers["cc"], key
            differ |= {each for each in papers["cc"] if papers["cc"][each] != linuxs["cc"][each]}
    assert forms in differ


@pytest.fixture
def fewer_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """lim2004 without download 03, whose 5500 connections take 4.6 GB of memory in Linux."""
    folder = tmp_path / "papers" / "lim2004"
    shutil.copytree(library.read("lim2004").folder, folder)
    file = folder / "paper.toml"
    head = 'id       = "E003-M03"\n'
    text = file.read_text(encoding="utf-8")
    assert head in text
    file.write_text(text.replace(head, f'{head}unavailable = "too large for a test"\n'), encoding="utf-8")
    monkeypatch.setenv("CWNDLAB_PAPERS", str(folder.parent))
    return folder


def test_reproduce_says_that_it_ran_in_linux(
    linux_kernel: Kernel, fewer_connections: Path, cwndlab: Command
) -> None:
    assert linux_kernel.image.exists()
    assert fewer_connections.exists()
    answer = cwndlab("reproduce", "lim2004", "--quick", "--seeds", "1", "--backend", "linux", "--json")
    document = json.loads(answer.stdout)
    assert document["manifest"]["backend"] == "linux"
    assert any(row["ours"] is not None for paper in document["papers"] for row in paper["rows"])


def test_both_backends_stand_side_by_side(
    linux_kernel: Kernel, fewer_connections: Path, cwndlab: Command, tmp_path: Path
) -> None:
    assert linux_kernel.image.exists()
    assert fewer_connections.exists()
    options = ["--quick", "--seeds", "2", "--backend", "both", "--json", "--out", str(tmp_path / "out")]
    answer = cwndlab("reproduce", "lim2004", *options)
    assert "lim2004 in Linux: 20 runs, about " in answer.stderr
    document = json.loads(answer.stdout)
    manifests = document["manifest"], document["manifest_in_linux"]
    assert [each["backend"] for each in manifests] == ["sim", "linux"]
    [paper] = document["papers"]
    there = paper["in_linux"]
    parts = [
        (claim["id"], here, in_linux)
        for claim, other in zip(paper["claims"], there["claims"], strict=True)
        for here, in_linux in zip(claim["evidence"], other["evidence"], strict=True)
    ]
    ran = 0
    for (name, here, in_linux), each in zip(parts, there["differences"], strict=True):
        assert (name, here["text"]) == (each["claim"], each["text"])
        if here["ours"] and in_linux["ours"]:
            ran += 1
            gap = in_linux["ours"]["mean"] - here["ours"]["mean"]
            assert each["linux_minus_sim"]["mean"] == pytest.approx(gap)
    assert ran > 10
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert 'id="lim2004-linux"' in report
    # The first page has both.
    first = report[: report.index('id="lim2004-linux"')]
    for text in ("; in Linux: ", "the simulator, 95 % interval", "Linux, 95 % interval"):
        assert text in first, text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "linux", "--explain"], "--explain searches in the simulator"),
        (["--backend", "linux", "--quick", "--defaults"], "--defaults cannot be combined with --quick"),
    ],
)
def test_what_reproduce_cannot_do_in_linux_is_an_error(
    options: list[str], message: str, cwndlab: Command
) -> None:
    answer = cwndlab("reproduce", "cho2024", *options)
    assert (answer.returncode, message in answer.stderr) == (2, True), answer.stderr
