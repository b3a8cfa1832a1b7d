"""How numbers are written."""

from __future__ import annotations

import pytest

from cwndlab.statistics.measure import Measure
from cwndlab.statistics.numbers import plain, with_interval


@pytest.mark.parametrize(
    ("mean", "half_width", "shown"),
    [
        (48.1234, 0.5678, "48.12 ± 0.57"),
        (48.1234, 5.678, "48.1 ± 5.7"),
        (1234.5, 56.7, "1234 ± 57"),
        (0.995512, 0.00391, "0.9955 ± 0.0039"),
        (48.1234, 1e-9, "48.123 ± <0.001"),
        (0.0, 0.25, "0.00 ± 0.25"),
        (3.0, 1234.0, "3 ± 1234"),
    ],
)
def test_digits_follow_the_interval(mean: float, half_width: float, shown: str) -> None:
    assert with_interval(Measure(mean, half_width, 5)) == shown


@pytest.mark.parametrize("mean", [-0.001, 0.001])
def test_a_mean_that_rounds_to_zero_has_no_sign(mean: float) -> None:
    assert with_interval(Measure(mean, 0.22, 3), signed=True) == "0.00 ± 0.22"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1200, "1200"),
        (123456, "123456"),
        (48.12345, "48.12"),
        (0.01234567, "0.01235"),
        (1.5e-6, "1.5e-06"),
    ],
)
def test_four_digits_without_one(value: float, shown: str) -> None:
    assert plain(value) == shown


def test_no_value() -> None:
    assert with_interval(Measure(None, None, 0)) == "-"
