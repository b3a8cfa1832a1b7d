"""The documentation site has every page once, and its reference every public name."""

from __future__ import annotations

import re
import runpy
import sys
from collections import Counter

import pytest

import cwndlab as cl
import cwndlab.gym
from tests import documents, refresh_docs
from tests.documents import ROOT

SITE = ROOT / "docs" / "site"


def test_the_contents_have_every_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    contents = runpy.run_path(str(SITE / "conf.py"))["site_contents"]
    listed = [page for parts in contents.values() for pages in parts.values() for page in pages]
    there = [page.relative_to(ROOT).with_suffix("") for page in documents.pages()]
    assert Counter(["README", *listed]) == Counter([*map(str, there), "docs/site/api"])


def test_the_reference_has_every_public_name() -> None:
    named = set(re.findall(r"^\.\. auto\w+:: (\w+)$", (SITE / "api.rst").read_text(), re.MULTILINE))
    assert {*cl.__all__, *cwndlab.gym.__all__} - {"__version__"} - named == set()


def test_every_picture_is_shown_and_drawn_by_its_page() -> None:
    shown = {
        (page.parent / target).resolve()
        for page in documents.pages()
        for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text())
    }
    drawn = {
        refresh_docs.IMAGES / picture for pictures in refresh_docs.PICTURES.values() for picture in pictures
    }
    drawn |= {refresh_docs.IMAGES / picture for picture in refresh_docs.DATED}
    assert shown == drawn == set(refresh_docs.IMAGES.rglob("*.png"))
