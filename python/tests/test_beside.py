"""The cases of the tables that show both backends side by side."""

from __future__ import annotations

import pytest

from cwndlab.beside import ours, validation


def test_the_parameters_of_an_algorithm_reach_its_scenario() -> None:
    _, with_parameters = ours.CASES[-1]
    flow = ours.LOSSES[0].scenario(with_parameters).resolved["flow"][0]
    assert flow["cc"]["name"] == "bbr3"
    assert flow["cc"]["beta"] == 180 / 256


@pytest.mark.parametrize(
    ("case", "seeds"), [(validation.CASES[0], 5), (ours.BESIDE_CUBIC, 20), (ours.LOSSES[2], 60)]
)
def test_a_case_runs_as_often_as_it_says(case: validation.Case, seeds: int) -> None:
    assert case.seeds == tuple(range(1, seeds + 1))
