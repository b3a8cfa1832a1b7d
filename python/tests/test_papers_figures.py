"""Figures of a paper: read, filled from its runs, drawn and reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cwndlab.output.drawing.formats import FORMATS
from cwndlab.output.drawing.settings import SettingLine, SettingPoint, draw_settings
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.html import ChartGroup, Picture, Table, Text
from cwndlab.papers import figures, files
from cwndlab.papers.contents import cells
from cwndlab.papers.judging.figure_values import DrawnSettings, DrawnTime, drawn_figures
from cwndlab.papers.report.figures import figure_sections
from cwndlab.papers.reproducing.reproduce import plan, reproduce
from cwndlab.papers.reproducing.reproduction import Reproduction
from tests.test_papers_reproduction import PAPER, papers

__all__ = ["papers"]

FIGURES = """
[[figure]]
id = "over-time"
title = "Windows"
paper = "Fig. 2"
kind = "time"
mean_s = 0.5
panel = [
    { column = "cwnd_segments", y = "window", unit = "segments" },
    { column = "jain", y = "Jain's index" },
    { column = "rtt_peak_ratio", y = "peak ratio" },
]
line = [
    { label = "a, long", cell = "E1/long", flow = "a" },
    { label = "a, C", cell = "E1/C = 1.2", flow = "a" },
    { label = "magic", cell = "E1/magic", flow = "a" },
    { label = "both", cell = "E1/long" },
]

[[figure]]
id = "by-queue"
title = "Goodput"
paper = "Table 1"
kind = "settings"
x = "queue"
at = ["short", "long", "magic"]
y = "goodput"
unit = "Mbit/s"
line = [{ label = "together", effect = 'goodput("E1/{at}")' }]
"""


def run(papers: Path, seeds: int = 3, *, quick: bool = False) -> Reproduction:
    (papers / "paper.toml").write_text(PAPER + FIGURES)
    chosen = range(1, seeds + 1)
    return reproduce(plan([], chosen, quick=quick, full=False), chosen, quick=quick)


def over_time(made: Reproduction) -> DrawnTime:
    found = drawn_figures(made.papers[0].defaults)[0]
    assert isinstance(found, DrawnTime)
    return found


def by_queue(made: Reproduction) -> DrawnSettings:
    found = drawn_figures(made.papers[0].defaults)[1]
    assert isinstance(found, DrawnSettings)
    return found


def test_values_over_time_are_those_of_the_runs(papers: Path) -> None:
    made = run(papers)
    drawn = over_time(made)
    # Jain's index has one value a second, so nothing shorter can be shown beside it.
    assert drawn.mean_s == 1
    windows, index, ratio = drawn.panels
    assert [curve.label for curve in windows.curves] == ["a, long", "a, C (control)"]
    assert [curve.label for curve in index.curves] == ["both"]
    assert ratio.curves == []
    result = made.papers[0].defaults.results["E1/long"]
    flow = result.runs[1].detail.of("flow")[0].columns["cwnd_segments"]
    assert windows.curves[0].time_s.tolist() == pytest.approx([1, 2])
    assert windows.curves[0].values[1].tolist() == pytest.approx([flow[:10].mean(), flow[10:].mean()])
    np.testing.assert_array_equal(index.curves[0].values[1], result.runs[1].detail.jain)


def test_what_cannot_be_drawn_has_its_reason(papers: Path) -> None:
    made = run(papers)
    magic, *ratios = over_time(made).missing
    assert magic == "magic: needs the algorithm magic, which is not implemented"
    assert ratios[0].startswith("a, long: flow 'a': expected one of goodput_mbps, ")
    assert by_queue(made).missing == ["together, magic: needs the algorithm magic, which is not implemented"]


def test_effects_over_settings_and_the_papers_numbers(papers: Path) -> None:
    made = run(papers)
    [line] = by_queue(made).lines
    short, long, magic = line.estimates
    assert magic is None
    assert short is not None
    assert long is not None
    result = made.papers[0].defaults.results["E1/long"]
    assert long.value == pytest.approx(result.flows["goodput_mbps"].sum() / 3)
    assert long.low is not None
    assert long.low < long.value
    # Of targets.csv: the numbers of E1, whose expressions name the cell without its experiment.
    assert line.paper == [[], [9], [11]]


def test_the_first_seed_alone(papers: Path) -> None:
    changed = FIGURES.replace("mean_s = 0.5", 'seeds = "first"')
    (papers / "paper.toml").write_text(PAPER + changed)
    made = reproduce(plan([], [4, 5], quick=True, full=False), [4, 5], quick=True)
    assert over_time(made).panels[0].curves[0].values.shape == (1, 2)


def test_the_report_and_the_files(papers: Path, tmp_path: Path) -> None:
    made = run(papers)
    lines, values = figure_sections(made.papers[0], ["png", "pdf"])
    group, how, missing = lines.blocks
    assert isinstance(group, ChartGroup)
    assert [len(chart.series) for chart in group.charts] == [2, 1, 0]
    assert isinstance(how, Text)
    assert "figures/tiny2026-over-time.png" in how.paragraphs[0]
    assert isinstance(missing, Text)
    assert missing.paragraphs[0].startswith("Not drawn. magic: needs the algorithm magic")
    picture, table, _ = values.blocks
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[2].cells] == ["magic", "together", "not run", "11"]
    (tmp_path / figures.FOLDER).mkdir()
    (tmp_path / figures.FOLDER / "gone-fig1.png").touch()
    assert files.write_figures(made, tmp_path, ["png", "pdf"]) == 2
    names = {path.relative_to(tmp_path).as_posix() for path in (tmp_path / figures.FOLDER).iterdir()}
    assert names == {
        f"figures/tiny2026-{stem}.{kind}" for stem in ("over-time", "by-queue") for kind in ("png", "pdf")
    }
    assert set(picture.files) <= names


def test_a_quick_look_has_no_files_and_its_report_names_none(papers: Path, tmp_path: Path) -> None:
    made = run(papers, seeds=1, quick=True)
    (tmp_path / figures.FOLDER).mkdir()
    (tmp_path / figures.FOLDER / "gone-fig1.png").touch()
    files.write_figures(made, tmp_path)
    assert list((tmp_path / figures.FOLDER).iterdir()) == []
    files.write_report(made, tmp_path)
    assert f"{figures.FOLDER}/" not in (tmp_path / files.REPORT).read_text()


def test_processes_draw_the_same(papers: Path, tmp_path: Path) -> None:
    _, by_queue = run(papers, seeds=1).papers[0].figures
    drawn = {f"{number}": by_queue for number in range(2 * figures.LEAST_PER_PROCESS)}
    for processes in (1, 2):
        (tmp_path / f"{processes}").mkdir()
        figures.save_all(drawn, tmp_path / f"{processes}", FORMATS, processes)
    made = {path.name: path.read_bytes() for path in (tmp_path / "1").iterdir()}
    assert len(made) == len(FORMATS) * len(drawn)
    assert {path.name: path.read_bytes() for path in (tmp_path / "2").iterdir()} == made


def test_runs_that_were_cut_are_told(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "QUICK_PACKETS", 0)
    scenario = papers / "experiments" / "two.toml"
    scenario.write_text(scenario.read_text().replace('"2 s"', '"61 s"'))
    made = run(papers, seeds=1, quick=True)
    assert over_time(made).title == "Windows (Fig. 2, cut to 60 s)"


def test_points_stand_apart_with_their_intervals_and_crosses() -> None:
    lines = [
        SettingLine("ours", [SettingPoint(2, 1, 4), SettingPoint(None, None, None, [5.0])]),
        SettingLine("theirs", [SettingPoint(3, None, None), SettingPoint(6, 5, 7)]),
    ]
    [ax] = draw_settings(["0.5", "1"], lines, "buffer (BDP)", "goodput", Page()).axes
    ours, theirs = ax.containers
    places = [np.asarray(each.lines[0].get_xdata()) for each in (ours, theirs)]  # type: ignore[attr-defined]
    assert np.all(places[0] < places[1])
    bars = ours.lines[2][0].get_segments()  # type: ignore[attr-defined]
    assert bars[0][:, 1].tolist() == [1, 4]
    [cross] = [
        line for line in ax.get_lines() if line.get_marker() == "x" and len(np.asarray(line.get_xdata()))
    ]
    assert np.asarray(cross.get_ydata()).tolist() == [5]
    assert ax.get_ylim()[0] == 0


def test_settings_that_are_names_are_not_joined() -> None:
    points = [SettingPoint(1, None, None), SettingPoint(2, None, None)]
    for settings, style in ((["0.5", "1"], "-"), (["reno", "cubic"], "None")):
        [ax] = draw_settings(settings, [SettingLine("x", points)], "x", "y", Page()).axes
        assert ax.containers[0].lines[0].get_linestyle() == style  # type: ignore[attr-defined]
