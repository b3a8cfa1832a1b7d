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


KINDS = "a number (20), a range (1-20) or a list (3,5,8-10)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"expected {KINDS}, found an empty text"),
        ("0", "expected 1 to 100000 seeds, found 0"),
        ("x", f"expected {KINDS}, found x"),
        ("-3", f"expected {KINDS}, found -3"),
        ("5-", f"expected {KINDS}, found 5-"),
        ("9-3", "expected a range from the lower to the higher seed, found 9-3"),
        ("4,1-6", "expected different seeds, found 4 again"),
        ("1,,2", f"expected {KINDS}, found an empty text"),
        ("1.5", f"expected {KINDS}, found 1.5"),
        ("1-999999999", "expected at most 100000 seeds, found 999999999"),
        ("999999999", "expected 1 to 100000 seeds, found 999999999"),
        (f"0-0,{2**64}", f"expected numbers from 0 to {MAX_SEED}, found {2**64}"),
        ("٣", f"expected {KINDS}, found ٣"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_seeds(text)
    assert str(error.value) == f"--seeds {text}: {message}"


def test_a_list_of_a_program() -> None:
    with pytest.raises(InputError, match=r"^seeds: expected 1 to 100000 seeds, found 0"):
        listed([])
    with pytest.raises(InputError, match=r"^seeds: expected different seeds, found 7 again"):
        listed([7, 7])
