"""What names the version names the same one, and what changed since has a place."""

from __future__ import annotations

import re
import tomllib

from tests.documents import ROOT

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def test_the_citation_and_the_lock_have_the_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    ours = {each["name"]: each["version"] for each in packages if each["name"].startswith("cwndlab")}
    assert set(ours.values()) == {VERSION}


def test_the_changelog_begins_with_what_is_not_released() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", each) for each in sections[1:])
