"""`cwndlab plot` and `cwndlab table`: figures and tables of stored results."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import cwndlab as cl
from cwndlab.output.html import render
from cwndlab.output.kinds import kind_of
from tests.conftest import Command


def scenario(**more: Any) -> dict[str, Any]:
    return {
        "duration": "8 s",
        "warmup": "1 s",
        "link": [{"name": "wan", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "1 bdp"}],
        "flow": [
            {"name": "a", "cc": "cubic", "path": ["wan"]},
            {"name": "b", "cc": "reno", "path": ["wan"], "jitter": "50 ms"},
        ],
        **more,
    }


@pytest.fixture(scope="module")
def compared() -> cl.Comparison:
    return cl.compare(scenario(), ["cubic", "vegas"], flows=["b"], seeds=3)


@pytest.fixture(scope="module")
def swept() -> cl.Sweep:
    over = {"flow.b.cc": ["cubic", "vegas"], "link.wan.queue": ["1 bdp", "2 bdp"]}
    return cl.sweep(scenario(), over, seeds=2)


@pytest.fixture
def folder(compared: cl.Comparison, cwndlab: Command) -> str:
    compared.save(cwndlab.folder / "stored", figures=False)
    return "stored"


def test_every_kind_of_a_comparison_is_drawn(compared: cl.Comparison) -> None:
    for kind in ("box", "series", "cdf", "fairness", "pareto", "harm", "convergence"):
        assert compared.plot(kind, width="column").get_figwidth() == 3.5


def test_harm_is_that_of_the_comparison_with_the_baseline_as_a_line(compared: cl.Comparison) -> None:
    [ax] = compared.plot("harm").axes
    means = [100 * (means["goodput_mbps"].mean or 0) for means in compared.harm[0].means]
    assert ax.get_xlabel().startswith("goodput lost by a (%)")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cubic", "vegas"]
    drawn = [float(np.asarray(each.lines[0].get_xdata())[0]) for each in ax.containers]  # type: ignore[attr-defined]
    assert drawn == pytest.approx(means)
    rule = ax.get_lines()[-1]
    assert np.asarray(rule.get_xdata()) == pytest.approx(np.array(means[:1] * 2))


def test_a_series_has_a_line_for_each_algorithm_and_the_others_apart(compared: cl.Comparison) -> None:
    figure = compared.plot("series", "goodput_mbps")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["goodput of flow b", "goodput of flow a"]
    own = figure.axes[0].get_lines()
    assert [line.get_label() for line in own] == ["cubic", "vegas"]
    vegas = compared.results[1]
    last = vegas.intervals.filter(kind="flow", name="b")
    seeds = last.filter(time_s=last["time_s"].max())["goodput_mbps"]
    assert np.asarray(own[1].get_ydata())[-1] == pytest.approx(seeds.mean())


def test_convergence_has_a_panel_for_each_algorithm_on_one_scale(compared: cl.Comparison) -> None:
    axes = compared.plot("convergence").axes
    assert [ax.get_title(loc="left").partition(";")[0] for ax in axes] == ["cubic", "vegas"]
    assert axes[0].get_ylim() == axes[1].get_ylim()


def test_labels_title_and_axes_are_the_readers(compared: cl.Comparison) -> None:
    from matplotlib.pyplot import subplots

    figure = compared.plot("harm", labels={"vegas": "Ours", "a": "the old one"}, title="Mine")
    assert figure.get_suptitle() == "Mine"
    [ax] = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cubic", "Ours"]
    assert "the old one" in ax.get_xlabel()
    own, mine = subplots()
    assert compared.plot("harm", ax=mine) is own
    assert mine.get_lines()
    with pytest.raises(cl.InputError, match=r"labels\['nobody'\]: expected one of cubic, vegas, a"):
        compared.plot("harm", labels={"nobody": "x"})


def test_a_dictionary_has_no_title_of_brackets(compared: cl.Comparison) -> None:
    assert compared.name == "scenario"
    assert compared.plot("box").get_suptitle() == ""
    assert cl.run(scenario(name="named"), seeds=1).plot("series").get_suptitle() == "named"


@pytest.mark.parametrize(
    ("kind", "measure", "message"),
    [
        ("series", None, r"^kind: expected a figure \(pareto, heatmap, box\), found 'series'"),
        ("heatmap", "rtt", r"^measure: expected a total \(goodput_mbps, .*\), found 'rtt'"),
        ("pareto", "rtt_ms", r"^measure: pareto has no measure to choose; .* \(heatmap, box\)"),
    ],
)
def test_a_figure_that_a_result_does_not_have_names_those_it_has(
    swept: cl.Sweep, kind: str, measure: str | None, message: str
) -> None:
    with pytest.raises(cl.InputError, match=message):
        swept.plot(kind, measure)


def test_harm_without_chosen_flows_names_what_can_be_drawn() -> None:
    made = cl.compare(scenario(), ["cubic", "vegas"], seeds=1)
    with pytest.raises(cl.InputError, match=r"harm needs .*flows.* can be drawn as box, series"):
        made.plot("harm")


def test_a_heat_map_and_boxes_of_a_sweep(swept: cl.Sweep) -> None:
    assert "darker is better" in swept.plot("heatmap", "queue_delay_ms").axes[1].get_xlabel()
    names = [label.get_text() for label in swept.plot("box").axes[0].get_yticklabels()]
    assert names == ["cubic, 1 bdp", "cubic, 2 bdp", "vegas, 1 bdp", "vegas, 2 bdp"]


def test_the_report_and_the_figure_have_the_same_axes_and_names(compared: cl.Comparison) -> None:
    page = render(kind_of(compared).report(compared))
    first, *_ = (json.loads(text) for text in re.findall(r'data-chart="scatter">(.*?)</script>', page))
    figure = compared.plot("pareto")
    [ax] = figure.axes
    assert first["xSpan"] == pytest.approx(ax.get_xlim(), rel=1e-5)
    assert first["ySpan"] == pytest.approx(ax.get_ylim(), rel=1e-5)
    assert ax.get_xlabel() == f"{first['xLabel']} ({first['xUnit']})"
    assert ax.get_ylabel() == f"{first['yLabel']} ({first['yUnit']})"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [*(series["label"] for series in first["series"]), "Pareto front"]


def test_the_command_draws_a_stored_result(cwndlab: Command, folder: str) -> None:
    options = ["--kind", "harm", "--width", "column", "--label", "vegas=Ours", "--format", "svg"]
    answer = cwndlab("plot", folder, *options)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "figure in stored/harm.svg\n"
    assert ">Ours</text>" in (cwndlab.folder / folder / "harm.svg").read_text()
    again = cwndlab("plot", folder, "--out", "box.png")
    assert again.stdout == "figure in box.png\n"
    assert (cwndlab.folder / "box.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "heatmap"], "expected a figure (box, series, cdf, fairness, pareto, harm, convergence)"),
        (["--out", "x.doc"], "--out x.doc: expected .pdf, .svg or .png, found .doc"),
        (["--out", "x.pdf", "--format", "svg"], "expected the ending .svg of --format, found .pdf"),
        (["--label", "vegas"], "--label vegas: expected NAME=LABEL"),
    ],
)
def test_mistakes_of_the_command(cwndlab: Command, folder: str, options: list[str], message: str) -> None:
    answer = cwndlab("plot", folder, *options)
    assert answer.returncode == 2
    assert message in answer.stderr


def test_tables_for_papers(cwndlab: Command, folder: str) -> None:
    latex = cwndlab("table", folder, "--format", "latex", "--label", "vegas=50%_of & $x^2$").stdout
    assert r"50\%\_of \& \$x\textasciicircum{}2\$ $-$ cubic & $" in latex
    assert r" \pm " in latex
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == latex.count(r"\end{tabular}")
    lines = cwndlab("table", folder).stdout.splitlines()
    assert lines[0].startswith("| all flows | goodput (Mbit/s) |")
    assert {line.count("|") for line in lines[:5]} == {lines[0].count("|")}
    assert any(" ± " in line for line in lines)


def test_tables_from_python(swept: cl.Sweep) -> None:
    assert swept.to_markdown({"vegas": "a|b"}).splitlines()[4].startswith(r"| a\|b | 1 bdp |")
    assert swept.to_latex().startswith("\\begin{tabular}{lll")
    with pytest.raises(cl.InputError, match=r"labels\['nobody'\]: expected one of"):
        swept.to_latex({"nobody": "x"})
