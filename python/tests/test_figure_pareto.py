"""The Pareto front, and its figure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from cwndlab.output.charts import ScatterChart
from cwndlab.output.charts.names import Names
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.sheet import Page
from cwndlab.output.figures.tradeoff import tradeoff_of
from cwndlab.statistics.measure import Measure
from cwndlab.statistics.pareto import Point, front


def point(x: float | None, y: float | None, label: str = "p", series: str = "s", key: str = "k") -> Point:
    return Point(label, series, key, Measure(x, None, 1), Measure(y, None, 1))


def beats(one: Point, other: Point) -> bool:
    """The definition, word by word."""
    means = (one.x.mean, one.y.mean, other.x.mean, other.y.mean)
    if None in means:
        return False
    x, y, other_x, other_y = (float(mean) for mean in means if mean is not None)
    return x <= other_x and y >= other_y and (x, y) != (other_x, other_y)


# Few different values, so that ties are common.
few = st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0]))


@given(st.lists(st.builds(point, few, few), max_size=12))
def test_front_is_what_nothing_beats(points: list[Point]) -> None:
    assert front(points) == [
        one.x.mean is not None and one.y.mean is not None and not any(beats(other, one) for other in points)
        for one in points
    ]


def charted(*points: Point, capacity: float | None = None) -> ScatterChart:
    settings = [(each.series, each.marker_key) if each.marker_key else (each.series,) for each in points]
    return tradeoff_of(points, settings, "wan", capacity, Names())


def drawn(*points: Point) -> Figure:
    return draw(charted(*points), Page())


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def written(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_costs_of_several_decades_have_plain_numbers() -> None:
    figure = drawn(point(7, 1), point(500, 2))
    figure.draw_without_rendering()
    ax = figure.axes[0]
    low, high = ax.get_xlim()
    shown = [label.get_text() for label in ax.get_xticklabels() if low < label.get_position()[0] < high]
    assert shown == ["10", "20", "50", "100", "200", "500"]


def test_markers_that_tell_nothing_have_no_legend() -> None:
    assert legend(drawn(point(1, 2, key=""), point(2, 3, key=""))) == ["s", "Pareto front"]


def test_front_is_joined_in_steps_and_named() -> None:
    figure = drawn(
        point(3, 9, series="dear"), point(1, 2, series="_cheap"), point(2, 1), point(2, 5, series="pays $")
    )
    [line] = [each for each in figure.axes[0].get_lines() if each.get_label() == "Pareto front"]
    assert line.get_drawstyle() == "steps-post"
    assert np.asarray(line.get_xydata()).tolist() == [[1, 2], [2, 5], [3, 9]]
    assert written(figure) == ["dear, k", " _cheap, k", r"pays \$, k"]


def test_intervals_go_both_ways() -> None:
    figure = drawn(Point("a", "s", "k", Measure(10.0, 2.0, 3), Measure(5.0, 1.0, 3)))
    bars = [
        np.asarray(bar.get_segments()[0]).tolist()
        for bar in figure.axes[0].collections
        if isinstance(bar, LineCollection)
    ]
    assert bars == [[[8, 5], [12, 5]], [[10, 4], [10, 6]]]


def test_series_have_colours_and_keys_markers() -> None:
    figure = drawn(
        point(1, 1, "a", "cubic", "1 bdp"),
        point(2, 2, "b", "bbr3", "1 bdp"),
        point(3, 3, "c", "cubic", "4 bdp"),
    )
    a, b, c = figure.axes[0].get_lines()[:3]
    assert a.get_color() == c.get_color() != b.get_color()
    assert a.get_fillstyle() == c.get_fillstyle() != b.get_fillstyle()
    assert a.get_marker() == b.get_marker() != c.get_marker()
    assert legend(figure) == ["cubic", "bbr3", "1 bdp", "4 bdp", "Pareto front"]


def test_axes_are_labelled() -> None:
    [ax] = drawn(point(1, 1)).axes
    assert ax.get_xlabel() == "queueing delay of link wan (ms)"
    assert ax.get_ylabel() == "goodput of all flows (Mbit/s)"


@pytest.mark.parametrize(
    ("xs", "scale"),
    [([1.0, 31.0], "linear"), ([1.0, 32.0], "log"), ([0.0, 32.0], "linear"), ([None], "linear")],
)
def test_more_than_a_decade_and_a_half_is_logarithmic(xs: list[float | None], scale: str) -> None:
    assert drawn(*(point(x, 1) for x in xs)).axes[0].get_xscale() == scale


def test_points_without_values_are_counted() -> None:
    figure = drawn(point(1, 1), point(None, 1), point(2, None))
    assert legend(figure) == ["s", "k", "2 points without a value"]
    assert legend(drawn(point(None, None))) == ["s", "k", "1 point without a value"]


def test_names_hide_nothing() -> None:
    """Many points on a front: names may be missing, but those that stand overlap nothing."""
    points = [point(x, 10 * np.sqrt(x), series=f"series {x % 9}", key=f"{x}") for x in range(25)]
    figure = draw(charted(*points), Page(width="column"))
    figure.draw_without_rendering()
    ax = figure.axes[0]
    boxes = [
        text.get_window_extent() for text in ax.texts if isinstance(text, Annotation) and text.get_text()
    ]
    places = ax.transData.transform([(x, 10 * np.sqrt(x)) for x in range(25)])
    assert 5 < len(boxes) < 25
    for index, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[:index])
        assert not any(box.contains(*place) for place in places)
        assert ax.bbox.containsx(box.x0)
        assert ax.bbox.containsx(box.x1)


def test_no_points() -> None:
    assert written(drawn()) == []


def test_a_tiny_difference_does_not_fill_the_axis() -> None:
    near = (point(1, 96.5295), point(2, 96.5335))
    for capacity, least in ((100.0, 5.0), (None, 4.8)):
        span = charted(*near, capacity=capacity).y_span
        assert span is not None
        assert span[1] - span[0] >= least


def test_an_interval_beyond_a_logarithmic_axis_is_cut_at_its_edge() -> None:
    wide = Point("a", "s", "k", Measure(1.0, 3.0, 3), Measure(5.0, None, 3))
    chart = charted(wide, point(100, 9))
    assert chart.log_x
    assert chart.x_span is not None
    assert chart.points[0].x_low == chart.x_span[0] > 0


def test_long_delays_are_in_seconds() -> None:
    chart = charted(point(15, 1), point(12_200, 2))
    assert chart.x_unit == "s"
    assert [each.x for each in chart.points] == pytest.approx([0.015, 12.2])
