"""Boxes over seeds: every value shown."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from cwndlab.output.drawing.box import Sample, draw_box

BOX_LINES = 6  # the box, its median, two whiskers and their ends


def drawn(*samples: Sample) -> Figure:
    return draw_box(samples, "goodput (Mbit/s)")


def names(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_xticklabels()]


def test_box_and_every_point() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 9.0])
    *box, points = drawn(Sample("a", values)).axes[0].get_lines()
    assert len(box) == BOX_LINES
    assert np.asarray(points.get_ydata()).tolist() == values.tolist()
    # Whiskers reach least and greatest, the box the quartiles, its line the median.
    assert sorted({float(y) for line in box for y in np.asarray(line.get_ydata())}) == [1, 2, 3, 4, 9]


def test_points_stand_apart_within_their_box() -> None:
    *_, points = drawn(Sample("a", np.ones(50))).axes[0].get_lines()
    places = np.sort(np.asarray(points.get_xdata()))
    assert np.diff(places).min() > 0.2 / 50
    assert np.abs(places).max() < 0.3


def test_one_value_is_a_point() -> None:
    [point] = drawn(Sample("a", np.array([5.0, np.nan]))).axes[0].get_lines()
    assert np.asarray(point.get_xydata()).tolist() == [[0, 5]]


def test_names_tell_how_many_seeds() -> None:
    figure = drawn(Sample("_a", np.array([1.0, np.inf, 2.0])), Sample("$b", np.empty(0)))
    assert names(figure) == [" _a\nn = 2", "\\$b\nn = 0"]
    assert figure.axes[0].get_ylabel() == "goodput (Mbit/s)"


def test_many_names_are_slanted_and_short() -> None:
    figure = drawn(*(Sample(f"an algorithm with a long name {index}", np.ones(3)) for index in range(9)))
    labels = figure.axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {45}
    assert all(len(name) < 35 and "\n" not in name for name in names(figure))


def test_rows_only() -> None:
    with pytest.raises(ValueError, match="sample 'a': expected one row"):
        drawn(Sample("a", np.ones((2, 2))))


def test_no_samples() -> None:
    assert names(drawn()) == []
