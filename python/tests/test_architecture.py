"""ARCHITECTURE.md is true: what it names exists, and its list of the largest files is complete."""

from __future__ import annotations

import re

from tests.documents import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text()
# Above this many lines a source file needs a reason to be that long.
LONG = 400
# Where the page's short paths begin.
ROOTS = ("", "crates", "python/cwndlab", "python/cwndlab/papers", "crates/sim/src/tcp/sender")


def test_every_path_exists() -> None:
    paths = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.\w+)`", PAGE)
    assert len(paths) > 20
    missing = [path for path in paths if not any((ROOT / root / path).exists() for root in ROOTS)]
    assert missing == []


def test_the_largest_files_are_listed_with_their_lengths() -> None:
    sources = [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/cwndlab/**/*.py")]
    lengths = {path: len(path.read_text().splitlines()) for path in sources}
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) \|", PAGE, re.MULTILINE)
    listed = {
        next(ROOT / root / path for root in ROOTS if (ROOT / root / path).exists()): int(lines)
        for path, lines in rows
    }
    unlisted = [f"{path}: {lines}" for path, lines in lengths.items() if lines > LONG and path not in listed]
    assert unlisted == []
    wrong = [f"{path}: {lengths[path]}" for path, lines in listed.items() if abs(lengths[path] - lines) > 20]
    assert wrong == []
