"""Results with very many flows: what is left out, and work that does not grow with them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import cwndlab as cl
from cwndlab.api.results import Comparison, Result, Sweep
from cwndlab.benchmark.networks import parking_lot
from cwndlab.cli import app
from cwndlab.commands.deliver import Delivery, Looks, deliver
from cwndlab.output import names
from cwndlab.output.charts.lines import MAX_LINES
from cwndlab.output.charts.names import Names
from cwndlab.output.figures.distribution import distribution
from cwndlab.output.report.run import run_page
from cwndlab.output.tables.comparison import harm_blocks
from cwndlab.output.tables.run import print_result
from cwndlab.results import document
from cwndlab.results.request import request_of
from cwndlab.scenarios.axis import Axis
from tests.samples import flow, link, outcome, result

if TYPE_CHECKING:
    from collections.abc import Callable

# Stands for the 10 000 flows of a document in most of these tests.
FEW = 50


@pytest.fixture
def few_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MOST_LISTED", FEW)


def made(flows: int, seeds: int = 2) -> Result:
    """Half of the flows are of each algorithm, and each has an access link."""
    names = [f"flow-{index}" for index in range(flows)]
    algorithms = ("cubic", "reno")
    return result(
        [
            outcome(
                [flow(name, seed + index, cc=algorithms[index % 2]) for index, name in enumerate(names)],
                [link("bottleneck"), *(link(f"{name}.access", dropped_packets=1) for name in names[:FEW])],
            )
            for seed in range(seeds)
        ]
    )


def compared(flows: int) -> Comparison:
    variants = [made(flows), made(flows)]
    labels = ("cubic", "reno")
    return Comparison(variants[0].scenario, labels, ("b",), variants, made(flows), "bottleneck")


def swept(flows: int) -> Sweep:
    one = made(flows)
    return Sweep(one.scenario, [Axis("flow.0.cc", ("cubic",))], [({"flow.0.cc": "cubic"}, one)], "bottleneck")


def calls(work: Callable[[], Any], file: str, *functions: str) -> int:
    """How often functions of a file are called (or gone on with); all of them if none is named."""
    count = 0

    def watch(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        code = frame.f_code
        known = code.co_filename.endswith(file) and (not functions or code.co_name in functions)
        count += known and event == "call"

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_an_area_around_many_lines_says_of_what_they_are() -> None:
    lot = parking_lot(MAX_LINES + 1, long=1, cross=1, mbps=10, delay_ms=5, duration_s=2)
    [legend] = cl.run(lot, seeds=1).plot("recorded").legends
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels > {"10 to 90 % of the flows", "10 to 90 % of the links"}


def test_the_limit_is_ten_thousand() -> None:
    assert document.MOST_LISTED == 10_000


@pytest.mark.usefixtures("few_are_listed")
def test_the_document_of_a_run_leaves_out_very_many_flows() -> None:
    assert len(made(FEW).to_json()["flows"]) == FEW
    told = made(FEW + 2).to_json()
    assert told["flows"] is None
    assert told["flows_left_out"] == FEW + 2
    assert [(each["cc"], each["flows"]) for each in told["algorithms"]] == [("cubic", 26), ("reno", 26)]
    assert told["algorithms"][0]["median"]["goodput_mbps"]["mean"] == 25.5
    assert [each["name"] for each in told["links"]] == ["bottleneck"]


@pytest.mark.usefixtures("few_are_listed")
def test_subflows_count_too() -> None:
    connection = flow("m", 2, subflows=[flow(f"m/{index}", 1) for index in range(FEW)])
    assert result([outcome([connection])]).to_json()["flows"] is None


@pytest.mark.usefixtures("few_are_listed")
@pytest.mark.parametrize("build", [made, compared, swept])
def test_every_flow_is_there_if_it_is_asked_for(build: Any, tmp_path: Path) -> None:
    one = build(FEW + 2)
    assert one.flows_left_out == FEW + 2
    assert build(FEW).flows_left_out == 0
    one.save(tmp_path, figures=False, every_flow=True)
    text = (tmp_path / names.DOCUMENT).read_text()
    assert '"flows": null' not in text
    assert '"flow-51"' in text
    one.save(tmp_path, figures=False)
    text = (tmp_path / names.DOCUMENT).read_text()
    assert '"flows": null' in text
    assert "flow-51" not in text


@pytest.mark.usefixtures("few_are_listed")
def test_one_line_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*, every_flow: bool) -> tuple[Any, list[str]]:
        study = made(FEW + 2)
        looks = Looks(as_json=True, formats=(), every_flow=every_flow)
        deliver(study, Delivery(tmp_path, request_of(study), looks))
        out, err = capsys.readouterr()
        return json.loads(out)["flows"], [line for line in err.splitlines() if "left out" in line]

    flows, lines = told(every_flow=False)
    assert flows is None
    assert len(lines) == 1
    assert "52 flows left out" in lines[0]
    assert "--every-flow" in lines[0]
    flows, lines = told(every_flow=True)
    assert (len(flows), lines) == (FEW + 2, [])


@pytest.mark.usefixtures("few_are_listed")
@pytest.mark.parametrize("mistake", ["missing.toml", "--threads=none"])
def test_a_command_keeps_no_output_for_later(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command with --json, called in the same process, has an output of its own that it closes."""
    answer = CliRunner().invoke(app, ["run", "--json", mistake])
    assert answer.exit_code == 2
    study = made(FEW + 2)
    deliver(study, Delivery(tmp_path, request_of(study), Looks(as_json=True, formats=())))
    assert json.loads(capsys.readouterr().out)["flows"] is None


@pytest.mark.usefixtures("few_are_listed")
@pytest.mark.parametrize(
    "work", [Result.to_json, run_page, lambda one: print_result(Console(file=io.StringIO()), one)]
)
def test_no_flow_is_summarised_by_itself(work: Callable[[Result], Any]) -> None:
    few, many = made(60), made(600)
    assert calls(lambda: work(few), "summary.py", "measure") == calls(
        lambda: work(many), "summary.py", "measure"
    )


def test_a_comparison_looks_at_each_flow_once() -> None:
    def work(flows: int) -> int:
        one = compared(flows)
        return calls(lambda: (one.tables, one.harm), "comparison.py")

    assert work(400) < 2.5 * work(200)


def test_the_harm_to_very_many_flows_is_one_table() -> None:
    [block] = harm_blocks(compared(60))
    assert block.headings == ("harm to average of 60",)
    assert len(harm_blocks(compared(3))) == 3


@pytest.mark.parametrize("kind", ["cdf", "box"])
def test_a_figure_of_very_many_flows_shows_the_algorithms(kind: Any) -> None:
    figure = made(100).plot(kind)
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    ticks = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert kind == "cdf" or "for each flow" in figure.axes[0].get_xlabel().replace("\n", " ")
    assert (legends[:2] if kind == "cdf" else ticks) == ["50 cubic flows", "50 reno flows"]


def test_a_chart_of_very_many_flows_has_a_line_for_each_algorithm() -> None:
    chart = distribution([("", made(100))], "rtt_ms", Names(), most=MAX_LINES)
    assert chart is not None
    assert [line.label for line in chart.series] == ["50 cubic flows", "50 reno flows"]


def test_a_table_shows_quantiles_and_those_with_the_least() -> None:
    buffer = io.StringIO()
    print_result(Console(file=buffer, width=100), made(100))
    lines = buffer.getvalue().splitlines()
    rows = [line.partition("  ")[0].strip() for line in lines]
    first = rows.index("average of 50")
    quantiles = ("average of 50", "5 %", "median", "95 %")
    assert rows[first : first + 11] == [*quantiles, *quantiles, "flow-0", "flow-1", "flow-2"]
    assert "flow-7" not in buffer.getvalue()
    assert "runs.parquet" in buffer.getvalue()
