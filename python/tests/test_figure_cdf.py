"""Distributions: the shares that are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.lines import Line2D

from cwndlab.output.drawing.cdf import Curve, draw_cdf


def legend(curves: list[Curve]) -> list[str]:
    [below] = draw_cdf(curves, "RTT (ms)").legends
    return [text.get_text() for text in below.get_texts()]


def lines(*curves: Curve) -> list[Line2D]:
    return list(draw_cdf(curves, "RTT (ms)").axes[0].get_lines())


def test_shares_of_samples() -> None:
    steps, marks = lines(Curve("a", np.array([4.0, 1.0, 2.0, np.nan, 2.0])))
    assert steps.get_drawstyle() == "steps-post"
    assert np.asarray(steps.get_xydata()).tolist() == [[1, 0], [1, 0.25], [2, 0.75], [4, 1]]
    assert np.asarray(marks.get_xydata()).tolist() == [[2, 0.5], [4, 0.95]]


def test_histograms_are_weighted() -> None:
    steps, marks = lines(Curve("a", np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 3.0])))
    assert np.asarray(steps.get_xydata()).tolist() == [[1, 0], [1, 0.25], [3, 1]]
    assert np.asarray(marks.get_xdata()).tolist() == [3, 3]


def test_axes_are_labelled() -> None:
    [ax] = draw_cdf([Curve("a", np.ones(3))], "RTT (ms)").axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("RTT (ms)", "share of samples")


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1.0, 100.0], "linear"),
        ([1.0, 101.0], "log"),
        ([0.0, 1.0, 101.0], "log"),
        ([-1.0, 1.0, 101.0], "linear"),
        ([0.0, 0.0], "linear"),
        ([], "linear"),
    ],
)
def test_more_than_two_decades_are_logarithmic(values: list[float], scale: str) -> None:
    assert draw_cdf([Curve("a", np.array(values))], "RTT (ms)").axes[0].get_xscale() == scale


def test_zeros_enter_at_the_left_edge() -> None:
    figure = draw_cdf([Curve("a", np.array([0.0, 0.0, 1.0, 1000.0]))], "RTT (ms)")
    left, _ = figure.axes[0].get_xlim()
    assert 0.1 < left < 1
    assert [0, 0.5] in np.asarray(figure.axes[0].get_lines()[0].get_xydata()).tolist()


def test_legend_says_why_nothing_is_seen() -> None:
    curves = [Curve("_a", np.empty(0)), Curve("b", np.zeros(2)), Curve("c", np.ones(1), np.zeros(1))]
    assert legend(curves) == [" _a (no samples)", "b (all 0)", "c (no samples)"]


def test_many_curves_have_one_entry_each() -> None:
    assert len(legend([Curve(str(index), np.ones(1) + index) for index in range(20)])) == 20


def test_legend_is_below_the_axes() -> None:
    figure = draw_cdf([Curve(f"a name of some length {index}", np.arange(3.0)) for index in range(9)], "x")
    figure.draw_without_rendering()
    [below] = figure.legends
    assert below.get_window_extent().y1 <= figure.axes[0].xaxis.get_tightbbox().y0  # type: ignore[union-attr]
    assert below.get_window_extent().width < figure.bbox.width


def test_figure_grows_by_its_legend() -> None:
    few, many = ([Curve(f"{index}", np.arange(3.0)) for index in range(count)] for count in (1, 40))
    heights = []
    for curves in (few, many):
        figure = draw_cdf(curves, "x")
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_window_extent().height)
    assert heights[1] == pytest.approx(heights[0], rel=0.1)


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [np.nan, 1.0], [1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="curve 'a': "):
        draw_cdf([Curve("a", np.ones(2), np.array(weights))], "RTT (ms)")


def test_no_curves() -> None:
    assert draw_cdf([], "RTT (ms)").legends == []
