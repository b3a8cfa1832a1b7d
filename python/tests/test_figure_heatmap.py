"""Heat maps: every cell's number, readable."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cwndlab.output.charts import HeatCell, HeatMap
from cwndlab.output.drawing.draw import draw
from cwndlab.output.drawing.sheet import Page
from cwndlab.statistics.measure import Measure
from cwndlab.statistics.numbers import with_interval

MISSING = Measure(None, None, 0)


def drawn(
    cells: list[list[Measure]], rows: int = 2, columns: int = 2, more_is_better: bool | None = False
) -> Figure:
    chart = HeatMap(
        "goodput",
        "algorithm",
        "buffer",
        [f"_r{index}" for index in range(rows)],
        [f"c${index}" for index in range(columns)],
        [[HeatCell(with_interval(cell), cell.mean) for cell in row] for row in cells],
        "Mbit/s",
        more_is_better,
    )
    return draw(chart, Page())


def grid(rows: int, columns: int) -> list[list[Measure]]:
    return [[Measure(10.25 + row + column, 0.5, 5) for column in range(columns)] for row in range(rows)]


def numbers(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_cells_are_where_they_belong() -> None:
    ax, bar = drawn([[Measure(1.0, None, 3), MISSING], [Measure(3.0, None, 3), Measure(2.0, 0.1, 3)]]).axes
    [mesh] = [each for each in ax.collections if isinstance(each, QuadMesh)]
    values = mesh.get_array()
    assert values is not None
    assert np.ma.filled(values, -1).tolist() == [[1, -1], [3, 2]]
    assert [(text.get_position(), text.get_text()) for text in ax.texts] == [
        ((0, 0), "1"),
        ((0, 1), "3"),
        ((1, 1), "2.00 ± 0.10"),
    ]
    [hatched] = [each for each in ax.patches if isinstance(each, Rectangle)]
    assert hatched.get_hatch()
    assert (hatched.get_x(), hatched.get_y()) == (0.5, -0.5)
    assert bar.get_xlabel() == "goodput (Mbit/s)\ndarker is better"


def test_rows_run_downwards_and_are_named() -> None:
    ax = drawn(grid(2, 2)).axes[0]
    assert ax.yaxis_inverted()
    assert [label.get_text() for label in ax.get_yticklabels()] == [" _r0", " _r1"]
    assert [label.get_text() for label in ax.get_xticklabels()] == [r"c\$0", r"c\$1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("buffer", "algorithm")


@pytest.mark.parametrize(
    ("columns", "first"), [(2, "10.25 ± 0.50"), (11, "10.25\n± 0.50"), (20, "10.25"), (45, None)]
)
def test_narrow_cells_have_shorter_numbers(columns: int, first: str | None) -> None:
    figure = drawn(grid(2, columns), columns=columns)
    assert (numbers(figure)[0] if numbers(figure) else None) == first


def test_numbers_stand_out_from_their_cells() -> None:
    dark, bright = drawn([[Measure(0.0, None, 1), Measure(9.0, None, 1)]], rows=1).axes[0].texts
    assert (dark.get_color(), bright.get_color()) == ("white", "black")


def test_no_value_at_all() -> None:
    [ax] = drawn([[MISSING, MISSING]], rows=1).axes
    assert len(ax.patches) == 2


@pytest.mark.parametrize(
    ("cells", "rows", "message"),
    [
        ([], 0, "at least one row and one column"),
        ([[MISSING]], 1, "cells must be 1 rows of 2"),
        ([[MISSING, MISSING]], 2, "cells must be 2 rows of 2"),
    ],
)
def test_cells_must_fit_the_names(cells: list[list[Measure]], rows: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawn(cells, rows=rows)


@pytest.mark.parametrize("more_is_better", [True, False])
def test_the_better_end_is_dark(more_is_better: bool) -> None:
    figure = drawn([[Measure(5.0, None, 1), Measure(9.0, None, 1)]], 1, more_is_better=more_is_better)
    low, high = figure.axes[0].texts
    # White stands on dark.
    assert (low.get_color() == "white") is not more_is_better
    assert (high.get_color() == "white") is more_is_better


def test_a_decade_has_a_logarithmic_scale() -> None:
    cells = [[Measure(15.0, None, 1), Measure(134.0, None, 1), Measure(1194.0, None, 1)]]
    [mesh] = [each for each in drawn(cells, 1, 3).axes[0].collections if isinstance(each, QuadMesh)]
    assert mesh.norm(np.array([134.0])) == pytest.approx(0.5, abs=0.01)
    assert "logarithmic scale" in drawn(cells, 1, 3).axes[1].get_xlabel()
