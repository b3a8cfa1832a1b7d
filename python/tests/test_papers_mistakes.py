"""Mistakes in a paper's files: each is reported with its file, line and entry, and nothing is run."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cwndlab as cl
from cwndlab.papers.language.place import PaperError
from cwndlab.papers.language.quantity import Kind
from cwndlab.papers.reading import library
from cwndlab.papers.reading.names import Names
from cwndlab.results.summary import components
from cwndlab.scenarios.scenario import load
from tests.conftest import Command
from tests.test_papers_figures import FIGURES
from tests.test_papers_reproduction import CLAIMS, PAPER, papers

__all__ = ["papers"]

NAMED = """
[effect]
gain = 'goodput("long") - goodput("short")'

[[finding]]
id = "F1"
text = "Longer queues give more"
quote = "ours"
[[finding.part]]
text = "twice"
experiment = "E1"
effect = "2 * gain"
unit = "Mbit/s"
"""
# In blocks: the file, what is replaced, by what, and all that is said then.
CASES = Path(__file__).parent / "papers_mistakes.txt"


def cases() -> list[list[str]]:
    return [block.split("\n") for block in CASES.read_text().rstrip("\n").split("\n\n")]


def messages(folder: Path) -> list[str]:
    """What is wrong with a paper, with the files' names in the place of their paths."""
    with pytest.raises(PaperError) as caught:
        library.read_folder(folder)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case[0]}: {case[2]}")
def test_each_mistake_is_told_with_its_line(papers: Path, case: list[str]) -> None:
    file, old, new, *expected = case
    (papers / "paper.toml").write_text(PAPER + FIGURES)
    (papers / "claims.toml").write_text(CLAIMS + NAMED)
    library.read_folder(papers)
    text = (papers / file).read_text()
    assert old in text
    (papers / file).write_text(text.replace(old, new.replace("\\n", "\n"), 1))
    assert messages(papers) == expected


def test_all_mistakes_of_all_files_are_told_at_once(papers: Path) -> None:
    for file, old, new in (
        ("claims.toml", "queue_delay(", "queue_dealy("),
        ("claims.toml", '"magic"', '"magik"'),
        ("paper.toml", '"4 bdp"', '"4 bpd"'),
        ("targets.csv", "9,Mbps", "9,Mbsp"),
    ):
        (papers / file).write_text((papers / file).read_text().replace(old, new, 1))
    places = [message.split(": ")[0] for message in messages(papers)]
    assert places == ["claims.toml:8", "claims.toml:30", "paper.toml:16", "targets.csv:2"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("claims.toml", None, "claims.toml:1: no such file; expected a file of a paper (TOML)"),
        (
            "claims.toml",
            b"a = '\xff'",
            "claims.toml:1: byte 6 is not UTF-8; expected a file of a paper (TOML)",
        ),
        ("targets.csv", None, "targets.csv:1: no such file; expected a table of numbers (CSV)"),
        ("targets.csv", b"", "targets.csv:1: column id is missing"),
        ("paper.toml", b"\x00", "paper.toml:1: not TOML: Invalid statement"),
    ],
)
def test_a_file_that_cannot_be_read(papers: Path, file: str, content: bytes | None, message: str) -> None:
    if content is None:
        (papers / file).unlink()
    else:
        (papers / file).write_bytes(content)
    assert messages(papers) == [message]


def test_a_row_over_several_lines_is_told_with_its_first(papers: Path) -> None:
    rows = (papers / "targets.csv").read_text().replace("not measured: no such thing", '"not\nmeasured"')
    (papers / "targets.csv").write_text(rows.replace("11,laughs", "11,laugs").replace("t-4", "t-4,"))
    assert [message.split(": ")[0] for message in messages(papers)] == ["targets.csv:4", "targets.csv:6"]


def test_the_command_checks_a_paper_and_runs_nothing(papers: Path, cwndlab: Command) -> None:
    answer = cwndlab("check", str(papers))
    assert answer.stdout == f"{papers}: ok: 5 cells, 3 claims, 4 numbers, 1 open point\n"
    assert cwndlab("check", str(papers), "--set", "duration=1 s").returncode == 2
    (papers / "claims.toml").write_text(CLAIMS.replace('"long", "bott', '"logn", "bott'))
    for command in (("check", str(papers)), ("reproduce",)):
        answer = cwndlab(*command)
        assert (answer.returncode, answer.stdout) == (2, "")
        [line] = answer.stderr.splitlines()
        assert line == (
            f"{papers}/claims.toml:8: error: claim Q1: part 1: effect: queue_delay: cell of E1: expected "
            'one of "short", "long", "magic", "C = 1.2", found "logn"; did you mean "long"?'
        )
    assert not (cwndlab.folder / "out").exists()
    assert not (papers.parents[1] / "cache").exists()


@cache
def shipped() -> Path:
    """A copy of the papers that ship, to be spoilt and mended."""
    copy = Path(tempfile.mkdtemp()) / "papers"
    return Path(shutil.copytree(library.folder(), copy))


# Expressions in a line of TOML, and in a row of numbers.
WRITTEN = re.compile(
    r"""= '(?P<call>[^']*\([^']*)'|effect += "(?P<name>\w+)"|,measured,"(?P<cell>(?:[^"]|"")+)","""
)


@dataclass(frozen=True)
class Identifier:
    """A function, an argument's name, an effect's name, or a text in an expression of a paper that ships."""

    path: Path
    line: int
    begin: int
    end: int

    def spoilt(self, place: int, letters: str) -> str:
        """The file with letters put into the identifier."""
        lines = self.path.read_text().splitlines(keepends=True)
        at = self.begin + place % (self.end - self.begin + 1)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[:at] + letters + old[at:]
        return "".join(lines)


def found_in(path: Path, number: int, line: str) -> Iterator[Identifier]:
    for match in WRITTEN.finditer(line):
        kind = match.lastgroup or ""
        # Quotes are doubled in a cell; two blanks more keep every place where it is.
        text = match[kind].replace('""', ' "') if kind == "cell" else match[kind]
        first = match.start(kind)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NAME, tokenize.STRING):
                quote = token.type == tokenize.STRING
                yield Identifier(path, number, first + token.start[1] + quote, first + token.end[1] - quote)


@cache
def identifiers() -> list[Identifier]:
    """All of them; the file of each is its own copy."""
    paths = [
        shipped() / name / file
        for name in library.names()
        for file in ("claims.toml", "paper.toml", "targets.csv")
    ]
    return [
        each
        for path in paths
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for each in found_in(path, number, line)
    ]


def test_the_papers_that_ship_have_no_mistakes() -> None:
    for name in library.names():
        library.read(name)


@settings(max_examples=20, deadline=None)
@given(st.data(), st.integers(0, 100), st.sampled_from(["zq", "Zq", "_zq", "0zq"]))
def test_a_corrupted_identifier_is_never_run(data: st.DataObject, place: int, letters: str) -> None:
    known = identifiers()
    spoil = known[data.draw(st.integers(0, len(known) - 1))]
    right = spoil.path.read_text()
    spoil.path.write_text(spoil.spoilt(place, letters))
    try:
        with pytest.raises(PaperError) as caught:
            library.read_folder(spoil.path.parent)
    finally:
        spoil.path.write_text(right)
    lines = {mistake.place.line for mistake in caught.value.mistakes}
    assert {mistake.place.file for mistake in caught.value.mistakes} == {str(spoil.path)}
    line = right.splitlines()[spoil.line - 1]
    is_shared = spoil.path.name == "claims.toml" and not line.startswith("effect")
    # What an effect with a name reads is wrong where it is used.
    assert is_shared or lines == {spoil.line}


def test_all_kinds_of_identifiers_are_corrupted() -> None:
    texts = {
        each.path.read_text().splitlines()[each.line - 1][each.begin : each.end] for each in identifiers()
    }
    assert {"goodput", "reno", "ftp", "start", "min_rtt_ms", "gain_of_sd", "bottleneck", "min"} <= texts
    assert len(identifiers()) > 1000


VALUES = re.compile(r"""(?<== )("[^"]*"|'[^']*'|[\d.]+|true|\[[^\]]*\])""")
OTHERS = (
    "5",
    "-1.5",
    '"x"',
    "true",
    "[]",
    "{}",
    "[1]",
    '["a"]',
    '{ a = "b" }',
    '""',
    "inf",
    "1979-05-27",
    "[{}]",
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["paper.toml", "claims.toml"]), st.integers(0, 200), st.sampled_from(OTHERS))
def test_a_value_of_another_kind_is_read_or_a_mistake(
    papers: Path, file: str, which: int, other: str
) -> None:
    texts = {"paper.toml": PAPER + FIGURES, "claims.toml": CLAIMS + NAMED}
    for name, text in texts.items():
        (papers / name).write_text(text)
    values = list(VALUES.finditer(texts[file]))
    value = values[which % len(values)]
    (papers / file).write_text(texts[file][: value.start()] + other + texts[file][value.end() :])
    with contextlib.suppress(PaperError):
        library.read_folder(papers)


SENDERS = """
duration = "1 s"
[[link]]
name = "up"
rate = "10 Mbit/s"
delay = "10 ms"
back = { rate = "5 Mbit/s" }
[[flow]]
name = "many"
count = 2
cc = "bbr2"
path = ["up"]
access = { rate = "20 Mbit/s", delay = "1 ms" }
[[flow]]
name = "off"
cc = "reno"
path = ["up"]
enabled = false
[[flow]]
name = "both"
cc = "dbac"
paths = [["up"], ["up"]]
[[flow]]
name = "web"
cc = "reno"
path = ["up"]
arrivals = { parallel = 1, size = "10 kB" }
"""


def test_what_may_be_named_is_what_a_run_reports(tmp_path: Path) -> None:
    path = tmp_path / "senders.toml"
    path.write_text(SENDERS)
    [run] = cl.run(path, seeds=1).runs
    names = Names(load(path))
    flows = [each["name"] for each in (*run.outcome["flows"], *components(run.outcome, "subflow"))]
    groups = [each["name"] for each in run.outcome["groups"]]
    assert list(names.of(Kind.FLOW)) == flows
    assert list(names.of(Kind.SENDER)) == [*flows, *groups]
    assert sorted(names.of(Kind.LINK)) == sorted(each["name"] for each in run.outcome["links"])
    for table in (*run.detail.of("flow"), *run.detail.of("subflow")):
        assert names.columns(table.name) == list(table.columns), table.name
