"""Reading scenarios and overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from cwndlab.errors import InputError
from cwndlab.scenarios.overrides import parse_override
from cwndlab.scenarios.scenario import load


def test_override() -> None:
    assert parse_override("flow.0.cc=cubic") == ("flow.0.cc", "cubic")
    assert parse_override(' queue = { size = "1 bdp" } ') == ("queue", '{ size = "1 bdp" }')


@pytest.mark.parametrize("text", ["", "x", "x=", "=3", " = "])
def test_override_refused(text: str) -> None:
    with pytest.raises(InputError, match="key=value"):
        parse_override(text)


def test_unusable_files(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b" \n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0")
    for name, message in {
        "missing": "no such file",
        ".": "found a directory",
        "empty": "found an empty file",
        "binary": "found a binary file",
    }.items():
        with pytest.raises(InputError, match=message):
            load(tmp_path / name)
