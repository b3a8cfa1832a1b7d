"""THIRD-PARTY-NOTICES.txt has the licence of everything from others that the package ships."""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache

from tests.documents import ROOT

FILE = ROOT / "THIRD-PARTY-NOTICES.txt"
UPLOT = ROOT / "python" / "cwndlab" / "output" / "html" / "assets" / "uplot"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ABOUT = tomllib.loads((ROOT / "crates" / "native" / "about.toml").read_text())


@dataclass(frozen=True)
class Notices:
    """The list of crates at the head of the file, what each licence covers, and the last section."""

    listed: dict[str, str]
    covered: dict[str, set[str]]
    last: str


@cache
def notices() -> Notices:
    head, *sections = FILE.read_text().split(f"\n{'=' * 80}\n")
    listed = dict(re.findall(r"^    (\S+ \S+): (.+)$", head, re.MULTILINE))
    covered: dict[str, set[str]] = {}
    for section in sections:
        title, crates, text = section.split("\n\n", 2)
        licence = re.search(r"\(([\w.-]+)\)$", title)
        assert licence, title
        assert len(text.split()) > 15, title
        covered.setdefault(licence[1], set()).update(line.strip() for line in crates.splitlines())
    return Notices(listed, covered, sections[-1])


def linked() -> dict[str, str]:
    """Every crate of others in the extension module, and its licence."""
    command = ["cargo", "tree", "--quiet", "--locked", "--package", "cwndlab-native"]
    command += ["--features", "extension-module", "--edges", "normal", "--no-dedupe"]
    command += ["--prefix", "none", "--format", "{p} | {l}"]
    command += [word for target in ABOUT["targets"] for word in ("--target", target)]
    tree = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # Ours are followed by their folder. An old way to write OR is a slash.
    crates = re.findall(r"^(\S+) v(\S+)(?: \(proc-macro\))? \| (.+)$", tree, re.MULTILINE)
    return {f"{name} {version}": re.sub(r"\s*/\s*", " OR ", licence) for name, version, licence in crates}


def test_the_notices_name_every_crate_of_the_extension_module() -> None:
    assert notices().listed == linked(), "make notices"


def test_every_crate_has_its_licence_in_the_notices_and_none_that_is_not_accepted() -> None:
    covered = notices().covered
    assert set(covered) <= set(ABOUT["accepted"])
    assert set.union(*covered.values()) == {*notices().listed, uplot()}
    for crate, expression in notices().listed.items():
        assert any(crate in crates and licence in expression for licence, crates in covered.items()), crate


def test_the_notices_hold_no_text_to_fill_in() -> None:
    assert "<year>" not in FILE.read_text()


def test_the_script_in_the_reports_has_its_notice() -> None:
    assert notices().last.endswith((UPLOT / "LICENSE").read_text())
    assert uplot() in notices().last


def uplot() -> str:
    """The name and version of the chart library, as its own file has them."""
    (found,) = re.findall(r"\(v(\d+\.\d+\.\d+)\)", (UPLOT / "uPlot.iife.min.js").read_text()[:200])
    return f"uPlot {found}"


def test_the_package_ships_the_notices_under_all_their_licences() -> None:
    assert FILE.name in PROJECT["license-files"]
    assert PROJECT["license"] == " AND ".join(["(MIT OR Apache-2.0)", *ABOUT["accepted"]])
    assert set(notices().covered) == set(ABOUT["accepted"])
