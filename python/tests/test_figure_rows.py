"""Boxes and harm over seeds: every value shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cwndlab.output.charts import ChartRow, RowChart
from cwndlab.output.charts.names import Names
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.figures.spread import box, box_of
from cwndlab.output.html import Report, Section, render
from cwndlab.statistics.measure import Measure
from tests.samples import flow, outcome, result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cwndlab.results.result import Result

BOX_LINES = 6  # the box, its median, two whiskers and their ends


def made(*values: float) -> RowChart:
    return box(result([outcome([flow("a", value)]) for value in values]), "goodput_mbps", Names())


def drawn(chart: RowChart) -> Figure:
    return draw(chart, Page())


def test_box_and_every_point() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 9.0]
    *parts, points = drawn(made(*values)).axes[0].get_lines()
    assert len(parts) == BOX_LINES
    assert np.asarray(points.get_xdata()).tolist() == values
    # Whiskers reach least and greatest, the box the quartiles, its line the median.
    assert sorted({float(x) for line in parts for x in np.asarray(line.get_xdata())}) == [1, 2, 3, 4, 9]


def test_points_stand_apart_within_their_box() -> None:
    *_, points = drawn(made(*[1.0] * 50)).axes[0].get_lines()
    places = np.sort(np.asarray(points.get_ydata()))
    assert np.diff(places).min() > 0.2 / 50
    assert np.abs(places).max() < 0.3


def test_a_flow_beside_the_compared_ones_is_not_called_after_their_algorithm() -> None:
    def ran(*flows: tuple[str, str]) -> Result:
        return result([outcome([flow(name, 5.0, cc=cc) for name, cc in flows]) for _ in range(2)])

    beside = [(cc, ran(("a", "cubic"), ("b", cc))) for cc in ("cubic", "bbr3")]
    chart = box_of([*beside, ("alone", ran(("a", "cubic")))], "goodput_mbps", Names())
    assert [row.label for row in chart.rows] == [
        "a beside cubic",
        "b: cubic",
        "a beside bbr3",
        "b: bbr3",
        "a alone",
    ]
    # All flows run what is compared.
    every = [(cc, ran(("a", cc), ("b", cc))) for cc in ("cubic", "reno")]
    assert box_of(every, "goodput_mbps", Names()).rows[0].label == "a: cubic"


def test_one_value_is_a_point() -> None:
    [point] = drawn(made(5.0)).axes[0].get_lines()
    assert np.asarray(point.get_xydata()).tolist() == [[5, 0]]


def test_the_number_of_seeds_is_said() -> None:
    chart = made(1.0, 2.0)
    assert "(n = 2)" in chart.note
    assert "(n = 2)" in drawn(chart).axes[0].get_xlabel()


def test_a_tiny_difference_does_not_fill_the_axis() -> None:
    # The link has 100 Mbit/s: the axis spans 5 of them.
    chart = made(96.5295, 96.5335)
    assert chart.span is not None
    assert chart.span[1] - chart.span[0] >= 5


def test_names_keep_both_ends_in_two_lines() -> None:
    row = ChartRow("a flow with a very long name for its place: the algorithm", "s", [1.0])
    [label] = draw(RowChart("t", "x", [row]), Page(width="column")).axes[0].get_yticklabels()
    lines = label.get_text().split("\n")
    assert len(lines) == 2
    assert lines[0].startswith("a flow")
    assert lines[1].endswith("algorithm")


def test_a_mean_has_its_interval_and_the_rule_its_name() -> None:
    row = ChartRow("reno", "reno", [30.0, 40.0], mean=Measure(35.0, 5.0, 2))
    figure = drawn(RowChart("harm", "goodput lost", [row], "%", (0.0, 50.0), 20.0, "the baseline"))
    [ax] = figure.axes
    ends = [np.asarray(bar.get_segments()[0]).tolist() for bar in ax.collections]  # type: ignore[attr-defined]
    assert ends == [[[30, 0], [40, 0]]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["the baseline"]


@pytest.mark.parametrize("name", ["plain", "<script>alert(1)</script>", "\"' onclick='x'"])
def test_the_page_shows_the_same_rows(name: str) -> None:
    rows = [
        ChartRow(name, name, [1.0, 2.0, 3.0], (1.0, 1.5, 2.0, 2.5, 3.0)),
        ChartRow("b", "b", [2.0], mean=Measure(2.0, 1.0, 3)),
        ChartRow("nothing", "c", []),
    ]
    chart = RowChart(name, "goodput", rows, "Mbit/s", (1.0, 5.0), 2.0, name, "all")
    page = render(Report("t", "", [Section("s", [chart])], "true", []))
    assert "<script>alert" not in page
    assert '<rect x="12.50%" width="25.00%"' in page
    assert 'class="interval" x1="0.00%" x2="50.00%"' in page
    assert "median 2 Mbit/s" in page
    assert "2.0 ± 1.0 Mbit/s" in page
    assert "no values" in page
