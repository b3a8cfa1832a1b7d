"""Fairness over time: means and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from cwndlab.output.drawing.bands import SeedLine
from cwndlab.output.drawing.fairness import draw_fairness
from cwndlab.statistics.measure import measure

TIMES = np.array([0.0, 1.0, 2.0])
NAN = np.nan


def drawn(*rows: list[float]) -> Figure:
    return draw_fairness([SeedLine("a", TIMES, np.array(rows))])


def legend(figure: Figure) -> list[str]:
    [below] = figure.legends
    return [text.get_text() for text in below.get_texts()]


def test_mean_over_seeds_and_its_interval() -> None:
    figure = drawn([0.5, 0.6, 0.7], [0.5, 0.62, 0.72], [0.5, 0.61, NAN])
    [ax] = figure.axes
    [line] = ax.get_lines()
    assert line.get_xydata() == pytest.approx(np.array([[0, 0.5], [1, 0.61], [2, 0.71]]))
    [band] = ax.collections
    edges = np.asarray(band.get_paths()[0].vertices)
    half_width = measure([0.6, 0.62, 0.61]).half_width
    assert half_width is not None
    assert sorted({round(float(y), 9) for x, y in edges if x == 1}) == pytest.approx(
        [0.61 - half_width, 0.61 + half_width]
    )
    assert legend(figure) == ["a", "95 % interval"]


def test_bands_end_where_the_index_does() -> None:
    [band] = drawn([0.1, 0.9, 1.0], [1.0, 1.0, 0.1]).axes[0].collections
    heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert (heights.min(), heights.max()) == (0, 1)


def test_axes() -> None:
    [ax] = drawn([1.0, 1.0, 1.0]).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "Jain's index")
    assert ax.get_ylim() == (0, 1.02)


def test_one_seed_has_no_band() -> None:
    figure = drawn([0.5, 0.6, 0.7], [NAN, NAN, NAN])
    assert len(figure.axes[0].collections) == 0
    assert legend(figure) == ["a"]


def test_undefined_throughout() -> None:
    assert legend(drawn([NAN, NAN, NAN])) == ["a (no values)"]


def test_many_bands_are_paler() -> None:
    def opacity(count: int) -> float:
        lines = [SeedLine(str(index), TIMES, np.eye(3)) for index in range(count)]
        alpha = draw_fairness(lines).axes[0].collections[0].get_alpha()
        assert isinstance(alpha, float)
        return alpha

    assert opacity(12) == opacity(1) / 3


@pytest.mark.parametrize("shape", [(3,), (2, 4)])
def test_rows_must_fit_the_times(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="line 'a': expected one row per seed"):
        draw_fairness([SeedLine("a", TIMES, np.ones(shape))])


def test_no_lines() -> None:
    assert draw_fairness([]).legends == []
