"""Expressions over cells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.errors import InputError
from cwndlab.papers.expression import NoValueError, parse

VALUES = {"cubic": 10.0, "reno": 4.0, "E-1/reno": 7.0}


def goodput(cell: str, flow: str | None = None, start: float = 0) -> float:
    return VALUES[cell] + (flow == "b") + start


def none(_cell: str) -> float:
    return 0.0


FUNCTIONS: dict[str, Callable[..., float]] = {"goodput": goodput, "none": none}


def value(text: str) -> float:
    return parse(text, FUNCTIONS).evaluate(FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('goodput("cubic") - goodput("reno")', 6),
        ('goodput("cubic", "b")', 11),
        ('goodput("cubic", "b", start=2)', 13),
        ('(goodput("cubic") / goodput("reno") - 1) * 100', 150),
        ('goodput("E-1/reno")', 7),
        ('min(goodput("cubic"), goodput("reno")) + max(1, 2)', 6),
        ('abs(-goodput("reno"))', 4),
        ('-goodput("reno") + 5', 1),
        ("2.5", 2.5),
    ],
)
def test_values(text: str, expected: float) -> None:
    assert value(text) == expected


def test_the_cells_that_it_reads() -> None:
    expression = parse('max(goodput("cubic"), 1) - goodput("E-1/reno", "a")', FUNCTIONS)
    assert sorted(expression.cells()) == ["E-1/reno", "cubic"]


def test_in_full_equal_expressions_have_one_text() -> None:
    texts = (
        "max(goodput('cubic'),1)-goodput(\"E-1/reno\", 'a')",
        'max(goodput("E-2/cubic"), 1) - goodput("E-1/reno", "a")',
    )
    told = {parse(text, FUNCTIONS).qualified("E-2") for text in texts}
    assert len(told) == 1
    assert "E-2/cubic" in told.pop()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "goodput(",
        "goodput(cubic)",
        "cubic",
        "__import__('os')",
        "goodput.__class__",
        "'text'",
        "goodput('cubic')[0]",
        "goodput('cubic') if 1 else 2",
        "goodput('cubic') ** 9",
        "[1]",
        "lambda: 1",
        "True and 1",
        "goodput(goodput('cubic'))",
        "f'{1}'",
        "1 < 2",
    ],
)
def test_nothing_else_is_obeyed(text: str) -> None:
    with pytest.raises(InputError):
        parse(text, FUNCTIONS)


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_an_error(text: str) -> None:
    try:
        parse(text, FUNCTIONS)
    except InputError:
        return


def test_an_unknown_function_names_those_that_there_are() -> None:
    with pytest.raises(
        InputError, match="unknown function 'goodputs'; there are: abs, goodput, max, min, none"
    ):
        parse('goodputs("cubic")', FUNCTIONS)


def test_division_by_zero_has_no_value() -> None:
    with pytest.raises(NoValueError, match="division by zero"):
        value('goodput("cubic") / none("cubic")')
