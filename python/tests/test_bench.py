"""`cwndlab bench --curve`: the cost of a run over its size."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest
from PIL import Image

import cwndlab as cl
from cwndlab.benchmark.curves import AXES
from cwndlab.benchmark.networks import parking_lot
from cwndlab.benchmark.workload import scenarios
from cwndlab.engine import in_use
from cwndlab.statistics.power_law import power_law
from tests.test_cli_errors import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from cwndlab.linux.kernel import Kernel
    from tests.conftest import Command


def test_a_power_law_is_found_with_its_interval() -> None:
    exact = power_law([1, 10, 100, 1000], [3 * x**1.2 for x in (1, 10, 100, 1000)])
    assert exact.exponent.mean == pytest.approx(1.2)
    assert exact.factor == pytest.approx(3)
    assert exact.exponent.half_width == pytest.approx(0, abs=1e-6)


def test_the_interval_of_an_exponent_is_that_of_a_regression() -> None:
    # Powers of e, so that the logarithms are 0, 1, 2, 3 and 0, 1, 2, 4: slope 1.3, standard error
    # sqrt(0.3 / 2 / 5), and 4.303 the quantile of Student's t with two degrees of freedom.
    x = [math.exp(each) for each in (0, 1, 2, 3)]
    y = [math.exp(each) for each in (0, 1, 2, 4)]
    found = power_law(x, y).exponent
    assert found.mean == pytest.approx(1.3)
    assert found.half_width == pytest.approx(4.3027 * math.sqrt(0.3 / 2 / 5), rel=1e-4)


def test_a_curve_is_measured_fitted_and_drawn(cwndlab: Command, tmp_path: Path) -> None:
    figure = tmp_path / "curve.png"
    answer = cwndlab("bench", "--curve", "links", "--repeats", "1", "--figure", str(figure), "--json")
    [curve] = json.loads(answer.stdout)["curves"]
    points = curve["points"]
    assert [point["size"] for point in points] == list(AXES["links"].sizes)
    # A link does the same work in each size.
    per_link = [point["packets"] / point["size"] for point in points]
    assert max(per_link) < 1.1 * min(per_link)
    assert curve["exponent"]["n"] == len(points)
    assert 0.5 < curve["exponent"]["mean"] < 2
    with Image.open(figure) as picture:
        assert picture.width > 1000


def test_a_parking_lot_has_long_and_short_paths() -> None:
    result = cl.run(parking_lot(3, long=2, cross=4, mbps=10, delay_ms=5, duration_s=2), seeds=1)
    assert len(result.flows) == 2 + 3 * 4


def test_wrong_curves_are_refused(cwndlab: Command, tmp_path: Path) -> None:
    assert_refused(cwndlab("bench", "--curve", "flow"), "--curve flow: no such curve; did you mean flows?")
    assert_refused(
        cwndlab("bench", "--figure", str(tmp_path / "x.png")), "--figure draws curves: expected --curve"
    )
    assert_refused(cwndlab("bench", "--curve", "links", "--case", "flows-10"), "expected one of them")
    assert_refused(cwndlab("bench", "--curve", "links", "--figure", "x.gif"), "expected png, svg, pdf")
    nowhere = cwndlab("bench", "--curve", "links", "--figure", "none/x.png")
    assert_refused(nowhere, "--figure none/x.png: expected an existing folder, found no none")


def test_a_run_in_linux_is_measured(cwndlab: Command, linux_kernel: Kernel) -> None:
    assert linux_kernel.image.exists()
    answer = cwndlab("bench", "--case", "linux-reno", "--repeats", "1", "--json")
    [case] = json.loads(answer.stdout)["cases"]
    assert case["name"] == "linux-reno"
    # 100 Mbit/s for 30 s in packets of 1500 bytes, less the time that the window takes to grow.
    assert 200_000 < case["packets"] < 250_000
    assert case["ns_per_packet"] == pytest.approx(case["cpu_s"] * 1e9 / case["packets"])
    assert case["cpu_s"] > 0


def test_the_workload_of_a_profiled_build_has_every_algorithm_and_queue() -> None:
    own = [each for each in scenarios() if isinstance(each, dict)]
    ran = [cl.run(each, seeds=[1], overrides={"duration": "11 s"}, record="none") for each in own]
    in_rust = _named("algorithms") - set(in_use().in_python())
    assert {each["flow"][0]["cc"]["name"] for each in own} == in_rust
    assert {link["queue"]["kind"] for each in own for link in each["link"] if "queue" in link} == _named(
        "queues"
    )
    assert all(goodput > 0 for result in ran for goodput in result.flows["goodput_mbps"].to_list())


def _named(part: str) -> set[str]:
    return {each["name"] for each in in_use().read_catalogue()[part]}
