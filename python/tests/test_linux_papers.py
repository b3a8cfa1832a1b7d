"""The papers' experiments on the Linux backend."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cwndlab.papers.contents.backends import on_backend
from cwndlab.papers.contents.readings import readings
from cwndlab.papers.reading import library

if TYPE_CHECKING:
    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command


@pytest.mark.parametrize("name", library.names())
def test_a_papers_networks_and_packets_are_the_same_in_linux(linux_kernel: Kernel, name: str) -> None:
    assert linux_kernel.image.exists()
    [simulated] = readings(library.read(name), [1], quick=True)
    inside = on_backend(simulated, "linux")
    for key, cell in simulated.cells.items():
        there = inside.cells[key]
        assert cell.scenario is not None
        if there.scenario is None:
            assert there.missing is not None
            assert there.missing.startswith("not in Linux: ")
            continue
        here, linux = cell.scenario.resolved, there.scenario.resolved
        assert linux["profile"] == "linux"
        assert here["link"] == linux["link"]
        assert [flow["cc"]["name"] for flow in here["flow"]] == [flow["cc"]["name"] for flow in linux["flow"]]
        sizes = [scenario["tcp"]["mss"] + scenario["tcp"]["header"] for scenario in (here, linux)]
        assert sizes[0] == sizes[1]
    missing = [cell.missing for cell in inside.cells.values() if cell.missing]
    # Of these cells Linux serves all.
    assert missing == []


def test_reproduce_says_that_it_ran_in_linux(linux_kernel: Kernel, cwndlab: Command) -> None:
    assert linux_kernel.image.exists()
    answer = cwndlab("reproduce", "lim2004", "--quick", "--seeds", "1", "--backend", "linux", "--json")
    document = json.loads(answer.stdout)
    assert document["manifest"]["backend"] == "linux"
    assert any(row["ours"] is not None for paper in document["papers"] for row in paper["rows"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backend", "both"], "expected sim or linux, found both"),
        (["--backend", "linux", "--explain"], "--explain searches in the simulator"),
    ],
)
def test_what_reproduce_cannot_do_in_linux_is_an_error(
    options: list[str], message: str, cwndlab: Command
) -> None:
    answer = cwndlab("reproduce", "cho2024", *options)
    assert (answer.returncode, message in answer.stderr) == (2, True), answer.stderr
