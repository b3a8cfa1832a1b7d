"""Grids over the keys of a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.errors import InputError
from cwndlab.scenarios import scenario
from cwndlab.scenarios.axis import Axis, parse_axis, split_values
from cwndlab.scenarios.grid import grid
from tests.conftest import SCENARIO


def load(tmp_path: Path, text: str = SCENARIO) -> scenario.Scenario:
    path = tmp_path / "grid.toml"
    path.write_text(text)
    return scenario.load(path)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("cubic,reno", ("cubic", "reno")),
        ("0.5 bdp, 1 bdp", ("0.5 bdp", "1 bdp")),
        ("{name='cubic', C=1.2},reno", ("{name='cubic', C=1.2}", "reno")),
        ("[1, 2],[3]", ("[1, 2]", "[3]")),
        ("'a,b',c", ("'a,b'", "c")),
    ],
)
def test_commas_inside_of_values_separate_nothing(text: str, values: tuple[str, ...]) -> None:
    assert parse_axis(f"flow.0.cc={text}") == Axis("flow.0.cc", values)


@pytest.mark.parametrize("text", ["flow.0.cc", "=cubic", "a=", "a=b,,c", "a=b,b"])
def test_mistakes(text: str) -> None:
    with pytest.raises(InputError, match="--over"):
        parse_axis(text)


@given(st.lists(st.text("abc{}[]()'\" ", min_size=1), min_size=1, max_size=4))
def test_splitting_loses_no_letter(parts: list[str]) -> None:
    text = ",".join(parts)
    try:
        values = split_values(text, "x")
    except InputError:
        return
    assert "".join(",".join(values).split()) == "".join(text.split())


def test_the_last_axis_runs_fastest(tmp_path: Path) -> None:
    axes = [Axis("flow.a.cc", ("cubic", "reno")), Axis("link.0.queue", ("1 bdp", "4 bdp"))]
    points = grid(load(tmp_path), axes)
    assert [tuple(point.settings.values()) for point in points] == [
        ("cubic", "1 bdp"),
        ("cubic", "4 bdp"),
        ("reno", "1 bdp"),
        ("reno", "4 bdp"),
    ]
    assert points[2].scenario.resolved["flow"][0]["cc"]["name"] == "reno"


def test_every_point_is_checked(tmp_path: Path) -> None:
    with pytest.raises(scenario.ScenarioError, match="cubik"):
        grid(load(tmp_path), [Axis("flow.a.cc", ("cubic", "cubik"))])


def test_limits(tmp_path: Path) -> None:
    many = Axis("link.0.loss", tuple(str(each / 1e6) for each in range(400)))
    with pytest.raises(InputError, match="found 160000"):
        grid(load(tmp_path), [many, Axis("link.0.jitter", many.values)])
    with pytest.raises(InputError, match="repeated"):
        grid(load(tmp_path), [many, many])


def test_flows_without_a_name_meet_the_same_chance_under_each_algorithm(tmp_path: Path) -> None:
    nameless = SCENARIO.replace('name = "a"\n', "")
    points = grid(load(tmp_path, nameless), [Axis("flow.0.cc", ("cubic", "reno"))])
    names = [[flow["names"] for flow in point.scenario.resolved["flow"]] for point in points]
    assert names == [[["flow-1"], ["b"]]] * 2
