"""The example of a search finds better settings than those of the scenario."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.documents import ROOT


def test_what_is_found_is_better_with_other_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna", reason="pip install 'cwndlab[optuna]'")
    monkeypatch.setenv("CWNDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(ROOT)
    example = runpy.run_path(str(ROOT / "examples" / "search.py"))
    example["main"](12)
    shown = capsys.readouterr().out
    (found, low, _), (before, _, high) = (
        map(float, each) for each in re.findall(r": ([\d.]+), 95 % interval \(([\d.]+), ([\d.]+)\)", shown)
    )
    assert found > before
    assert low > high
