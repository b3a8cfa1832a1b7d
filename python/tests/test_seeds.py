"""Which seeds a word means."""

from __future__ import annotations

import pytest

from cwndlab.errors import InputError
from cwndlab.scenarios.seeds import MAX_SEED, listed, parse_seeds


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [1, 2, 3]),
        ("4-6", [4, 5, 6]),
        ("7-7", [7]),
        ("3,9,5", [3, 9, 5]),
        ("1-3, 8", [1, 2, 3, 8]),
        (f"{MAX_SEED}-{MAX_SEED}", [MAX_SEED]),
    ],
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    ["", "0", "x", "-3", "5-", "9-3", "1,1", "1,,2", "1.5", "1-999999999", "999999999", f"0-0,{2**64}", "٣"],
)
def test_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_seeds(text)


def test_list_of_none() -> None:
    with pytest.raises(InputError):
        listed([])
