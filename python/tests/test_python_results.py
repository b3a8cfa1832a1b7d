"""Results in Python: copies, long tables, labelled arrays, notebooks, and what overrides may be."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import cwndlab as cl
from cwndlab.engine import in_use
from cwndlab.linux.backend import Linux, engine_of
from tests.conftest import SCENARIO
from tests.samples import flow, outcome, result

Results = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One result of each kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CWNDLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {
            "run": cl.run(SCENARIO, seeds=3, record="all"),
            "compare": cl.compare(SCENARIO, ["cubic", "reno"], ["b"], seeds=2),
            "sweep": cl.sweep(
                SCENARIO, {"flow.a.cc": ["cubic", "vegas"], "link.0.queue": ["1 bdp", "2 bdp"]}, seeds=2
            ),
        }


@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_python_shows_the_answer(made: Results, kind: str) -> None:
    first, *answer = repr(made[kind]).splitlines()
    assert re.fullmatch(r"(Result|Comparison|Sweep) of .+, [23] seeds:", first)
    assert answer == made[kind].answer() != []


def test_python_shows_a_run_in_a_line(made: Results) -> None:
    assert repr(made["run"].runs[0]) == "SeedRun(seed=1, reused=False)"


@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_a_copy_is_equal(made: Results, kind: str) -> None:
    one = made[kind]
    copy = pickle.loads(pickle.dumps(one))
    assert type(copy) is type(one)
    assert copy == one
    assert copy.to_json() == one.to_json()
    assert copy.command == one.command
    assert_frame_equal(copy.long(), one.long())
    other = pickle.loads(pickle.dumps(one))
    first = other.variants[0][1].runs[0]
    first.detail.end_s[0] += 1
    assert other != one


def test_a_copy_needs_neither_the_trace_nor_the_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process reads it when the files are gone."""
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    trace = tmp_path / "my.trace"
    trace.write_text("1\n2\n3\n")
    text = SCENARIO.replace('rate = "10 Mbit/s"', 'trace = "my.trace"').replace("1 bdp", "50 packets")
    (tmp_path / "two.toml").write_text(text)
    one = cl.run(tmp_path / "two.toml", seeds=1)
    (tmp_path / "copy").write_bytes(pickle.dumps(one))
    trace.unlink()
    program = "import pickle, sys; one = pickle.load(open(sys.argv[1], 'rb')); print(one.name, one.command)"
    answer = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "copy")], capture_output=True, text=True, check=False
    )
    assert answer.stdout.strip() == f"two flows {one.command}", answer.stderr


def test_a_copy_keeps_its_backend() -> None:
    engine = engine_of("linux", in_use(), runs=False)
    copy = pickle.loads(pickle.dumps(engine))
    assert isinstance(copy, Linux)
    assert (copy.backend, copy.module, copy.kernel) == ("linux", engine.module, engine.kernel)  # type: ignore[attr-defined]


def test_long_tables_have_every_value_with_its_unit(made: Results) -> None:
    long = made["run"].long()
    assert long.columns == ["scenario", "variant", "seed", "kind", "name", "measure", "unit", "value"]
    of_flows = made["run"].flows.drop("seed", "name", "cc", "degraded", strict=False)
    assert len(long.filter(kind="flow")) == sum(len(column) - column.null_count() for column in of_flows)
    goodputs = long.filter(kind="flow", name="a", measure="goodput_mbps")
    assert goodputs["value"].to_list() == made["run"].flows.filter(name="a")["goodput_mbps"].to_list()
    assert set(goodputs["unit"]) == {"Mbit/s"}
    units = dict(long.select("measure", "unit").unique().iter_rows())
    assert (units["utilisation"], units["rtt_ms"], units["timeouts"]) == ("0 to 1", "ms", "")
    assert units["data_packets"] == "packets"


def test_long_tables_name_variants_and_settings(made: Results) -> None:
    compared = made["compare"].long()
    assert set(compared["variant"]) == {"cubic", "reno"}
    assert compared.columns.count("variant") == 1
    swept = made["sweep"].long()
    assert swept.columns[:4] == ["scenario", "variant", "flow.a.cc", "link.0.queue"]
    point = swept.filter(pl.col("flow.a.cc") == "vegas", pl.col("link.0.queue") == "2 bdp")
    assert set(point["variant"]) == {"vegas, 2 bdp"}


def test_labelled_arrays(made: Results) -> None:
    pytest.importorskip("xarray")
    run = made["run"].to_xarray()
    assert dict(run.sizes) == {"seed": 3, "name": 2}
    assert run["rtt_ms"].attrs["units"] == "ms"
    assert (
        run["rtt_ms"].sel(name="b").values.tolist() == made["run"].flows.filter(name="b")["rtt_ms"].to_list()
    )
    assert run["cc"].sel(seed=1).values.tolist() == ["cubic", "reno"]
    assert run.attrs["command"] == made["run"].command
    sweep = made["sweep"].to_xarray("link")
    assert sweep["utilisation"].dims == ("flow.a.cc", "link.0.queue", "seed", "name")
    point = made["sweep"].at(**{"flow.a.cc": "vegas", "link.0.queue": "1 bdp"}).links
    found = sweep["utilisation"].sel({"flow.a.cc": "vegas", "link.0.queue": "1 bdp", "name": "bottleneck"})
    assert found.values.tolist() == point.filter(name="bottleneck")["utilisation"].to_list()
    assert made["compare"].to_xarray().sizes["variant"] == 2
    with pytest.raises(cl.InputError, match=r"expected a kind of component \(flow, .*found 'flows'"):
        made["run"].to_xarray("flows")


def test_without_xarray_it_says_how_to_get_it(made: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(cl.InputError, match=r"pip install 'cwndlab\[xarray\]'"):
        made["run"].to_xarray()


class Tags(HTMLParser):
    """Counts the tags, and fails if one is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_a_notebook_shows_answer_table_and_chart(made: Results, kind: str) -> None:
    html = made[kind]._repr_html_()
    parser = Tags()
    parser.feed(html)
    assert parser.open == []
    assert parser.seen.count("table") == parser.seen.count("img") == 1
    assert "script" not in parser.seen
    for sentence in made[kind].answer():
        assert sentence.split("'")[0] in html
    assert re.search(r'src="data:image/png;base64,iVBOR', html)


def test_names_in_a_notebook_are_no_markup() -> None:
    html = result([outcome([flow("<b>a</b>", 1), flow("b", 2)])])._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;a" in html


def test_a_long_table_ends_early_in_a_notebook() -> None:
    html = result([outcome([flow(f"f{number}", 1) for number in range(35)])])._repr_html_()
    assert html.count("<tr>") == 31
    assert "and 5 more rows" in html


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"flow.b.cc": ""}, r"overrides\['flow.b.cc'\]: expected a value, found an empty text"),
        ({"": "reno"}, "overrides: expected keys such as 'flow.0.cc', found ''"),
        ({5: "reno"}, "overrides: expected keys such as 'flow.0.cc', found 5"),
        ({"flow.b.cc=reno": 1}, "expected a key without `=`, found 'flow.b.cc=reno'"),
        ({"link.0.loss": None}, "link.0.loss: expected a text, a number.*found None .*leave the key out"),
        ({"link.0.loss": float("nan")}, "link.0.loss: expected a text, a number.*found nan"),
        ({"flow.b.cc": object}, "flow.b.cc: expected a text, a number.*found <class 'object'>"),
        ([("flow.b.cc", "reno")], "overrides: expected a dictionary such as .*found \\[\\("),
        ({"cc": "reno"}, r"overrides\['cc'\]: error: unknown key `cc`; did you mean `flow.\*.cc`"),
    ],
)
def test_overrides_are_checked_like_set(overrides: Any, told: str) -> None:
    with pytest.raises(cl.InputError, match=told):
        cl.run(SCENARIO, overrides=overrides)


def test_overrides_may_be_numbers_of_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path))
    numbers = {"tcp.mss": np.int64(1000), "link.0.loss": np.float64(0.01)}
    changed = cl.run(SCENARIO, seeds=1, overrides=numbers)
    assert changed.scenario.overrides == (("tcp.mss", "1000"), ("link.0.loss", "0.01"))


@pytest.mark.parametrize(
    ("over", "told"),
    [
        ({"link.0.queue": []}, r"over\['link.0.queue'\]: expected values, found none"),
        ({"link.0.queue": ["codel", "codel"]}, r"over\['link.0.queue'\]: a value is repeated"),
        ({"link.0.queue": [""]}, r"over\['link.0.queue'\]: a value is empty"),
        ({"link.0.loss": [None]}, "link.0.loss: expected a text, a number"),
    ],
)
def test_axes_are_checked_like_over(over: Any, told: str) -> None:
    with pytest.raises(cl.InputError, match=told):
        cl.sweep(SCENARIO, over)
