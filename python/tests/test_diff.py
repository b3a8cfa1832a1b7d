"""Two stored results beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import cwndlab as cl
from cwndlab.output import loading
from cwndlab.results.difference import Difference, difference
from cwndlab.statistics.measure import Measure, unpaired_difference
from tests.conftest import SCENARIO, Command

MANIFEST: dict[str, Any] = {"version": "1", "commit": "abc", "seeds": [1], "overrides": []}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path_factory.getbasetemp() / "cache of diff"))


def of(one: Any, other: Any, *manifests: dict[str, Any]) -> Difference:
    first, second = manifests or (MANIFEST, MANIFEST)
    return difference(("a", "b"), one, other, (first, second))


def test_each_measure_is_paired_by_the_seeds_that_both_have() -> None:
    one = cl.run(SCENARIO, seeds=4)
    other = cl.run(SCENARIO, seeds=[5, 3, 2], overrides={"link.0.queue": "2 bdp"})
    found = of(one, other)
    [variant] = found.variants
    assert variant.shared == [2, 3]
    assert variant.paired
    [flow] = [table for table in variant.tables if (table.kind, table.name) == ("flow", "a")]
    values = [
        {row["seed"]: row["rtt_ms"] for row in result.flows.filter(name="a").rows(named=True)}
        for result in (one, other)
    ]
    expected = cl.Measure(*_paired([values[1][seed] - values[0][seed] for seed in (2, 3)]))
    got = flow.differences[0]["rtt_ms"]
    assert (got.mean, got.half_width, got.n) == pytest.approx(
        (expected.mean, expected.half_width, expected.n)
    )
    assert flow.means[0]["rtt_ms"].mean == pytest.approx((values[0][2] + values[0][3]) / 2)


def _paired(values: list[float]) -> tuple[float, float, int]:
    test = stats.ttest_1samp(values, 0).confidence_interval()
    low, high = float(test.low), float(test.high)
    return (low + high) / 2, (high - low) / 2, len(values)


def test_without_a_shared_seed_the_means_are_compared() -> None:
    one, other = cl.run(SCENARIO, seeds=3), cl.run(SCENARIO, seeds=[4, 5, 6, 7])
    [variant] = of(one, other).variants
    assert not variant.paired
    total = variant.tables[0]
    assert (total.means[0]["goodput_mbps"].n, total.means[1]["goodput_mbps"].n) == (3, 4)
    values = [
        [sum(f["goodput_mbps"] for f in run.outcome["flows"]) for run in each.runs] for each in (one, other)
    ]
    welch = stats.ttest_ind(values[1], values[0], equal_var=False).confidence_interval()
    assert total.differences[0]["goodput_mbps"].interval == pytest.approx((welch.low, welch.high))


@pytest.mark.parametrize(
    ("these", "those", "expected"),
    [
        ([], [1.0], Measure(None, None, 0)),
        ([None], [1.0], Measure(None, None, 0)),
        ([3.0], [1.0, 2.0], Measure(1.5, None, 1)),
        ([3.0, 3.0], [1.0, 1.0], Measure(2.0, None, 2)),
        ([0.1 + 0.2] * 2, [0.3] * 2, Measure(0.0, None, 2)),
    ],
)
def test_few_or_equal_values_have_no_interval(
    these: list[float | None], those: list[float | None], expected: Measure
) -> None:
    assert unpaired_difference(these, those) == expected


def test_settings_request_and_manifest_that_differ_are_listed() -> None:
    one = cl.run(SCENARIO, seeds=2)
    other = cl.run(SCENARIO, seeds=2, overrides={"link.0.rate": "11 Mbit/s", "flow.b.cc": "vegas"})
    found = of(one, other, MANIFEST, {**MANIFEST, "version": "2", "cpu": "new", "seeds": [9]})
    settings = {each.name: (each.one, each.other) for each in found.settings}
    assert settings["link.0.rate"] == ("10 Mbit/s", "11 Mbit/s")
    assert settings["flow.1.cc.name"] == ("reno", "vegas")
    assert "flow.0.cc.name" not in settings
    assert found.request == []
    changed = [(each.name, each.one, each.other) for each in found.manifest]
    assert changed == [("version", "1", "2"), ("cpu", None, "new")]


def test_variants_are_matched_by_their_settings() -> None:
    over = {"link.0.queue": ["1 bdp", "2 bdp"]}
    one = cl.sweep(SCENARIO, over, seeds=2)
    found = of(one, cl.sweep(SCENARIO, {"link.0.queue": ["4 bdp", "2 bdp"]}, seeds=2))
    assert [variant.label for variant in found.variants] == ["2 bdp"]
    assert found.missing == (["1 bdp"], ["4 bdp"])
    assert [each.name for each in found.request] == ["link.0.queue"]
    assert found.counts.nonzero == 0
    reno, vegas = (cl.compare(SCENARIO, ["cubic", other], seeds=2) for other in ("reno", "vegas"))
    compared = of(reno, vegas)
    assert [variant.label for variant in compared.variants] == ["cubic"]


def test_other_flows_are_left_out() -> None:
    renamed = SCENARIO.replace('name = "b"', 'name = "c"')
    [variant] = of(cl.run(SCENARIO, seeds=2), cl.run(renamed, seeds=2)).variants
    assert [table.name for table in variant.tables if table.kind == "flow"] == ["a"]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Folders of results."""
    cl.run(SCENARIO, seeds=3).save(tmp_path / "a", figures=False)
    cl.run(SCENARIO, seeds=3, overrides={"link.0.queue": "4 bdp"}).save(tmp_path / "b", figures=False)
    cl.sweep(SCENARIO, {"link.0.queue": ["1 bdp", "2 bdp"]}, seeds=2).save(tmp_path / "s", figures=False)
    return tmp_path


@pytest.mark.usefixtures("stored")
def test_what_is_printed(cwndlab: Command) -> None:
    answer = cwndlab("diff", "a", "b")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("b differs from a in link.0.queue.size.\n")
    assert "paired by seed, over 3 shared seeds" in answer.stdout
    assert "link.0.queue.size" in answer.stdout.partition("setting")[2]
    assert "b − a" in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
    marked = sum(line.count(" *") for line in answer.stdout.splitlines() if line.startswith("b − a"))
    assert marked > 0
    same = cwndlab("diff", "a", "a").stdout
    assert same.startswith("The requests, the settings and the manifests are equal.\nAll ")
    points = cwndlab("diff", "s", "s").stdout
    assert "measures are equal" in points


def test_the_document(cwndlab: Command, stored: Path) -> None:
    document = json.loads(cwndlab("diff", "a", "b", "--json").stdout)
    assert (document["schema"], document["kind"], document["a"], document["b"]) == (1, "run", "a", "b")
    assert [each["name"] for each in document["settings"]] == ["link.0.queue.size"]
    [variant] = document["variants"]
    assert (variant["paired"], variant["shared_seeds"]) == (True, [1, 2, 3])
    total = variant["subjects"][0]
    assert (total["kind"], total["name"]) == ("total", "all")
    delay = total["measures"]["queue_delay_ms"]
    assert delay["difference"]["mean"] == pytest.approx(delay["b"]["mean"] - delay["a"]["mean"])
    low, high = delay["difference"]["ci95"]
    assert delay["excludes_zero"] == (low > 0 or high < 0)
    assert loading.load(stored / "a").seeds == [1, 2, 3]


def test_folders_that_cannot_be_compared(cwndlab: Command, stored: Path) -> None:
    (stored / "r").mkdir()
    about = json.loads((stored / "a" / "about.json").read_text())
    for kind, told in (
        ("reproduce", "the reproduction of papers"),
        ("run on both", "results of both backends: name its folder sim"),
    ):
        (stored / "r" / "about.json").write_text(json.dumps({**about, "kind": kind}))
        answer = cwndlab("diff", "a", "r")
        assert answer.returncode == 2
        assert f"r: expected the folder of a run, comparison or sweep, found {told}" in answer.stderr
    assert "s: expected a result made by `cwndlab run` as a is" in cwndlab("diff", "a", "s").stderr
    assert "none: no such folder" in cwndlab("diff", "a", "none").stderr
    (stored / "b" / "result.json").write_text("{}")
    assert "result.json: is damaged" in cwndlab("diff", "a", "b").stderr
