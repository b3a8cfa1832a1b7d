"""Expressions over cells."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.errors import InputError
from cwndlab.papers.language.expression import Expression, NoValueError
from cwndlab.papers.language.limits import limits
from cwndlab.papers.language.parsing import effect, parse
from cwndlab.papers.language.quantities import QUANTITIES
from cwndlab.papers.language.quantity import Quantity

RUNS = {"E-1/cubic": 10.0, "E-1/reno": 4.0, "E-2/reno": 7.0}


def goodput(run: float, flow: str | None = None, start: float = 0) -> float:
    return run + (flow == "b") + start


def none(_run: float) -> float:
    return 0.0


def delay(run: float, link: str) -> float:
    return run + len(link)


FUNCTIONS = {
    "goodput": Quantity(goodput, "Mbit/s", "a rate"),
    "none": Quantity(none, "", "nothing"),
    "delay": Quantity(delay, "ms", "a time"),
}


def parsed(text: str) -> Expression:
    return parse(text, FUNCTIONS, "E-1")


def value(text: str) -> float:
    return parsed(text).evaluate(RUNS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('goodput("cubic") - goodput("reno")', 6),
        ('goodput("cubic", "b")', 11),
        ('goodput("cubic", "b", start=2)', 13),
        ('(goodput("cubic") / goodput("reno") - 1) * 100', 150),
        ('goodput("E-2/reno")', 7),
        ('min(goodput("cubic"), goodput("reno")) + max(1, 2)', 6),
        ('abs(-goodput("reno"))', 4),
        ('-goodput("reno") + 5', 1),
        ("2.5", 2.5),
    ],
)
def test_values(text: str, expected: float) -> None:
    assert value(text) == expected


def test_the_cells_that_it_reads() -> None:
    expression = parsed('max(goodput("cubic"), goodput("cubic", "b")) - goodput("E-2/reno", "a")')
    assert expression.cells == ["E-1/cubic", "E-2/reno"]


def test_equal_expressions_have_equal_trees() -> None:
    texts = (
        "max(goodput('cubic', start=1),1)-goodput(\"E-2/reno\", 'a')",
        'max(goodput("E-1/cubic", start = 1), 1) - goodput("E-2/reno", flow="a")',
    )
    one, other = map(parsed, texts)
    assert one.tree == other.tree
    assert one.tree != parsed(texts[0].replace("start=1", "start=2")).tree


def test_an_effect_with_a_name_is_one_text_for_the_cells_of_many_experiments() -> None:
    gain = 'goodput("cubic") - goodput("reno")'
    effects = {"gain": effect(gain, FUNCTIONS)}
    alone = parse("gain", FUNCTIONS, "E-1", effects)
    assert (alone.text, alone.evaluate(RUNS)) == (gain, 6)
    assert parse("gain", FUNCTIONS, "E-3", effects).cells == ["E-3/cubic", "E-3/reno"]
    within = parse("2 * gain - 1", FUNCTIONS, "E-1", effects)
    assert (within.text, within.evaluate(RUNS)) == ("2 * (goodput('cubic') - goodput('reno')) - 1", 11)


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
        "True",
        "1j",
        "1e999",
        "min(1)",
        "abs(1, 2)",
        "max(1, 2, key=3)",
        "goodput()",
        "goodput(1)",
        "goodput(*['cubic'])",
        "goodput(**{})",
        "goodput('cubic', start=True)",
        "none('cubic', 'a')",
        "\0",
        "-" * 5000 + "1",
        "+".join(["1"] * 5000),
    ],
)
def test_nothing_else_is_obeyed(text: str) -> None:
    with pytest.raises(InputError):
        parsed(text)


@given(st.text(max_size=40))
def test_any_text_is_a_value_or_an_error(text: str) -> None:
    try:
        parsed(text)
    except InputError:
        return


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'goodputs("cubic")',
            'function: expected one of "goodput", "none", "delay", "min", "max", "abs", found "goodputs"; '
            'did you mean "goodput"?',
        ),
        ("gain - 1", "gain: expected a text in quotes; no effect has this name"),
        (
            'goodput("cubic", strat=1)',
            'goodput: argument strat: expected one of "flow", "start", found "strat"; did you mean "start"?',
        ),
        (
            'delay("cubic")',
            "delay: expected delay(cell, link); missing a required argument: 'link'",
        ),
        (
            'goodput("cubic", 5)',
            "goodput: argument flow: expected the name of a flow in quotes, found 5",
        ),
        ('goodput("cubic", start="5")', 'goodput: argument start: expected a number, found "5"'),
        ("goodput(cubic)", "'cubic': expected a text in quotes, or a number"),
        (
            "goodput(3)",
            "goodput: expected goodput(cell, [flow], [start=0]); the first argument is a cell in quotes",
        ),
        ("min(1)", "min: expected 2 or more arguments, found 1"),
        (
            'goodput("cubic") + delay("cubic", "x")',
            "rate + time: expected units of the same kind",
        ),
        ("goodput('cubic') ** 9", "\"goodput('cubic') ** 9\" is not allowed here"),
    ],
)
def test_a_mistake_says_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ('goodput("reno")', "Mbit/s", (0, math.inf)),
        ('-rtt("reno", "a")', "ms", (-math.inf, 0)),
        ('goodput("reno") - goodput("cubic")', "Mbit/s", (-math.inf, math.inf)),
        ('100 * utilisation("reno", "l")', "%", (0, 100)),
        ('jain("reno") - jain("cubic")', "Jain's index", (-1, 1)),
        ('100 * timeouts_at_peak("reno") / timeouts("reno")', "%", (0, 100)),
        ('timeouts_at_peak("reno") / timeouts("cubic")', "ratio", (0, math.inf)),
        ('(timeouts("reno") - timeouts_at_peak("reno")) / rtt_samples("reno")', "ratio", (0, math.inf)),
        ('100 * (goodput("reno") / goodput("cubic") - 1)', "%", (-100, math.inf)),
        ('max(jain("reno"), jain("cubic"), 0.5)', "Jain's index", (0.5, 1)),
        ('abs(jain("reno") - 0.4)', "Jain's index", (0, 0.6)),
        ('100 * probe("reno", "a", "on")', "% of the time", (0, 100)),
        ('100 * (probe("reno", "a", "on") - 0.5)', "% of the time", (-math.inf, math.inf)),
        ('probe("reno", "a", "on")', "ratio", (-math.inf, math.inf)),
    ],
)
def test_limits_are_what_an_expression_can_be(text: str, unit: str, expected: tuple[float, float]) -> None:
    assert limits(parse(text, QUANTITIES, "E-1"), unit) == pytest.approx(expected)


def test_division_by_zero_has_no_value() -> None:
    with pytest.raises(NoValueError, match="division by zero"):
        value('goodput("cubic") / none("cubic")')
