"""The documents are true: their commands run, their scenarios are sound, their links lead somewhere."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from cwndlab import cli
from cwndlab.linux import kernel
from cwndlab.scenarios import axis, grid, scenario, source
from tests import documents
from tests.documents import Block

# What a part of a scenario needs to be one.
PARTS = {
    "duration": 'duration = "10 s"\n',
    "[[link]]": '[[link]]\nname = "bottleneck"\nrate = "10 Mbit/s"\ndelay = "10 ms"\n',
    "[[flow]]": '[[flow]]\ncc = "cubic"\npath = ["bottleneck"]\n',
}

PAGES = [page for page in documents.documents() if "```" in page.read_text()]
SLOW = [page for page in PAGES if any(block.is_slow for block in documents.blocks(page.read_text()))]


def name(page: Path) -> str:
    return str(page.relative_to(documents.ROOT))


def whole(part: str) -> str:
    """A part of a scenario with what it lacks; keys of the top come first, for they cannot follow a table."""
    missing = {
        key: text for key, text in PARTS.items() if not re.search(rf"^{re.escape(key)}", part, re.MULTILINE)
    }
    top = missing.pop("duration", "")
    return "\n".join([top + part, *missing.values()])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_shows_works(page: Path, tmp_path: Path) -> None:
    documents.prepare(tmp_path, quick=True)
    environment = {"CWNDLAB_CACHE": str(tmp_path / "cache")}
    for block in documents.blocks(page.read_text()):
        where = f"{name(page)}:{block.line}"
        documents.save(block, tmp_path)
        if block.language == "toml":
            check(block, tmp_path, where)
        if block.is_runnable and not block.is_slow and not lacks_something(block):
            answer = documents.execute(block, tmp_path, **environment)
            assert answer.returncode == block.status, f"{where}\n{answer.stdout}\n{answer.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_script_runs_unless_it_is_marked(page: Path) -> None:
    scripts = [block for block in documents.blocks(page.read_text()) if block.language == "sh"]
    assert [block.line for block in scripts if not (block.is_runnable or block.is_slow)] == []


@pytest.mark.parametrize("page", SLOW, ids=name)
def test_what_is_slow_could_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents.prepare(tmp_path, quick=True)
    monkeypatch.chdir(tmp_path)
    for block in documents.blocks(page.read_text()):
        documents.save(block, tmp_path)
        if not block.is_slow:
            continue
        if block.language == "python":
            compile(block.text, f"{name(page)}:{block.line}", "exec")
            continue
        for arguments in documents.calls(block, tmp_path):
            read(arguments)


def read(arguments: list[str]) -> None:
    """Read a command line, and check the scenarios that it would run in the simulator."""
    group, out = typer.main.get_command(cli.app), sys.stdout
    assert isinstance(group, TyperGroup)
    with group.make_context("cwndlab", list(arguments)) as outer:
        word, command, rest = group.resolve_command(outer, list(arguments))
        assert command is not None
        with command.make_context(word, rest, parent=outer) as context:
            given = context.params
    assert sys.stdout is out, arguments
    if "seeds" not in given or given.get("backend") != "sim" or "file" not in given:
        return
    base = source.loaded(given["file"], dict(text.split("=", 1) for text in given["overrides"]))
    over, across = ([axis.parse_axis(text) for text in given.get(key, ())] for key in ("over", "across"))
    points = [point.scenario for point in grid.grid(base, over, across)] if over or across else [base]
    for scenario_ in points:
        assert [each.text for each in scenario_.problems() if each.is_error] == [], arguments


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_fence_is_seen(page: Path) -> None:
    text = page.read_text()
    assert len(re.findall(r"^\s*```\w", text, re.MULTILINE)) == len(documents.blocks(text))


def test_rust_is_shown_as_it_is_compiled() -> None:
    compiled = [
        squeezed(source.read_text())
        for place in ("crates/cc/tests", "templates/rust-controller/src")
        for source in (documents.ROOT / place).glob("*.rs")
    ]
    shown = [
        block for page in PAGES for block in documents.blocks(page.read_text()) if block.language == "rust"
    ]
    assert len(shown) == 2
    assert [block.text for block in shown if not any(squeezed(block.text) in text for text in compiled)] == []


def squeezed(text: str) -> str:
    """The text without indentation."""
    return "\n".join(line.strip() for line in text.splitlines())


def lacks_something(block: Block) -> bool:
    lacks_kernel = block.needs_kernel and kernel.current() is None
    return lacks_kernel or ("jq " in block.text and shutil.which("jq") is None)


def check(block: Block, folder: Path, where: str) -> None:
    if block.remark in ("wrong", "paper"):
        return
    text = whole(block.text) if block.remark == "part" else block.text
    experiment = scenario.Scenario(text.encode(), str(folder / where.replace("/", "-")))
    assert [problem.text for problem in experiment.problems() if problem.is_error] == [], where


@pytest.mark.parametrize("page", documents.pages(), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    local = [(page.parent / target).resolve() for target in targets if "://" not in target]
    missing = {str(target.relative_to(documents.ROOT)) for target in local if not target.exists()}
    assert missing == set()
