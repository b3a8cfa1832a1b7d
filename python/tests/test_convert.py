"""`cwndlab convert`: measurements of other tools become traces."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab.engine import SHIPPED
from cwndlab.errors import InputError
from cwndlab.traces.measured import OPPORTUNITY, Measured, Piece
from cwndlab.traces.reading import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Command


def iperf3(*, sender: bool = False, **more: Any) -> dict[str, Any]:
    """Three seconds at 8, 0 and 4 Mbit/s, as `iperf3 --json` has them, after one that is omitted."""
    rows = [
        (0, 1, 9_000_000, True),
        (0, 1.0002, 1_000_200, False),
        (1.0002, 2, 0, False),
        (2, 3, 500_000, False),
    ]
    intervals = [
        {"sum": {"start": start, "end": end, "bytes": size, "omitted": omitted, "sender": sender}}
        for start, end, size, omitted in rows
    ]
    return {"start": {}, "intervals": intervals, "end": {}, **more}


def flent(**results: list[float | None]) -> dict[str, Any]:
    """A data file of flent with a value each 0.2 s."""
    times = [round(0.2 * n, 1) for n in range(len(next(iter(results.values()))))]
    units = {name: {"UNITS": "ms" if name == "ping" else "Mbits/s"} for name in results}
    return {"version": 4, "x_values": times, "results": results, "metadata": {"SERIES_META": units}}


def read_json(tmp_path: Path, document: Any, series: str | None = None) -> Measured:
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(document))
    return read(SHIPPED, path, series)


def rates(measured: Measured, every_s: float | None = None) -> list[list[float]]:
    return [[float(x) for x in line.split(",")] for line in measured.csv(every_s).splitlines()[1:]]


def test_the_intervals_of_iperf3(tmp_path: Path) -> None:
    measured = read_json(tmp_path, iperf3())
    assert rates(measured) == [[0, pytest.approx(8, abs=2e-3)], [1, pytest.approx(0, abs=2e-3)], [2, 4]]
    assert (measured.what, measured.length_s) == ("iperf3, 3 intervals of the receiver", 3)
    assert "payload, without headers" in measured.warnings[0]
    assert len(measured.warnings) == 1


def test_the_receivers_intervals_go_before_the_senders(tmp_path: Path) -> None:
    sent = iperf3(sender=True)
    assert "the sender's intervals" in read_json(tmp_path, sent).warnings[1]
    received = iperf3(sender=False)
    received["intervals"].pop()
    both = read_json(tmp_path, {**sent, "server_output_json": received})
    assert (both.what, len(both.warnings)) == ("iperf3, 2 intervals of the receiver", 1)


def test_a_series_of_flent(tmp_path: Path) -> None:
    path = tmp_path / "test.flent.gz"
    document = flent(download=[None, 10, None, 6, 0, None], ping=[1, 2, 3, 4, 5, 6])
    path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    measured = read(SHIPPED, path, "download")
    assert rates(measured) == [[0, 10], [0.2, 10], [0.4, 6], [0.6, 0]]
    assert any("1 values are missing" in warning for warning in measured.warnings)
    with pytest.raises(InputError, match=r"expected --series NAME, one of: download, ping"):
        read(SHIPPED, path)
    with pytest.raises(InputError, match=r"--series ping: expected a series in Mbits/s, found one in ms"):
        read(SHIPPED, path, "ping")
    with pytest.raises(InputError, match=r"--series upload: expected one of download, ping"):
        read(SHIPPED, path, "upload")


def test_arrivals_of_packets(tmp_path: Path) -> None:
    path = tmp_path / "arrivals.csv"
    path.write_text(
        "time,bytes\n1700000000.0,1504\n1700000000.0125,752\n\n1700000000.0200,752\n1700000000.25,0\n"
    )
    measured = read(SHIPPED, path)
    assert measured.mahimahi() == "0\n20\n250\n", "the last one keeps the length"
    assert rates(measured) == [[0, pytest.approx(3008 * 8 / 1e5)], [0.1, 0]]


def test_a_trace_keeps_the_bytes_and_their_times() -> None:
    measured = Measured("", [Piece(0, 1, 150_400), Piece(1, 2, 0), Piece(2, 3, 300_800)], 1)
    lines = [int(line) for line in measured.mahimahi().splitlines()]
    assert [sum(1 for ms in lines if s * 1000 < ms <= s * 1000 + 1000) for s in range(3)] == [100, 0, 200]
    assert lines[:3] == [10, 20, 30]
    assert lines[-1] == 3000
    assert len(measured.mahimahi(scale=2).splitlines()) == 600
    assert measured.csv(1.5) == "seconds,Mbit/s\n0,0.802133\n1.5,1.604267\n"


@given(
    st.lists(
        st.tuples(st.floats(0, 0.3), st.floats(0, 0.3), st.integers(0, 200_000)), min_size=1, max_size=20
    ),
    st.floats(0.01, 1),
)
def test_no_byte_is_lost(steps: list[tuple[float, float, int]], every_s: float) -> None:
    pieces, at = [], 0.0
    for gap, length, size in steps:
        pieces.append(Piece(at, at + length, size))
        at += length + gap
    total = sum(piece.bytes for piece in pieces)
    measured = Measured("", [*pieces, Piece(at, at + 1, 0)], 0.1)
    lines = [int(line) for line in measured.mahimahi().splitlines()]
    assert lines == sorted(lines)
    assert total - OPPORTUNITY < OPPORTUNITY * len(lines) <= total + OPPORTUNITY
    carried = sum(rate * every_s * 125_000 for _, rate in rates(measured, every_s))
    assert carried == pytest.approx(total, rel=1e-3, abs=100)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected lines with `seconds,bytes`, found no bytes"),
        ("0,1500\nx\n", "line 2: expected `seconds,bytes`, found `x`"),
        ("0,1500\n2,1500\n1,1500\n", "line 3: 1 s is before the line above"),
        ("0,1500\n1,-1\n", "line 2: expected from 0 to 1e+12 bytes, found -1"),
        ("0,1500\nnan,1\n", "line 2: expected a time from 0"),
        ("5,1500\n", "expected bytes at two times"),
        ('{"a": 1}', "found other JSON"),
        ('{"a": ', "line 1: expected JSON, found a mistake in it"),
        ("[" * 100_000, "expected JSON, found a mistake in it"),
        ('{"start": {}, "intervals": 3}', "intervals: expected a list, found 3"),
        ('{"start": {}, "intervals": [3]}', "intervals[0].sum: expected an object, found nothing"),
        ('{"start": {}, "intervals": []}', "expected intervals, found none"),
        ('{"start": {}, "intervals": [], "error": "unable to connect"}', "iperf3 failed: unable to connect"),
        (
            '{"start": {}, "intervals": [{"sum": {"start": 0, "end": 1}}]}',
            "intervals[0].sum.bytes: expected a number from 0 to 1e+15, found nothing",
        ),
        (
            '{"start": {}, "intervals": [{"sum": {"start": 1, "end": 1, "bytes": 1}}]}',
            "intervals[0].sum.end: expected a time after 1 s, found 1 s",
        ),
        ('{"x_values": [0], "results": {}}', "results: expected an object with series"),
        (
            '{"x_values": [0], "results": {"a": [1, 2]}}',
            "results.a: expected 1 values as in x_values, found 2",
        ),
        (
            '{"x_values": [0, 0], "results": {"a": [1, 2]}}',
            "x_values[1]: expected a time after 0 s, found 0 s",
        ),
        ('{"x_values": [0, 1], "results": {"a": [1, "b"]}}', "results.a[1]: expected a number"),
        (b"\x1f\x8b\x08garbage", "cannot be unpacked"),
        (gzip.compress(b"0,1\n1,1\n", mtime=0)[:-6], "cannot be unpacked: it is cut off"),
        (b"\xff\xfe\x00", "found no text"),
    ],
)
def test_mistakes(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = tmp_path / "measured"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as found:
        read(SHIPPED, path)
    assert str(found.value).startswith(f"{path}: ")
    assert message in str(found.value)
    assert "\n" not in str(found.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**30) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["sum", "start", "end", "bytes", "a", "UNITS"]), inner, max_size=4)
    ),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["start", "intervals", "x_values", "results", "metadata", "server_output_json"]), JSON
)


@settings(max_examples=300, deadline=None)
@given(
    content=st.binary(max_size=80)
    | DOCUMENTS.map(json.dumps).map(str.encode)
    | st.from_regex(r"([0-9.]{1,5},[0-9]{1,4}\n){1,9}").map(str.encode),
    packed=st.booleans(),
)
def test_any_file_is_converted_or_refused(
    content: bytes, packed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    try:
        measured = read(SHIPPED, path)
        assert measured.mahimahi()
        assert measured.csv()
    except InputError:
        pass


def test_the_command_writes_a_trace_that_show_describes(cwndlab: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "iperf.json", tmp_path / "iperf.csv"
    source.write_text(json.dumps(iperf3()))
    answer = cwndlab("convert", str(source), "--out", str(out))
    assert answer.returncode == 0, answer.stderr
    assert out.read_text().startswith("seconds,Mbit/s\n0,8")
    assert "iperf3, 3 intervals of the receiver, 3 s" in answer.stdout
    assert "(trace): CSV, 3 values" in answer.stdout
    warned = " ".join(answer.stderr.split())
    assert "warning: a measurement shows what was carried, not what could have been" in warned
    assert "warning: iperf3 counts payload" in warned
    again = cwndlab("convert", str(source), "--out", str(out))
    assert (again.returncode, "already exists" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--every", "1 s"], "only a CSV trace has windows"),
        (["--scale", "0"], "expected a factor from 0.001 to 1000"),
        (["--to", "csv", "--every", "1"], "--every 1: expected a time from"),
        (["--series", "x"], "only a file of flent has series"),
    ],
)
def test_options_that_do_not_fit(cwndlab: Command, tmp_path: Path, options: list[str], message: str) -> None:
    source = tmp_path / "iperf.json"
    source.write_text(json.dumps(iperf3()))
    answer = cwndlab("convert", str(source), "--out", str(tmp_path / "x"), *options)
    assert answer.returncode == 2
    assert message in " ".join(answer.stderr.split())
    assert not (tmp_path / "x").exists()
